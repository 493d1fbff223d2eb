"""Copies into the chart what it needs from the rest of the repository, since a chart cannot read outside its folder.

`make chart` runs this module, which writes `counterflow/files/` and a schema of each chart's values; Git ignores both.
So do the tests of the charts. So a new job, topic, dashboard or alert needs no edit in the chart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka.admin import (  # type: ignore[attr-defined] # its stub forgets to export some
    AclOperation,
    ResourcePatternType,
    ResourceType,
)

from counterflow.dashboards import alerting, build
from counterflow.dashboards.definition import boards
from counterflow.dashboards.provisioning import folder_of
from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.submission.render import fingerprint
from counterflow.schemas import topics
from counterflow.schemas.definition import datasets
from counterflow.stack import clickhouse, flink
from counterflow.stack.kafka_users import Grant, grants
from helm.values_schema import schema

PLACEHOLDERS = alerting.Site("https://grafana.invalid", "https://runbooks.invalid/{alert}")
"""Addresses that the chart replaces by those of its values."""

CHARTS = Path(__file__).parent

_HEAD = "# Made by `make chart`.\n"
_RESOURCES = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.TRANSACTIONAL_ID: "transactionalId",
}
_PATTERNS = {ResourcePatternType.LITERAL: "literal", ResourcePatternType.PREFIXED: "prefix"}
_OPERATIONS = {
    AclOperation.READ: "Read",
    AclOperation.WRITE: "Write",
    AclOperation.DESCRIBE: "Describe",
    AclOperation.ALL: "All",
}


def files() -> Iterator[tuple[str, str]]:
    """Yield the path below the folder of the charts and the text of each file."""
    yield "counterflow/files/jobs.yaml", _yaml({"jobs": list(_jobs())})
    yield "counterflow/files/topics.yaml", _yaml({"topics": list(_topics())})
    yield "counterflow/files/users.yaml", _yaml({"users": list(_users())})
    rights = {"profiles": dict(_paths(clickhouse.PROFILES)), "users": dict(_clickhouse_users())}
    yield "counterflow/files/clickhouse.yaml", _yaml(rights)
    yield "counterflow/files/log4j-console.properties", flink.LOG4J
    made = build.files(PLACEHOLDERS)
    yield "counterflow/files/rules.yml", made[alerting.PROMETHEUS]
    yield "counterflow/files/grafana-alerts.yaml", made[alerting.GRAFANA]
    yield "counterflow/files/alertmanager.yaml", _yaml(_alertmanager(made["prometheus/alertmanager.example.yml"]))
    yield "counterflow/files/datasources.yaml", made[build.DATASOURCES]
    for path, text in made.items():
        if path.startswith(build.DASHBOARDS):
            yield f"counterflow/files/dashboards/{Path(path).name}", text
    yield "counterflow/files/folders.yaml", _yaml({uid: folder_of(board).heading for uid, board in boards().items()})
    for chart in ("counterflow", "trial"):
        values = yaml.safe_load((CHARTS / chart / "values.yaml").read_text())
        yield f"{chart}/values.schema.json", json.dumps(schema(values), indent=1)


def _jobs() -> Iterator[dict[str, Any]]:
    """Yield each job with the fingerprint of its state: a different fingerprint is a different job to Flink."""
    for job in all_jobs().values():
        yield {"name": job.name, "parallelism": job.parallelism, "fingerprint": fingerprint(job, datasets())}


def _topics() -> Iterator[dict[str, Any]]:
    """Yield each topic; the number of partitions is included only where it is fixed."""
    for topic in topics(partitions=0):
        fixed = {"partitions": topic.partitions} if topic.partitions else {}
        yield {"name": topic.name, **fixed, "config": dict(topic.config)}


def _users() -> Iterator[dict[str, Any]]:
    """Yield each user of Kafka with its rights, in the notation of a KafkaUser."""
    rights: dict[str, list[dict[str, Any]]] = {}
    for grant in grants():
        rights.setdefault(grant.user, []).append(_acl(grant))
    yield from ({"name": user, "acls": acls} for user, acls in sorted(rights.items()))


def _acl(grant: Grant) -> dict[str, Any]:
    resource = {"type": _RESOURCES[grant.resource], "name": grant.name, "patternType": _PATTERNS[grant.pattern]}
    return {"resource": resource, "operations": [_OPERATIONS[grant.operation]], "host": "*"}


def _paths(settings: dict[str, Any], within: str = "") -> Iterator[tuple[str, str]]:
    """Yield settings by their paths, in the notation of a ClickHouseInstallation."""
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _paths(value, f"{within}{name}/")
        else:
            yield f"{within}{name}", str(value)


def _clickhouse_users() -> Iterator[tuple[str, dict[str, Any]]]:
    for user, rights in clickhouse.GRANTS.items():
        profile = user if user in clickhouse.PROFILES else "default"
        yield user, {"profile": profile, "grants": [f"GRANT {right}" for right in rights]}


def _alertmanager(example: str) -> dict[str, Any]:
    """Return route and inhibitions of the example, in the notation of an AlertmanagerConfig."""
    stated = yaml.safe_load(example)
    return {"route": _renamed(stated["route"]), "inhibitRules": [_renamed(rule) for rule in stated["inhibit_rules"]]}


def _renamed(stated: dict[str, Any]) -> dict[str, Any]:
    made = {}
    for name, value in stated.items():
        new = re.sub("_(.)", lambda letter: letter[1].upper(), name.replace("_matchers", "_match"))
        if name == "routes":
            made[new] = [_renamed(route) for route in value]
        elif name.endswith("matchers"):
            parts = (re.split(" *(=~|=) *", matcher, maxsplit=1) for matcher in value)
            made[new] = [{"name": of, "matchType": kind, "value": text.strip('"')} for of, kind, text in parts]
        elif name != "mute_time_intervals":  # those of the example; a site has its own
            made[new] = value
    return made


def _yaml(content: dict[str, Any]) -> str:
    return _HEAD + yaml.safe_dump(content, sort_keys=False, width=120)


def write(charts: Path = CHARTS) -> None:
    """Write every file, and remove obsolete ones; nothing is touched before all files are made."""
    made = dict(files())
    for path in (charts / "counterflow/files").rglob("*"):
        if path.is_file() and path.relative_to(charts).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        (charts / name).parent.mkdir(parents=True, exist_ok=True)
        (charts / name).write_text(text)


if __name__ == "__main__":
    write()

"""Alerts: their texts, their receivers, and that some part exports each metric that they name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
import yaml
from click.testing import CliRunner
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from pydantic import ValidationError

from counterflow.base.errors import CounterflowError
from counterflow.cli import cli
from counterflow.dashboards import alerting
from counterflow.dashboards.definition import metrics_of
from counterflow.pipelines.exporter.jobs import Jobs
from counterflow.pipelines.exporter.metrics import families_of
from counterflow.pipelines.exporter.watched import EVIDENCE
from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.rules import rules
from tests.support.hostile import NAMES
from tests.support.metrics import published
from tests.support.prometheus import REPOSITORY
from tests.support.web import served

TESTS = [*REPOSITORY.glob("tests/alerts/*.yml"), *REPOSITORY.glob("dashboards/alerts/*/*.yml")]


OF_METRICS = [alert for alert in alerting.alerts().values() if alert.expr]


@cache
def groups_in(file: str) -> list[dict[str, Any]]:
    """Return the groups of rules of a generated file."""
    return list(yaml.safe_load(alerting.files()[file])["groups"])


@cache
def stated() -> dict[str, dict[str, Any]]:
    """Return every rule of Prometheus by its name."""
    groups = groups_in(alerting.PROMETHEUS)
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def test_each_alert_of_a_metric_is_a_rule() -> None:
    assert set(stated()) == {alert.title for alert in OF_METRICS}


def test_each_alert_is_seen_to_fire_and_to_stay_silent() -> None:
    stories = [story["alerts"] for path in TESTS for story in yaml.safe_load(path.read_text())]
    for alert in OF_METRICS:
        of = [fired for story in stories for fired in story.get(alert.name, {}).values()]
        assert any(of), f"{alert.name} is never seen to fire: its folder needs a test.yml (docs/alerts.md)"
        if alert.expr != "vector(1)":
            assert of.count([]) >= 2, f"{alert.name} is not seen to wait and to clear"


@pytest.mark.parametrize("alert", OF_METRICS, ids=lambda alert: alert.name)
def test_a_rule_has_one_label_and_every_annotation(alert: alerting.Alert) -> None:
    rule = stated()[alert.title]
    assert set(rule["labels"]) == {"severity"}
    assert set(rule["annotations"]) == {"summary", "description", "dashboard_url", "runbook_url"}
    assert all(rule["annotations"].values())
    assert "[[" not in rule["annotations"]["description"]
    assert set(re.findall(r"\[\[(\w+)\]\]", alert.description or "")) <= {f for of in EVIDENCE.values() for f in of}
    assert "$value" not in alert.summary, "the summary is Grafana's too, which has no $value"


@pytest.mark.parametrize("alert", alerting.alerts().values(), ids=lambda alert: alert.name)
def test_each_alert_leads_to_its_board_and_its_page(alert: alerting.Alert) -> None:
    of_grafana = {
        rule["title"]: rule["annotations"] for group in groups_in(alerting.GRAFANA) for rule in group["rules"]
    }
    rules_of = [stated()[alert.title]["annotations"]] if alert.expr else []
    for links in [*rules_of, *([of_grafana[alert.title]] if alert.grafana else [])]:
        url = links["dashboard_url"]
        if alert.aix_board:
            url = url.replace(f'{{{{ if eq $labels.platform "AIX" }}}}{alert.aix_board}{{{{ else }}}}', "", 1)
            url = url.replace("{{ end }}", "", 1)
        assert url.startswith(f"http://127.0.0.1:13000/d/{alert.board}?from=")
        assert links["runbook_url"].startswith("file:///")
        assert Path(url2pathname(urlsplit(links["runbook_url"]).path)).is_file()
    if alert.grafana:
        texts = alert.summary + alert.grafana.description
        perhaps = set(re.findall(r"{{ with \$labels\.(\w+) }}", texts))
        labels = {label for of in alert.variables.values() for label in of} | set(re.findall(r"\$labels\.(\w+)", texts))
        assert labels - perhaps <= set(re.findall(r"\w+", alert.grafana.sql)), (
            "Grafana writes `[no value]` for the rest"
        )


def test_a_site_puts_its_own_addresses() -> None:
    site = alerting.Site("https://grafana.example/", "https://docs.example/runbooks/{alert}/")
    made = alerting.files(site)
    for text in (made[alerting.PROMETHEUS], made[alerting.GRAFANA]):
        assert "127.0.0.1" not in text
        assert text.count("https://grafana.example/d/cf-mirror?") >= 2
        assert text.count("https://docs.example/runbooks/link-capped/") == 1


@pytest.fixture(scope="module")
def flink_url() -> Iterator[str]:
    """A JobManager that runs one of the jobs."""
    answers = {
        "/jobs/overview": {"jobs": [{"name": "io_mix", "jid": "1", "state": "RUNNING"}]},
        "/jobs/1/checkpoints": {
            "counts": {"failed": 2},
            "latest": {"completed": {"latest_ack_timestamp": 1_700_000_000_000}},
        },
    }

    with served(lambda path: json.dumps(answers[path]).encode()) as url:
        yield url


def families(*collectors: Any) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return what collectors export: by name of the metric, the value by labels."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        found.setdefault(family.name, {})
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_jobs_are_exported_as_running_or_not(flink_url: str) -> None:
    found = families(Jobs(flink_url))
    assert found["counterflow_flink_up"] == {(): 1}
    running = found["counterflow_job_running"]
    assert running == {(("flink_job", name),): float(name == "io_mix") for name in all_jobs()}
    named = families(Jobs(flink_url, names=["io_mix", "link_load"]))["counterflow_job_running"]
    assert named == {key: running[key] for key in named}, "a job that is not to run is not missed"
    assert len(named) == 2
    of = (("flink_job", "io_mix"),)
    assert found["counterflow_job_failed_checkpoints_total"] == {of: 2}
    assert found["counterflow_job_checkpoint_timestamp_seconds"] == {of: 1_700_000_000}


def test_the_exporter_takes_no_job_that_does_not_exist_and_no_flink_beside_a_flink() -> None:
    ended = CliRunner().invoke(cli, ["dev", "verdicts", "--job", "disk_lode"])
    assert isinstance(ended.exception, CounterflowError)
    assert ended.exception.message == "there is no job disk_lode"
    ended = CliRunner().invoke(cli, ["dev", "verdicts", "--no-flink", "--flink-url", "http://127.0.0.1:9"])
    assert ended.exit_code == 2
    assert "give --flink-url or --no-flink, not both" in ended.output


def test_a_flink_that_is_gone_is_exported_as_down_without_jobs() -> None:
    assert families(Jobs("http://127.0.0.1:9")) == {"counterflow_flink_up": {(): 0}}


def test_jobs_are_looked_for_on_every_cluster(flink_url: str) -> None:
    assert families(Jobs("http://127.0.0.1:9", flink_url)) == families(Jobs(flink_url))


def test_each_metric_that_a_rule_names_is_exported_by_some_part() -> None:
    rules_ = [rule for group in alerting.prometheus()["groups"] for rule in group["rules"]]
    named = {rule["alert"]: metrics_of(" ".join([rule["expr"], *rule["annotations"].values()])) for rule in rules_}
    assert "counterflow_lander_lag" in named["CounterflowLanderStuck"]
    assert {alert: missing for alert, names in named.items() if (missing := names - published())} == {}


def test_grafana_takes_what_is_provisioned() -> None:
    groups = groups_in(alerting.GRAFANA)
    found = [rule for group in groups for rule in group["rules"]]
    assert {group["folder"] for group in groups} == {"Counterflow alerts"}
    for name in ("uid", "title"):
        assert len({rule[name] for rule in found}) == len(found)
    for rule in found:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", rule["uid"])
        assert not any("$" in value for value in rule["labels"].values())
        query, condition = rule["data"]
        assert (query["model"]["format"], condition["model"]["expression"], rule["condition"]) == (1, "A", "C")
        assert "${" not in query["model"]["rawSql"], "an alert knows no variables"
        assert " AS Value" in query["model"]["rawSql"]


@pytest.mark.parametrize("limits", [{}, {"above": 1.0, "below": 0.0}])
def test_an_alert_has_one_limit(limits: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="expected one of `above` and `below`"):
        alerting.Sql(sql="SELECT 1 AS Value", description="x", **limits)


# Exported metrics, of rows as ClickHouse returns them; tests/integration/test_exporter.py has the queries.

TS_MS = 1_700_000_000_500


def verdict(**columns: Any) -> dict[str, Any]:
    evidence = {"inputs": {"capacity_pct": 3, "rows_s": 7}, "figures": {"share": 0.7, "util": None}}
    row = {"rule": "roce_cap", "system": "A", "entity_type": "nrg", "entity": "G1", "ts_ms": TS_MS, "entities": 1}
    return {**row, "state": "CAPPED", "stale": False, "evidence": json.dumps(evidence), **columns}


def exported(**rows: list[dict[str, Any]]) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    class Answer(Collector):
        def collect(self) -> Iterator[Metric]:
            yield from families_of(rows)

    return families(Answer())


def of(system: str = "A", **more: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({"rule": "roce_cap", "system": system, "entity_type": "nrg", "entity": "G1", **more}.items()))


def test_a_verdict_exports_every_state_of_its_rule_and_the_figures_that_are_known() -> None:
    found = exported(verdict=[verdict()])
    states = found["counterflow_verdict_state"]
    assert states == {of(state=state): float(state == "CAPPED") for state in rules()["roce_cap"].states}
    assert found["counterflow_verdict_figure"] == {of(figure="share"): 0.7, of(figure="capacity_pct"): 3}
    assert found["counterflow_verdict_stale"] == {of(): 0}
    assert found["counterflow_verdict_timestamp_seconds"] == {of(): 1_700_000_000.5}
    assert found["counterflow_result_timestamp_seconds"] == {(("dataset", "verdict"), ("system", "A")): 1_700_000_000.5}


def test_a_verdict_of_another_version_is_counted_and_harms_nothing() -> None:
    bad = [verdict(state="GONE"), verdict(rule="of_tomorrow"), verdict(evidence="{"), verdict(evidence="[]")]
    found = exported(verdict=[*(row | {"entities": 5} for row in [*bad, verdict(system="B")])])
    assert found["counterflow_exporter_refused_entities"][("dataset", "verdict"),] == len(bad)
    assert found["counterflow_verdict_stale"] == {of("B"): 0}


@pytest.mark.parametrize("name", NAMES)
def test_prometheus_reads_every_name_as_a_label(name: str) -> None:
    assert exported(verdict=[verdict(system=name)])["counterflow_verdict_stale"] == {of(name): 0}

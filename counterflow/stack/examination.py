"""Finds the parts of the stack that do not work, and what to do about each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import httpx
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from counterflow.analysis.answer import Answer
from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import UNREACHED, CounterflowError
from counterflow.pipelines.jobs import all_jobs
from counterflow.pipelines.submission.cluster import states
from counterflow.schemas import topics
from counterflow.schemas.migrations import recorded, schema
from counterflow.stack import lifecycle
from counterflow.stack.jobs import cluster
from counterflow.stack.settings import StackSettings

SKEW_S = 60
"""Seconds by which an agent's clock may be ahead of the server's."""
LEAST_FREE = 0.05
"""Share of a disk that ought to be free."""


def _broken(part: str, why: str, advice: str) -> Answer:
    return Answer("part", None, part, None, "fail", True, None, why, None, advice)


def parts(settings: StackSettings) -> Iterator[Answer]:
    """Yield what does not work: processes, broker, topics, tables, jobs, clocks, disk space."""
    named = {part.name: part for part in lifecycle.status(settings) if part.state != "running"}
    for part in named.values():
        yield _broken(part.name, f"it is {part.state}{f': {part.detail}' * bool(part.detail)}", "counterflow up")
    usage = shutil.disk_usage(settings.home if settings.home.exists() else settings.home.parent)
    if usage.free < LEAST_FREE * usage.total:
        free = f"{usage.free / 2**30:.1f} GiB of {usage.total / 2**30:.0f} GiB are free below {settings.home}"
        yield _broken("disk", free, "free space, or shorten the retention: docs/cluster.md")
    if "kafka" not in named:
        yield from _kafka(settings)
    if "clickhouse" not in named:
        yield from _clickhouse(settings)
    if "jobmanager" not in named:
        yield from _jobs(settings)


def _kafka(settings: StackSettings) -> Iterator[Answer]:
    kafka = settings.kafka("admin")
    try:
        there = AdminClient({**kafka.client, "log_level": 0}).list_topics(timeout=10).topics
    except CounterflowError as error:
        yield _broken("kafka", error.message, error.hint or "counterflow up")
        return
    except KafkaException as error:
        yield _broken("kafka", f"{kafka.bootstrap}: {error.args[0].str()}", UNREACHED)
        return
    if missing := [topic.name for topic in topics() if topic.name not in there]:
        yield _broken("topics", f"missing: {', '.join(missing)}", "counterflow dev topics create")


def _clickhouse(settings: StackSettings) -> Iterator[Answer]:
    try:
        with settings.clickhouse("migrator") as client:
            if recorded(client) != schema().digest:
                yield _broken("migrations", "the tables are not those of this version", "counterflow dev migrate")
        with settings.clickhouse("reader") as client:
            for row in client.rows(_SKEWED, {"param_most": SKEW_S}):
                why = f"the clock of agent {row['agent_id']} is {row['ahead_s']} s ahead of the server's"
                yield _broken("clock", why, "synchronise the clock of its machine (NTP)")
    except CounterflowError as error:
        yield _broken("clickhouse", error.message, error.hint or "counterflow up")
    except (httpx.TransportError, ClickHouseError) as error:
        yield _broken("clickhouse", f"{settings.clickhouse_url}: {error}", UNREACHED)


_SKEWED = """
SELECT agent_id, max(dateDiff('second', landed_at, collected_at)) AS ahead_s
FROM counterflow.manifest
WHERE landed_at > now() - INTERVAL 1 DAY
GROUP BY agent_id
HAVING ahead_s > {most:UInt32}
ORDER BY agent_id
"""


def _jobs(settings: StackSettings) -> Iterator[Answer]:
    try:
        found = states(cluster(settings))
    except (CounterflowError, httpx.HTTPError) as error:
        yield _broken("flink", str(error), UNREACHED)
        return
    for name in all_jobs():
        if (state := found.get(name, "not submitted")) != "RUNNING":
            yield _broken("jobs", f"{name} is {state}", f"counterflow jobs submit {name}")

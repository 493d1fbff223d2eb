"""Renders the driver's request: settings and statements of a job, as data."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from counterflow.pipelines.jobs import slots
from counterflow.pipelines.jobs.definition import Job
from counterflow.pipelines.jobs.shipped import archive
from counterflow.schemas.definition import Dataset
from counterflow.schemas.flink_ddl import row_view, sink_table, source_table

# Set here, not in the cluster's configuration file: only the `flink` command reads that file, a driver does not.
_SETTINGS = {
    "execution.runtime-mode": "STREAMING",
    "table.local-time-zone": "UTC",
    # State is exact at every checkpoint; after a restart some results are written again, under the same key. Results
    # never wait for a checkpoint. A checkpoint costs an idle job as much as a busy one, and RocksDB one more file.
    "execution.checkpointing.mode": "EXACTLY_ONCE",
    "execution.checkpointing.interval": "30 s",
    "execution.checkpointing.min-pause": "1 s",
    "execution.checkpointing.timeout": "2 min",
    "execution.checkpointing.tolerable-failed-checkpoints": "10",
    "execution.checkpointing.num-retained": "2",
    "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
    "execution.checkpointing.incremental": "true",
    "execution.state-recovery.claim-mode": "CLAIM",  # Flink deletes the restored checkpoint once newer ones replace it
    # A back-fill of months keeps the state of every row that arrives within the TTL: on disk, not in the heap.
    # A job's share of the managed memory would be a twelfth, with which it reaches a third of the speed; so all jobs of
    # a TaskManager share what its own configuration gives (`fixed-per-tm`), and a busy job has most of it.
    "state.backend.type": "rocksdb",
    "state.backend.rocksdb.memory.managed": "false",
    "state.backend.rocksdb.use-bloom-filter": "true",
    "pipeline.object-reuse": "true",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "20000",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    # Rows of one key come from one input row, or from state under that key, so the newest row wins.
    "table.exec.sink.require-on-conflict": "false",
    "table.exec.sink.upsert-materialize": "NONE",
}
# A job resumes from the offsets in its checkpoints; nobody reads those that it would commit beside them.
_CONSUMER = {"properties.commit.offsets.on.checkpoint": "false"}
_PRODUCER = {
    "properties.linger.ms": "20",
    "properties.batch.size": "262144",
    "properties.compression.type": "lz4",
}


HOLD_ON = frozenset({"config"})
"""Datasets of which a rerun needs all rows: they remain valid after their `ts`, and some (`wiring`) also before it."""
BESIDE = {"db_log": timedelta(hours=1), "job": timedelta(), "link": timedelta(minutes=5), "system_cpu": timedelta()}
"""Datasets whose rows are set beside the intervals that they meet, and for how long a row counts after its `ts`.

A rerun needs those that meet an interval of its period from outside.
"""
LONGEST, GRID = timedelta(days=1), timedelta(minutes=1)
"""An interval meets rows for the last of these days at most, and in whole minutes at most (decisions 8 and 9)."""
OF_ALL_SYSTEMS = frozenset({"link"})
"""Datasets of which a rerun of one system needs the rows of all: neighbours share a physical port."""


class Period(NamedTuple):
    """What a rerun recomputes: `ts` from `begin` up to, but excluding, `end`; of one system or of all."""

    begin: datetime
    end: datetime
    system: str | None = None


def render(
    job: Job,
    datasets: Mapping[str, Dataset],
    *,
    bootstrap: str,
    connection: Mapping[str, str],
    checkpoints: str,
    rules: Path,
    period: Period | None = None,
    inputs: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """Return the driver's request for a job.

    Parameters
    ----------
    datasets : definitions; those that the query selects from or inserts into become tables.
    bootstrap, connection : Kafka's `bootstrap.servers`, and the other connection properties of its Java client.
    checkpoints : URI of the folder of all checkpoints.
    rules : archive of the steps in Python for Flink's TaskManagers (`archive`).
    period : rerun: recompute this period without a state TTL, then finish.
    inputs : options of the connector that reads a dataset, by dataset; default: its topic from the beginning.
    """
    rerun = {"table.exec.state.ttl": "0 ms", "execution.checkpointing.interval": "1 min"}
    rerun |= {"restart-strategy.type": "fixed-delay"}
    rerun |= {"restart-strategy.fixed-delay.attempts": "5", "restart-strategy.fixed-delay.delay": "2 s"}
    # Nobody waits for a first version of a result: a larger batch writes fewer of them.
    rerun |= {"table.exec.mini-batch.allow-latency": "5 s", "table.exec.mini-batch.size": "100000"}
    # The sinks flush at the end of the input, so there is no need to wait up to a minute for a last checkpoint.
    rerun |= {"execution.checkpointing.checkpoints-after-tasks-finish": "false"}
    return {
        "job": job.name,
        "step": job.step,
        "rule": job.rule,
        "configuration": {
            **_SETTINGS,
            "pipeline.name": job.name,
            "parallelism.default": str(job.parallelism),
            "execution.checkpointing.dir": checkpoints,
            # in the TaskManager itself: a worker process would listen on ports that are open to the network
            **({"python.files": str(rules), "python.execution-mode": "thread"} if job.step else {}),
            **(rerun if period else {"table.exec.state.ttl": job.state_ttl}),
        },
        **_statements(job, datasets, bootstrap, connection, period, inputs or {}),
    }


def fingerprint(job: Job, datasets: Mapping[str, Dataset]) -> str:
    """Return the SHA-256 of everything that shapes a job's state: query, tables and Python, but not the cluster."""
    step = archive() if job.step else b""
    return hashlib.sha256(orjson.dumps(_statements(job, datasets, "", {}, None, {})) + step).hexdigest()


def results(job: Job, datasets: Mapping[str, Dataset]) -> list[Dataset]:
    """Return the datasets that a job writes."""
    return [dataset for name, dataset in datasets.items() if name in job.writes]


def columns_of(job: Job, dataset: Dataset) -> set[str]:
    """Return the columns of a dataset that a job may read, among other names."""
    return job.words | set(dataset.key) | ({"prev_ts"} if "apart_s" in job.words else set())


def _statements(
    job: Job,
    datasets: Mapping[str, Dataset],
    bootstrap: str,
    connection: Mapping[str, str],
    period: Period | None,
    inputs: Mapping[str, Mapping[str, str]],
) -> dict[str, list[str]]:
    connect = {f"properties.{name}": value for name, value in connection.items()}
    read = [dataset for name, dataset in datasets.items() if name in job.reads]
    sources, views = [], []
    for dataset in read:
        columns = columns_of(job, dataset)
        sources.append(
            source_table(
                dataset,
                bootstrap_servers=bootstrap,
                group_id=f"flink.{job.name}",
                bounded=period is not None,
                columns=columns,
                options={**connect, **_CONSUMER, **inputs.get(dataset.dataset, {})},
            )
        )
        within = _needed(dataset.dataset, period) if period else ""
        table = f"topics.`{dataset.dataset}`"
        for name, distinct in ((dataset.dataset, False), (f"distinct_{dataset.dataset}", True)):
            if name in job.selects:
                where = " AND ".join(filter(None, (job.condition(name), within)))
                views.append(row_view(dataset, table, columns=columns, where=where, distinct=distinct))
    # The query reads views with the tables' names: the tables' rows, in a rerun those of its period.
    sources = ["CREATE DATABASE topics", "USE topics", *sources, "USE default_database", *views]
    options = {**connect, **_PRODUCER}
    sinks = [sink_table(dataset, bootstrap_servers=bootstrap, options=options) for dataset in results(job, datasets)]
    inserts = [statement for statement in job.statements if statement.upper().startswith("INSERT")]
    views = [view for statement in job.statements if statement not in inserts for view in _with_slots(statement, job)]
    if period:
        inserts = [_of_period(insert, period) for insert in inserts]
    return {"statements": [*sources, *sinks, *views], "inserts": inserts}


def _with_slots(statement: str, job: Job) -> Iterator[str]:
    """Yield a statement of the query; after a view, also the views of its slots that the query selects from."""
    yield statement
    if view := re.match(r"CREATE TEMPORARY VIEW (\w+)", statement):
        yield from slots.views(view[1], job.selects)


def _of_period(insert: str, period: Period) -> str:
    """Return an INSERT without the results that a rerun's input reaches beyond its period or system.

    Flink would replace `system` by the text that it equals, no longer know the key of a changed result, and write the
    row before the change too, as a deletion. So the predicate is on an expression of it.
    """
    found = re.fullmatch(r"(INSERT INTO \w+) \(([^)]*)\)\s+(SELECT.*)", insert, re.DOTALL)
    if found is None:
        raise ValueError(f"expected INSERT INTO, columns and SELECT, found: {insert}")
    into, columns, select = found.groups()
    where = _within(period) + _of(period.system, column="`system` || ''")
    return f"{into} ({columns})\nSELECT * FROM (\n{select}\n) AS recomputed ({columns})\nWHERE {where}"


def _needed(dataset: str, period: Period) -> str:
    """Return the predicate of the rows of a dataset that the results of a period may need."""
    of = "" if dataset in OF_ALL_SYSTEMS else _of(period.system)
    if dataset in HOLD_ON:
        return of.removeprefix(" AND ")
    if dataset not in BESIDE:
        return f"{_within(period)}{of}"
    return f"{_within(period, before=LONGEST + GRID + BESIDE[dataset], after=LONGEST)}{of}"


def _within(period: Period, *, before: timedelta = timedelta(), after: timedelta = timedelta()) -> str:
    begin, end = (round(moment.timestamp() * 1000) for moment in (period.begin, period.end))
    begin, end = begin - before // timedelta(milliseconds=1), end + after // timedelta(milliseconds=1)
    # Numbers: Flink's planner cannot weigh a predicate with a literal of this type, and rejects a union of such rows.
    ts_ms = "EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts)"
    return f"{ts_ms} >= {begin} AND {ts_ms} < {end}"


def _of(system: str | None, column: str = "`system`") -> str:
    return "" if system is None else f" AND {column} = '" + system.replace("'", "''") + "'"

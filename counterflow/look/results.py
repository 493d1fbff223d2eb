"""Computes every result from the counters that landed: audits, wires and rules in place of the jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import chain, groupby
from operator import add
from typing import Any, NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.pipelines import verdicts
from counterflow.pipelines.audit.results import recomputation
from counterflow.pipelines.jobs.definition import Job, all_jobs, stages
from counterflow.pipelines.rules import rules
from counterflow.pipelines.wiring import Settings as Known
from counterflow.schemas.definition import datasets

_NEWEST: Settings = {"final": 1, "join_use_nulls": 1}


class Measured(NamedTuple):
    """What a system, or all of them, recorded.

    Parameters
    ----------
    begin, end : of its intervals, UTC.
    records : rows of counters, each once.
    datasets : those that have rows, as `<dataset>` and as `<dataset>/<format>`.
    """

    begin: datetime
    end: datetime
    records: int
    datasets: frozenset[str]

    def __add__(self, other: Measured) -> Measured:  # type: ignore[override]
        """Return both combined."""
        begin, end = min(self.begin, other.begin), max(self.end, other.end)
        return Measured(begin, end, self.records + other.records, self.datasets | other.datasets)


def measured(client: ClickHouse) -> dict[str, Measured]:
    """Return what landed for each system."""
    counters = (name for name, dataset in datasets().items() if dataset.measured)
    found: dict[str, Measured] = {}
    for row in client.rows(" UNION ALL ".join(map(_reach, counters)), {"final": 1}):
        begin, end = (datetime.fromtimestamp(row[at], UTC) for at in ("first", "last"))
        one = Measured(begin, end, row["rows"], frozenset((row["dataset"], f"{row['dataset']}/{row['format']}")))
        found[row["system"]] = found[row["system"]] + one if row["system"] in found else one
    return found


def compute(client: ClickHouse) -> dict[str, Measured]:
    """Compute all results from what landed; return what landed for each system, empty where no interval did."""
    by_system = measured(client)
    if not by_system:
        return {}
    begin, end, _, known = reduce(add, by_system.values())
    filled = {name for name in known if "/" not in name}
    for job in chain.from_iterable(stages(all_jobs().values())):
        if not job.reads & filled:
            continue
        filled |= job.writes
        if job.step == "wire":
            _insert(client, "link_wire", _wires(client, job))
        elif job.rule:
            _insert(client, "verdict", _verdicts(client, job))
        else:
            for dataset in job.writes:
                counts = datasets()[dataset].counts
                if counts is None or filled & {*counts.manifests}:
                    _recompute(client, dataset, begin, end + timedelta(seconds=1))
    return by_system


def _reach(dataset: str) -> str:
    begin = "min(toUnixTimestamp64Milli(ts) / 1000 - ifNull(interval_s, 0))"
    end = "toUnixTimestamp64Milli(max(ts)) / 1000"
    of = f"system, '{dataset}' AS dataset, splitByChar('.', source)[1] AS format"
    reach = f"toUInt64(count()) AS rows, {begin} AS first, {end} AS last"
    return f"SELECT {of}, {reach} FROM counterflow.{dataset} GROUP BY system, format"


def _recompute(client: ClickHouse, dataset: str, begin: datetime, end: datetime) -> None:
    wire = {**_NEWEST, "final": 0, "param_from": f"{begin:%F %T.%f}"[:-3], "param_to": f"{end:%F %T.%f}"[:-3]}
    sql = recomputation(dataset)
    columns = ", ".join(f"`{name}`" for name in datasets()[dataset].all_columns)
    client.post(f"INSERT INTO counterflow.{dataset} ({columns}) SELECT {columns} FROM ({sql}\n)", settings=wire)


def _wires(client: ClickHouse, job: Job) -> Iterator[dict[str, Any]]:
    """Yield the wire of every sample of an NRG or RDMA link, from the settings that the job's own statement selects."""
    matters = next(statement for statement in job.statements if "FROM config" in statement).rpartition("WHERE ")[2]
    samples = client.rows(
        "SELECT system, link_type, link, toUnixTimestamp64Milli(ts) AS ts_ms FROM counterflow.link "
        "WHERE link_type IN ('nrg', 'rdma_link') ORDER BY system, ts",
        _NEWEST,
    )
    for system, links in groupby(samples, key=lambda row: row["system"]):
        known = Known()
        for setting in client.rows(
            "SELECT section, item, name, toUnixTimestamp64Milli(ts) AS ts_ms, value FROM counterflow.config "
            f"WHERE system = {{system:String}} AND ({matters}) ORDER BY ts",
            {**_NEWEST, "param_system": system},
        ):
            known = known.learn(**setting)
        for link in links:
            wire = known.wire(link["link_type"], link["link"], link["ts_ms"]).as_row()
            yield {**wire, **link, "n": 1 + known.learned, "ts": _iso(link["ts_ms"])}


def _verdicts(client: ClickHouse, job: Job) -> Iterator[dict[str, Any]]:
    """Yield the verdicts of a rule on every interval that the job's own statement selects."""
    view = next(statement for statement in job.statements if "VIEW intervals AS" in statement)
    select = view.partition("VIEW intervals AS")[2].replace("FROM ", "FROM counterflow.")
    select = select.replace(" AS STRING)", " AS String)")
    order = " ORDER BY `system`, entity_type, entity, ts"
    rows = client.rows(f"SELECT * FROM ({select}){order}", {**_NEWEST, "cast_keep_nullable": 1})
    rule = rules()[job.rule or ""]
    parameters = rule.parameters()
    for of, series in groupby(rows, key=lambda row: [row[name] for name in ("system", "entity_type", "entity")]):
        _, judgement = verdicts.judge(rule, parameters, verdicts.Series(), series)
        for verdict in judgement.verdicts:
            times = {"ts": _iso(verdict.pop("ts_ms")), "since": _iso(verdict.pop("since_ms"))}
            entity = dict(zip(("system", "entity_type", "entity"), of, strict=True))
            yield {**verdict, **times, **entity, "rule": rule.name}


def _insert(client: ClickHouse, dataset: str, rows: Iterable[dict[str, Any]]) -> None:
    body = b"\n".join(orjson.dumps(row) for row in rows)
    if body:
        wire: Settings = {"date_time_input_format": "best_effort", "input_format_skip_unknown_fields": 1}
        client.post(f"INSERT INTO counterflow.{dataset} FORMAT JSONEachRow", body, wire)


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")

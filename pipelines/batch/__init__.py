"""Computes results from what landed, outside the stream: `look`, `jobs rerun` and, to compare, the audit.

An answer is the SELECT of its job's `batch.sql`, wires are found by `pipelines.wiring`, and verdicts are given by the
rules. All are inserted into the tables of the stream's results. Of two results of one key a table keeps the one of the
greater `n`, and of equal ones the one that was inserted last: no result replaces one that was made of more rows. Each
query covers a day at most, and less where a day is too much for memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, groupby, pairwise
from typing import Any

import orjson

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.base.spans import by_span, literal
from counterflow.pipelines import verdicts
from counterflow.pipelines.jobs import Job, all_jobs, stages
from counterflow.pipelines.rules import rules
from counterflow.pipelines.wiring import Settings as Known
from counterflow.schemas.clickhouse_insert import insert_rows
from counterflow.schemas.definition import datasets

PRECEDING = timedelta(days=7)
"""Intervals before a period that are judged as well, for the state of a rule at its begin: a limit that a rule learned
is learned from these."""
_DAY = timedelta(days=1)
_ANSWER: Settings = {"join_use_nulls": 1, "max_execution_time": 50, "max_memory_usage": 1_500_000_000}
_ROWS: Settings = {"max_execution_time": 50, "date_time_output_format": "iso"}
_MOST = 50_000
"""Rows of counters or results that are held in memory at a time, about."""
_INSERT: Settings = {"date_time_input_format": "best_effort", "input_format_skip_unknown_fields": 1}

_OF = "(empty({systems:Array(String)}) OR has({systems:Array(String)}, system))"
_WITHIN = f"ts >= {{from:DateTime64(3, 'UTC')}} AND ts < {{to:DateTime64(3, 'UTC')}} AND {_OF}"
_ENTITY = ("system", "entity_type", "entity")


def run(
    client: ClickHouse, jobs: Iterable[Job], begin: datetime, end: datetime, system: str | None = None
) -> dict[str, int]:
    """Compute results with `begin` <= ts < `end`, of one system or of all; return how many were written, by dataset.

    A job that reads what another of them writes follows it.

    Raises
    ------
    ClickHouseError, httpx.TransportError : the server refuses, or does not answer.
    """
    ordered = list(chain.from_iterable(stages(jobs)))
    [now] = client.rows("SELECT toString(now('UTC')) AS now")
    for job in ordered:
        compute(client, job, begin, end, system)
    return {
        dataset: _written(client, dataset, now["now"], begin, end, system) for job in ordered for dataset in job.writes
    }


def compute(client: ClickHouse, job: Job, begin: datetime, end: datetime, system: str | None = None) -> None:
    """Compute the results of one job with `begin` <= ts < `end`, of one system or of all; raises as `run`."""
    if job.rule:
        judge(client, job.rule, begin, end, system)
    elif job.step:
        wires(client, begin, end, system)
    else:
        _answer(client, job, begin, end, system)


def _answer(client: ClickHouse, job: Job, begin: datetime, end: datetime, system: str | None) -> None:
    [dataset] = job.writes
    columns = ", ".join(f"`{name}`" for name in datasets()[dataset].all_columns)
    statement = f"INSERT INTO counterflow.{dataset} ({columns}) SELECT {columns} FROM ({job.batch}) WHERE {_OF}"

    def insert(begin: datetime, end: datetime) -> None:
        client.post(statement, settings={**_ANSWER, **_period(begin, end, system)})

    for first, last, _ in _days(client, job.of, begin, end, system):
        deque(by_span(first, last, insert), maxlen=0)


def wires(client: ClickHouse, begin: datetime, end: datetime, system: str | None = None) -> None:
    """Wire every sample of an NRG or RDMA link of a period, by all settings of its system; raises as `run`."""
    job = all_jobs()["link_wire"]
    known: dict[str, Known] = {}
    samples = (
        "SELECT system, link_type, link, toUnixTimestamp64Milli(ts) AS ts_ms FROM counterflow.link FINAL "
        f"WHERE {_WITHIN} AND ({job.reads['link'].rows}) ORDER BY ts"
    )

    def wire(sample: dict[str, Any]) -> dict[str, Any]:
        of = sample["system"]
        if of not in known:
            known[of] = _settings(client, of, job.reads["config"].rows)
        found = known[of].wire(sample["link_type"], sample["link"], sample["ts_ms"]).as_row()
        return {**found, **sample, "n": 1 + known[of].learned, "ts": _iso(sample["ts_ms"])}

    for rows in _rows(client, samples, job.of, begin, end, system):
        _insert(client, "link_wire", map(wire, rows))


def _settings(client: ClickHouse, system: str, matters: str) -> Known:
    known = Known()
    for setting in client.rows(
        "SELECT section, item, name, toUnixTimestamp64Milli(ts) AS ts_ms, value FROM counterflow.config FINAL "
        f"WHERE system = {{system:String}} AND ({matters}) ORDER BY ts",
        {"param_system": system},
    ):
        known = known.learn(**setting)
    return known


def judge(client: ClickHouse, name: str, begin: datetime, end: datetime, system: str | None = None) -> None:
    """Judge the intervals of a period with a rule, its state from the intervals of `PRECEDING`; raises as `run`."""
    rule, job = rules()[name], all_jobs()[name]
    parameters = rule.parameters()
    begin_ms = begin.timestamp() * 1000
    places: dict[tuple[str, ...], verdicts.SeriesPlace] = {}

    def judged(rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for of, series in groupby(rows, key=lambda row: tuple(row[name] for name in _ENTITY)):
            for place, verdict in verdicts.in_order(rule, parameters, places.get(of), series):
                places[of] = place
                if verdict["ts_ms"] >= begin_ms:
                    times = {"ts": _iso(verdict.pop("ts_ms")), "since": _iso(verdict.pop("since_ms"))}
                    yield {**verdict, **times, **dict(zip(_ENTITY, of, strict=True)), "rule": name}

    intervals = f"SELECT * FROM ({job.batch}) WHERE {_OF} ORDER BY {', '.join(_ENTITY)}, ts"
    for rows in _rows(client, intervals, job.of, begin - PRECEDING, end, system):
        _insert(client, "verdict", judged(rows))


def _rows(
    client: ClickHouse, statement: str, of: str, begin: datetime, end: datetime, system: str | None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of each span of a period, the spans in order: as long as `_MOST` rows take, a day at most."""

    for first, last, count in _days(client, of, begin, end, system):
        pieces = -(-count // _MOST)
        edges = [first + number * (last - first) / pieces for number in range(pieces)]
        for span in pairwise([*edges, last]):
            yield client.rows(statement, {**_ROWS, **_period(*span, system)})


def _days(
    client: ClickHouse, dataset: str, begin: datetime, end: datetime, system: str | None
) -> Iterator[tuple[datetime, datetime, int]]:
    """Yield the days of a period, UTC, on which a dataset has rows, in order, with how many: the outer ones are cut."""
    days = (
        f"SELECT toUnixTimestamp(toStartOfDay(ts)) AS day, count() AS rows FROM counterflow.{dataset} WHERE {_WITHIN}"
    )
    for row in client.rows(f"{days} GROUP BY day ORDER BY day", _period(begin, end, system)):
        day = datetime.fromtimestamp(row["day"], UTC)
        yield max(begin, day), min(end, day + _DAY), row["rows"]


def _period(begin: datetime, end: datetime, system: str | None) -> Settings:
    systems = [] if system is None else [system]
    return {"param_from": literal(begin), "param_to": literal(end), "param_systems": systems}


def _written(client: ClickHouse, dataset: str, since: str, begin: datetime, end: datetime, system: str | None) -> int:
    [found] = client.rows(
        f"SELECT count() AS rows FROM counterflow.{dataset} WHERE {_WITHIN} AND landed_at >= {{since:DateTime('UTC')}}",
        {**_period(begin, end, system), "param_since": since},
    )
    return int(found["rows"])


def _insert(client: ClickHouse, dataset: str, rows: Iterable[dict[str, Any]]) -> None:
    body = b"\n".join(orjson.dumps(row) for row in rows)
    if body:
        client.post(insert_rows(dataset), body, _INSERT)


def _iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")

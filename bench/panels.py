"""Times of the queries of boards, as Grafana sends them: each alone, and all that a board sends as it opens.

Thirty days of a fleet. Drawing in the browser is not included: there is no Grafana here.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from bench import generate_fleet as fleet
from bench.figure import Figure
from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.dashboards.annotations import drawn_over
from counterflow.dashboards.definition import Board, boards, charts, variable_of, variables_of
from counterflow.dashboards.frames import fetch
from counterflow.dashboards.macros import All, Range, bucket_s, expand
from counterflow.dashboards.statement import statement

REPEATS = 3
AT_ONCE = 6
"""The number of requests that a browser sends to a server at once over HTTP/1.1."""
PERCENTILE = 95


class Query(NamedTuple):
    """A query of a board as Grafana sends it; `panel` is false for variables and annotations."""

    board: str
    name: str
    sql: str
    panel: bool


def main() -> None:
    """Generate a month of the fleet and run all queries of all boards."""
    how = f"median of {REPEATS} runs after a first, so from the cache, wall, as `reader`, {os.cpu_count()} cores"
    with fleet.engine() as engine, engine.reader() as reader:
        sent = [list(_sent(reader, board, engine, timedelta(days=fleet.DAYS))) for board in boards().values()]
        month = _timed(reader, (query for queries in sent for query in queries))
        opened = max((_opened(reader, queries), queries[0].board) for queries in sent if queries)
    of = f"{fleet.DAYS} days of {fleet.SYSTEMS} generated systems at {fleet.INTERVAL_S} s, {engine.made:,} rows; {how}"
    panels = [seconds for seconds, query in month if query.panel]
    p95_ms = 1000 * statistics.quantiles(panels, n=100, method="inclusive")[PERCENTILE - 1]
    method = f"{len(panels)} queries, those of every panel as its board opens, of one system or all, {of}."
    Figure("panels over 30 days, p95", round(p95_ms), "ms", "<= 200", method).emit()
    seconds, slowest = month[0]
    method = (
        f"the slowest of {len(month)} queries ({slowest.name} of {slowest.board}), those of panels, variables and "
        f"annotations as boards open and Grafana sends them, {of}."
    )
    Figure("a query of a board over 30 days", round(1000 * seconds), "ms", "<= 500", method).emit()
    method = (
        f"every query that the slowest board ({opened[1]}) sends as it opens, {AT_ONCE} at a time, until the last is "
        f"answered; {len(sent)} boards, the same rows, median of {REPEATS} runs, wall; drawing in Grafana not included."
    )
    Figure("a board over 30 days, answered", round(opened[0], 2), "s", "<= 2", method).emit()


def _sent(reader: ClickHouse, board: Board, engine: fleet.Engine, shown: timedelta) -> Iterator[Query]:
    """Yield the queries that a board sends as it opens, for the time up to the end of the rows."""

    def query(name: str, sql: str, *, least_s: int = 1, panel: bool = False) -> Query:
        span = Range(engine.end - shown, engine.end, bucket_s(engine.end - shown, engine.end, least_s=least_s))
        return Query(board.uid, name, expand(sql, span, _chosen(reader, board, sql, span)), panel)

    for name in board.drawings:
        if chart := charts().get(name):
            yield query(name, statement(chart), least_s=1 if chart.usual_s else chart.interval_s, panel=True)
    for name in board.variables:
        if sql := variable_of(board, name).sql:
            yield query(f"variable {name}", sql)
    if board.verdicts:
        for name, annotation in drawn_over(board).items():
            yield query(f"annotation {name}", annotation.sql)


def _timed(reader: ClickHouse, queries: Iterable[Query]) -> list[tuple[float, Query]]:
    """Return the median seconds of each distinct query, the slowest first, and print the first ten."""
    taken = []
    for query in {query.sql: query for query in queries}.values():
        seconds = []
        for _ in range(1 + REPEATS):
            began = time.monotonic()
            try:
                fetch(reader, query.sql)
            except ClickHouseError as error:
                error.add_note(f"{query.name} of {query.board}")
                raise
            seconds.append(time.monotonic() - began)
        taken.append((statistics.median(seconds[1:]), query))
    taken.sort(key=lambda one: -one[0])
    for median_s, query in taken[:10]:
        print(f"  {query.board:22} {query.name:28} {median_s * 1000:7.0f} ms")
    return taken


def _opened(reader: ClickHouse, queries: Sequence[Query]) -> float:
    """Return the time until every query that a board sends as it opens is answered."""
    seconds = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in range(REPEATS):
            began = time.monotonic()
            list(pool.map(partial(fetch, reader), (query.sql for query in queries)))
            seconds.append(time.monotonic() - began)
    return statistics.median(seconds)


def _chosen(reader: ClickHouse, board: Board, sql: str, span: Range) -> dict[str, str | Sequence[str]]:
    """Return the value of each variable of a query when its board opens: all options, or the first."""
    found: dict[str, str | Sequence[str]] = {}

    def choose(text: str) -> dict[str, str | Sequence[str]]:
        for name in sorted(variables_of(text) - found.keys()):
            variable = variable_of(board, name)
            if variable.sql:
                options = [str(row[0]) for row in fetch(reader, expand(variable.sql, span, choose(variable.sql))).rows]
                found[name] = All(options) if variable.multi and variable.all else options[:1]
            else:
                found[name] = next(iter(variable.values), "")
        return found

    return choose(sql)


if __name__ == "__main__":
    main()

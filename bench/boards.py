"""Times of the queries of boards, sent as Grafana sends them: each alone, and all of a board as it opens.

Thirty days of a fleet of 50 systems. Drawing in the browser is not included: there is no Grafana here.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from bench import generate_fleet as fleet
from bench.figure import Figure
from bench.panels import chosen
from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.dashboards.annotations import drawn_over
from counterflow.dashboards.definition import Board, boards, charts, variable_of
from counterflow.dashboards.macros import Range, bucket_s, expand
from counterflow.dashboards.server import fetch
from counterflow.dashboards.statement import statement

REPEATS = 3
AT_ONCE = 6
"""The number of requests that a browser sends to a server at once over HTTP/1.1."""


class Took(NamedTuple):
    """A query of a board, and its median of several runs, wall seconds."""

    board: str
    name: str
    seconds: float


def main() -> None:
    """Generate the fleet, run every query that boards send as they open, and print the slowest."""
    with fleet.engine("fleet", fleet.fill) as engine, engine.reader() as reader:
        taken = sorted(_timed(reader, engine.end), key=lambda took: -took.seconds)
        opened = sorted(((_opened(reader, board, engine.end), board.uid) for board in boards().values()), reverse=True)
        rows = sum(engine.rows.values())
    for took in taken[:15]:
        print(f"  {took.board:22} {took.name:28} {took.seconds * 1000:7.0f} ms")
    slowest = taken[0]
    method = (
        f"the slowest of {len(taken)} queries ({slowest.name} of {slowest.board}), those of panels, figures, variables "
        f"and annotations as boards open and Grafana sends them, {fleet.DAYS} days of {fleet.SYSTEMS} systems, "
        f"{rows:,} generated rows; median of {REPEATS} runs after a first, so from the cache, wall, "
        f"as `reader`, {os.cpu_count()} cores."
    )
    Figure("a query of a board over 30 days", round(slowest.seconds * 1000), "ms", "<= 500", method).emit()
    seconds, uid = opened[0]
    print("  opened: " + ", ".join(f"{name} {took:.2f} s" for took, name in opened))
    method = (
        f"every query that the slowest board ({uid}) sends as it opens, {AT_ONCE} at a time, until the last is "
        f"answered; {len(opened)} boards, the same rows, median of {REPEATS} runs, wall; drawing in Grafana not "
        f"included."
    )
    Figure("a board over 30 days, answered", round(seconds, 2), "s", "<= 2", method).emit()


def _timed(reader: ClickHouse, end: datetime) -> Iterator[Took]:
    """Yield the time of each distinct statement."""
    known = set[str]()
    for board in boards().values():
        for name, sql, least_s in _statements(board):
            if sql in known:
                continue
            known.add(sql)
            sent = _sent(reader, board, sql, least_s, end)
            seconds = []
            for _ in range(1 + REPEATS):
                began = time.monotonic()
                try:
                    fetch(reader, sent)
                except ClickHouseError as error:
                    error.add_note(f"{name} of {board.uid}")
                    raise
                seconds.append(time.monotonic() - began)
            yield Took(board.uid, name, statistics.median(seconds[1:]))


def _opened(reader: ClickHouse, board: Board, end: datetime) -> float:
    """Return the time until every query that a board sends as it opens is answered."""
    sent = [_sent(reader, board, sql, least_s, end) for _, sql, least_s in _statements(board)]
    seconds = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in range(REPEATS):
            began = time.monotonic()
            list(pool.map(partial(fetch, reader), sent))
            seconds.append(time.monotonic() - began)
    return statistics.median(seconds)


def _sent(reader: ClickHouse, board: Board, sql: str, least_s: int, end: datetime) -> str:
    """Return a statement as Grafana sends it for thirty days."""
    begin = end - timedelta(days=fleet.DAYS)
    shown = Range(begin, end, bucket_s(begin, end, least_s=least_s))
    return expand(sql, shown, chosen(reader, board, sql, shown))


def _statements(board: Board) -> Iterator[tuple[str, str, int]]:
    """Yield the name of each query of a board, its statement, and its shortest bucket, seconds."""
    for name in board.drawings:
        if chart := charts().get(name):
            yield name, statement(chart), 1 if chart.usual_s else chart.interval_s
    for name in board.variables:
        if sql := variable_of(board, name).sql:
            yield f"variable {name}", sql, 1
    if board.verdicts:
        for name, annotation in drawn_over(board).items():
            yield f"annotation {name}", annotation.sql, 1


if __name__ == "__main__":
    main()

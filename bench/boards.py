"""How long what a board asks takes at its slowest, as Grafana asks it: thirty days of a fleet of 50 systems."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from bench import generate_fleet as fleet
from bench.figure import Figure
from bench.panels import chosen
from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.dashboards.annotations import drawn_over
from counterflow.dashboards.definition import Board, boards, charts, variable_of
from counterflow.dashboards.macros import Range, bucket_s, expand
from counterflow.dashboards.server import ask
from counterflow.dashboards.statement import statement

REPEATS = 3


class Took(NamedTuple):
    """What a board asks, and how long the answer took: the middle of several, wall seconds."""

    board: str
    name: str
    seconds: float


def main() -> None:
    """Generate the fleet, ask all that the boards ask as they open, and print the slowest."""
    with fleet.engine("fleet", fleet.fill) as engine, engine.reader() as reader:
        taken = sorted(_asked(reader, engine.end), key=lambda took: -took.seconds)
        rows = sum(engine.rows.values())
    for took in taken[:15]:
        print(f"  {took.board:22} {took.name:28} {took.seconds * 1000:7.0f} ms")
    slowest = taken[0]
    method = (
        f"the slowest of {len(taken)} queries ({slowest.name} of {slowest.board}), those of panels, figures, variables "
        f"and annotations as boards open and Grafana sends them, {fleet.DAYS} days of {fleet.SYSTEMS} systems, "
        f"{rows:,} generated rows; the middle of {REPEATS} runs after a first, so from the cache, wall, "
        f"as `reader`, {os.cpu_count()} cores."
    )
    Figure("a query of a board over 30 days", round(slowest.seconds * 1000), "ms", "<= 500", method).emit()


def _asked(reader: ClickHouse, end: datetime) -> Iterator[Took]:
    """Yield how long each statement takes, each once."""
    begin, known = end - timedelta(days=fleet.DAYS), set[str]()
    for board in boards().values():
        for name, sql, least_s in _statements(board):
            if sql in known:
                continue
            known.add(sql)
            shown = Range(begin, end, bucket_s(begin, end, least_s=least_s))
            sent = expand(sql, shown, chosen(reader, board, sql, shown))
            seconds = []
            for _ in range(1 + REPEATS):
                asked = time.monotonic()
                try:
                    ask(reader, sent)
                except ClickHouseError as error:
                    error.add_note(f"{name} of {board.uid}")
                    raise
                seconds.append(time.monotonic() - asked)
            yield Took(board.uid, name, statistics.median(seconds[1:]))


def _statements(board: Board) -> Iterator[tuple[str, str, int]]:
    """Yield what a board sends: its name, the statement, and the shortest bucket, seconds."""
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

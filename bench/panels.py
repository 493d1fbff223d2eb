"""Times of the queries of all panels: thirty days of a fleet at 15 s, and a year of 1,000 systems."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

import psutil

from bench import cpu
from bench import generate_fleet as fleet
from bench.figure import Figure
from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.definition import Board, Chart, boards, charts, variable_of, variables_of
from counterflow.dashboards.macros import All, Range, bucket_s, expand
from counterflow.dashboards.server import fetch
from counterflow.stack import supervision

REPEATS = 5

Placed = tuple[Board, Chart]


class Took(NamedTuple):
    """The times of one query: the median of several runs, wall, and the CPU seconds of one."""

    name: str
    seconds: float
    cpu_s: float


def main() -> None:
    """Generate the fleet and run the queries of all panels; then the year and the boards that show it."""
    with fleet.engine("fleet", fleet.fill) as engine:
        month = engine.rows, measure(engine, of_boards(boards()), timedelta(days=fleet.DAYS))
    with fleet.engine("year", fleet.fill_year) as engine:
        year = engine.rows, measure(engine, of_boards(["cf-any-counter", "cf-fleet"]), timedelta(days=365))
    emit(*month, *year)


def emit(rows: Mapping[str, int], month: Sequence[Took], year_rows: Mapping[str, int], year: Sequence[Took]) -> None:
    """Print the figures."""
    how = f"median of {REPEATS} runs after a first, so from the cache, wall, as `reader`, {os.cpu_count()} cores"
    method = (
        f"{len(month)} queries, those of every panel as its board opens, of one system or all, {fleet.DAYS} days of "
        f"{fleet.SYSTEMS} generated systems at {fleet.INTERVAL_S} s, {sum(rows.values()):,} rows; {how}; together "
        f"{sum(took.cpu_s for took in month):.1f} CPU s of the engine."
    )
    Figure("panels over 30 days, p95", round(percentile_95(month) * 1000), "ms", "<= 200", method).emit()
    slowest = max(year, key=lambda took: took.seconds)
    method = (
        f"slowest query ({slowest.name}) of the boards Any counter and Fleet for a year of {fleet.MANY:,} systems, "
        f"generated: {fleet.METRICS} counters by hour, and results of the last day; {sum(year_rows.values()):,} rows; "
        f"{how}."
    )
    Figure("panels over a year of 1,000 systems", round(slowest.seconds, 2), "s", "<= 1", method).emit()


def percentile_95(taken: Sequence[Took]) -> float:
    """Return the seconds within which 95 % of the queries end."""
    return statistics.quantiles((took.seconds for took in taken), n=20, method="inclusive")[-1]


def of_boards(uids: Iterable[str]) -> list[Placed]:
    """Return the charts on these boards, each once, with the first board that has it."""
    found: dict[str, Board] = {}
    for board in (boards()[uid] for uid in uids):
        for name in board.charts:
            found.setdefault(name, board)
    return [(board, charts()[name]) for name, board in found.items()]


def measure(engine: fleet.Engine, placed: Sequence[Placed], shown: timedelta) -> list[Took]:
    """Run each chart's query over the time up to the end of the rows; print the ten slowest."""
    listed = ", ".join(f"{table} {count:,}" for table, count in sorted(engine.rows.items(), key=lambda row: -row[1]))
    print(f"{sum(engine.rows.values()):,} rows: {listed}")
    process = psutil.Process(supervision.states(engine.settings)["clickhouse"].pid)
    taken = []
    with engine.reader() as reader:
        for board, chart in placed:
            span = Range(
                engine.end - shown, engine.end, bucket_s(engine.end - shown, engine.end, least_s=chart.interval_s)
            )
            sql = expand(chart.query, span, chosen(reader, board, chart.query, span))
            fetch(reader, sql)
            before, seconds = cpu.of_process(process), []
            for _ in range(REPEATS):
                begin = time.monotonic()
                fetch(reader, sql)
                seconds.append(time.monotonic() - begin)
            taken.append(Took(chart.name, statistics.median(seconds), (cpu.of_process(process) - before) / REPEATS))
    print(f"{shown.days} days: p95 {percentile_95(taken) * 1000:.0f} ms; CPU s {sum(took.cpu_s for took in taken):.1f}")
    for took in sorted(taken, key=lambda took: -took.seconds)[:10]:
        print(f"  {took.name:24} {took.seconds * 1000:7.0f} ms {took.cpu_s:7.2f} CPU s")
    return taken


def chosen(reader: ClickHouse, board: Board, sql: str, span: Range) -> dict[str, str | Sequence[str]]:
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

"""The report of `look`, in chapters: for each system its own range, and the boards whose counters it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path

from counterflow.analysis.findings import Finding, worst_first
from counterflow.base.clickhouse import ClickHouse
from counterflow.connection.report import Written, written
from counterflow.dashboards.definition import boards
from counterflow.dashboards.report.collect import FIRST, ON_REQUEST, Chapter, collect
from counterflow.dashboards.report.fitting import fits, platforms
from counterflow.recordings.results import Measured

_PART_OF_LINE = ("cf-fleet", "cf-pipeline")
"""Boards about many systems, or about the line, which does not run here."""
MOST_SYSTEMS = 10
"""Systems with a chapter, so that a browser opens the report in two seconds; the findings cover all systems."""
_OTHERS = "for {:,} more, `look --keep DIR`, then `report --on DIR --system NAME`."


def chapters(client: ClickHouse, measured: Mapping[str, Measured], worst: Sequence[str]) -> tuple[list[Chapter], int]:
    """Return one chapter per system, with its own range, and the number of systems that have none.

    Parameters
    ----------
    worst : the systems with findings, in the order in which they get a chapter; others follow by name.
    """
    order = {system: place for place, system in enumerate(worst)}
    reached = sorted(measured, key=lambda system: (order.get(system, len(order)), system))[:MOST_SYSTEMS]
    runs_on = platforms(client)
    found = []
    for system in reached:
        begin, end, _, has = measured[system]
        about = (("System", system), ("Shown", f"{begin:%F %T} to {end:%F %T} UTC"))
        found.append(Chapter(about, begin, end, [system], list(_boards(has, runs_on.get(system))), {}))
    return found, len(measured) - len(reached)


def _boards(has: frozenset[str], platform: str | None) -> Iterator[str]:
    """Yield the boards of a system: first that of its platform, which replaces the board for every system."""
    left_out = {*_PART_OF_LINE, *ON_REQUEST}
    order = {uid: (board.platform is None, uid not in FIRST, uid) for uid, board in boards().items()}
    for uid in sorted(boards().keys() - left_out, key=order.__getitem__):
        board = boards()[uid]
        if "system" in board.variables and fits(board, has, platform):
            yield uid


def report(client: ClickHouse, measured: Mapping[str, Measured], found: Sequence[Finding], folder: Path) -> Written:
    """Write the report of all systems, with charts of those with the worst findings."""
    shown, left_out = chapters(client, measured, list(worst_first(found)))
    notes = (
        [f"Charts of the {len(shown)} systems with the worst findings; {_OTHERS.format(left_out)}"] if left_out else []
    )
    begin, end, records, _ = reduce(add, measured.values())
    collected = collect(client, begin, end, sorted(measured), chapters=shown)
    whole = collected._replace(systems=sorted(measured), vanished=(), records=records, notes=notes)
    return written(client, whole, found, folder)

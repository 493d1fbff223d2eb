"""The report of `look`, in chapters: for each system its own range, and the boards whose counters it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path

from counterflow.analysis.findings import Finding, worst_first
from counterflow.base.clickhouse import ClickHouse
from counterflow.connection.report import WrittenReport, written
from counterflow.dashboards.report.collect import LAST, Chapter, collect, wanted
from counterflow.dashboards.report.fitting import platforms
from counterflow.recordings.results import RecordedSpan

MOST_SYSTEMS = 10
"""Systems with a chapter, so that a browser opens the report in two seconds; the findings cover all systems."""
_OTHERS = "for {:,} more, `look --keep DIR`, then `report --on DIR --system NAME`."


def chapters(
    client: ClickHouse, measured: Mapping[str, RecordedSpan], worst: Sequence[str]
) -> tuple[list[Chapter], int]:
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
        suited = [board.uid for board in wanted([system], (), {system: has}, runs_on) if board.uid != LAST]
        found.append(Chapter(about, begin, end, [system], suited, {}))
    return found, len(measured) - len(reached)


def report(
    client: ClickHouse, measured: Mapping[str, RecordedSpan], found: Sequence[Finding], folder: Path
) -> WrittenReport:
    """Write the report of all systems, with charts of those with the worst findings."""
    shown, left_out = chapters(client, measured, list(worst_first(found)))
    notes = (
        [f"Charts of the {len(shown)} systems with the worst findings; {_OTHERS.format(left_out)}"] if left_out else []
    )
    begin, end, records, _ = reduce(add, measured.values())
    collected = collect(client, begin, end, sorted(measured), chapters=shown)
    whole = collected._replace(systems=sorted(measured), vanished=(), records=records, notes=notes)
    return written(client, whole, found, folder)

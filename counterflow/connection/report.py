"""The report of a period, and what was written of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from counterflow.analysis.findings import Finding, findings, worst_first
from counterflow.analysis.known import nothing_recorded
from counterflow.analysis.studies.compare import Comparison, compare
from counterflow.analysis.studies.pictured import side_by_side
from counterflow.analysis.studies.stored import read_run
from counterflow.analysis.whatif.log_path_table import predictions
from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.dashboards.report.collect import Report, collect
from counterflow.dashboards.report.written import write


class WrittenReport(NamedTuple):
    """A report that was written.

    Parameters
    ----------
    page : the HTML file.
    begin, end : the period.
    drawn : number of charts.
    failed : title of each chart whose query failed, with the message.
    """

    page: Path
    begin: datetime
    end: datetime
    drawn: int
    failed: Sequence[tuple[str, str]]


def of_period(
    client: ClickHouse,
    folder: Path,
    systems: Sequence[str] = (),
    begin: datetime | None = None,
    end: datetime | None = None,
    *,
    runs: Sequence[str] = (),
    chosen: Mapping[str, str] | None = None,
    pictures: bool = False,
) -> WrittenReport:
    """Write a report of `systems`, or of all.

    Parameters
    ----------
    begin, end : the period; without them that of the compared runs, else all that was recorded of the systems.
    runs : labelled runs to compare, the baseline first.
    chosen : values of variables of boards.
    pictures : whether each chart is also written as SVG and PNG.

    Raises
    ------
    CounterflowError : nothing was recorded in the period, or the disk refuses the report.
    """
    comparison = compare([read_run(client, name) for name in runs]) if runs else None
    first, last = _range(client, systems, begin, end, comparison)
    compared = {"baseline": runs[0], "scenario": runs[1]} if runs else {}
    report = collect(client, first, last, systems, {**compared, **(chosen or {})})
    if not report.records and comparison is None:
        raise nothing_recorded(client, f"from {first:%F %T} to {last:%F %T} UTC")
    found = findings(client, systems, f"{first:%F %T}", f"{last:%F %T}")
    if comparison:
        report = report._replace(comparison=side_by_side(comparison))
    return written(client, report, found, folder, pictures=pictures)


def written(
    client: ClickHouse, report: Report, found: Sequence[Finding], folder: Path, *, pictures: bool = False
) -> WrittenReport:
    """Write a report with its findings, those of the worst system first, and what would lift the limits of logs."""
    by_system = worst_first(found)
    predicted = predictions(client, report.systems, f"{report.begin:%F %T}", f"{report.end:%F %T}")
    whole = report._replace(findings=[one for of in by_system.values() for one in of], predictions=[*predicted])
    page = write(whole, folder, pictures=pictures)
    return WrittenReport(page, whole.begin, whole.end, len(whole.drawn), whole.failed)


def _range(
    client: ClickHouse,
    systems: Sequence[str],
    begin: datetime | None,
    end: datetime | None,
    comparison: Comparison | None,
) -> tuple[datetime, datetime]:
    if comparison:
        begin = begin or datetime.fromtimestamp(min(run.run.begin_s for run in comparison.runs), UTC)
        end = end or datetime.fromtimestamp(max(run.run.end_s for run in comparison.runs), UTC)
    if begin is None or end is None:
        [reached] = client.rows(
            "SELECT toUnixTimestamp(min(first_ts)) AS begin, toUnixTimestamp(max(last_ts)) + 1 AS end, "
            "toUInt64(count()) AS days FROM counterflow.system_day "
            "WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)",
            {"param_systems": sorted(systems)},
        )
        if not reached["days"]:
            raise nothing_recorded(client, f"of {', '.join(systems) or 'any system'}")
        begin = begin or datetime.fromtimestamp(reached["begin"], UTC)
        end = end or datetime.fromtimestamp(reached["end"], UTC)
    if begin >= end:
        raise CounterflowError(
            f"the period from {begin:%F %T} to {end:%F %T} UTC is empty",
            hint="let it begin before it ends",
            exit_code=2,
        )
    return begin, end

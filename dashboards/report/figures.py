"""A chart with its rows, ready for the page: its picture, its numbers as a table, and the same in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from counterflow.dashboards.definition import Chart, Threshold
from counterflow.dashboards.frames import FrameError, Result
from counterflow.dashboards.frames import over_time as frame_of
from counterflow.dashboards.looks import StateLook, looks
from counterflow.dashboards.macros import Range
from counterflow.dashboards.report import specs
from counterflow.dashboards.report.series import Drawn, drawn
from counterflow.dashboards.report.words import MISSING, bare, figure, headed, moment, ms, number, plain, sparkline
from counterflow.dashboards.runs import AXIS

MOST_ROWS = 100
"""The most rows of a table on the page; the rest is counted."""


class Cell(NamedTuple):
    """A cell of a table; `colour` marks a state, `numeric` aligns it to the right, in one line."""

    text: str
    numeric: bool = False
    colour: str | None = None


class ReportTable(NamedTuple):
    """Numbers in words; `more` rows are not shown."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    more: int = 0


class ReportFigure(NamedTuple):
    """A chart of the report.

    Parameters
    ----------
    chart, sql : its definition, and the statement that was run.
    instead : a sentence instead of a picture, where there is nothing to draw; all fields below are then empty.
    spec : the picture; a table and a stat have none.
    table : the numbers; over time, the extremes of each series.
    points : over time, every number: milliseconds, then a value per series; `table` has the names.
    over : of a chart over time, what the page needs to point at a moment and to zoom; None for others.
    words : the picture in words.
    notes : what a reader must know beside it.
    place : its name in the report; that of the chart, with a number where the chart appears more than once.
    width : number of columns, of 24, that it takes.
    """

    chart: Chart
    sql: str
    instead: str = ""
    spec: dict[str, Any] | None = None
    table: ReportTable = ReportTable((), ())
    points: Sequence[Sequence[float | None]] = ()
    over: Mapping[str, Any] | None = None
    words: str = ""
    notes: Sequence[str] = ()
    place: str = ""
    width: int = 12

    @property
    def legend(self) -> list[specs.Key]:
        """The legend: how each series is drawn."""
        return specs.legend(self.spec) if self.spec else []


def points(chart: Chart, result: Result) -> int:
    """Return the number of rows to be seen; over time, without those that have only nulls."""
    if not chart.over_time:
        return len(result.rows)
    numbers = [index for index, column in enumerate(result.columns) if column.kind == "number"]
    return sum(any(row[index] is not None for index in numbers) for row in result.rows)


def figure_of(
    chart: Chart, sql: str, result: Result, shown: Range, spell: specs.ShadedSpell | None = None, usual_s: int = 0
) -> ReportFigure:
    """Return a chart with its rows, over time with a spell shaded; instead of rows that cannot be drawn, the reason.

    `usual_s` is the usual interval of the data, 0 where that of the chart counts.
    """
    if not points(chart, result):
        return ReportFigure(chart, sql, place=chart.name, instead=chart.empty)
    made = ReportFigure(chart, sql, place=chart.name, notes=[_limit(limit, chart) for limit in chart.thresholds])
    try:
        match chart.shape:
            case "bars" | "area" | "lines":
                return _over_time(made, drawn(chart, frame_of(result)), shown, usual_s or chart.interval_s, spell)
            case "trend":
                words = f"{len(chart.series)} lines over {figure(result.rows[-1][0], 'count')} minutes."
                return made._replace(spec=specs.trend(chart, result), table=table(chart, result), words=words)
            case "ranking":
                words = f"{len(result.rows)} bars; the longest is {plain(result.rows[0][0])}."
                return made._replace(spec=specs.ranking(chart, result), table=table(chart, result), words=words)
            case "states":
                count = len({row[2] for row in result.rows})
                words = f"States of {count} {'thing' if count == 1 else 'things'} over time; the table has every spell."
                spec = specs.states(chart, result, shown)
                return made._replace(spec=spec, table=table(chart, result), words=words, over=_over(shown))
            case _:
                return made._replace(table=table(chart, result))
    except FrameError as error:
        return ReportFigure(chart, sql, place=chart.name, instead=f"This could not be drawn: {error}.")


def _over(shown: Range, **more: Any) -> dict[str, Any]:
    begin, end = (1000 * int(moment.timestamp()) for moment in (shown.begin, shown.end))
    return {"begin": begin, "end": end, **more}


def _over_time(
    made: ReportFigure, over: Drawn, shown: Range, usual_s: int, spell: specs.ShadedSpell | None
) -> ReportFigure:
    bridge_ms = specs.bridge(shown, usual_s)
    rows, parts = [], []
    units = {series.unit for series in over.series}
    unit = units.pop() if len(units) == 1 else ""
    for series in over.series:
        known = [(value, time) for value, time in zip(series.values, over.times_ms, strict=True) if value is not None]
        highest, at = max(known, key=lambda point: (point[0], -point[1]))
        figures = [bare(value, series.unit, made.chart.decimals) for value in (highest, min(known)[0], known[-1][0])]
        cells = [Cell(text, numeric=True) for text in (figures[0], moment(at), *figures[1:], f"{len(known):,}")]
        name = series.name if unit else headed(series.name, series.unit)
        rows.append([Cell(name, colour=series.colour), *cells])
        worded = figure(highest, series.unit, made.chart.decimals)
        parts.append((highest, f"{series.name} at most {worded} at {moment(at)}"))
    top = [text for _, text in sorted(parts, key=lambda part: -part[0])[:3]]
    count = f"{len(over.series)} series" if len(over.series) > 1 else "One series"
    words = f"{count} from {moment(shown.begin.timestamp() * 1000)} to {moment(shown.end.timestamp() * 1000)} UTC"
    notes = [*made.notes, *([f"{over.left_out} smaller series are left out."] if over.left_out else [])]
    if shown.bucket_s > usual_s:
        notes.append(f"A point stands for {_length(shown.bucket_s)}.")
    every = [[time, *values] for time, *values in zip(over.times_ms, *(s.values for s in over.series), strict=True)]
    return made._replace(
        spec=specs.over_time(made.chart, over, shown, bridge_ms, spell),
        over=_over(
            shown,
            step=1000 * shown.bucket_s,
            bridge=bridge_ms,
            units=[looks().units[series.unit].text for series in over.series],
        ),
        table=ReportTable(
            (headed("Series", unit) if unit else "Series", "Highest", "At, UTC", "Lowest", "Last", "Points"), rows
        ),
        points=every,
        words=f"{words}: {'; '.join(top)}.",
        notes=notes,
    )


def table(chart: Chart, result: Result, most: int = MOST_ROWS) -> ReportTable:
    """Return rows in words, without the columns that serve Grafana's links alone."""
    kept = [(at, column) for at, column in enumerate(result.columns) if column.name not in chart.for_links]
    units = {AXIS: "count", **{name: known.unit for name, known in chart.series.items() if known.unit}}
    heads = {"name": "Name", "time": "From", "time_end": "Until", "entity": "Of", "state": "State"}
    rows = []
    for row in result.rows[:most]:
        cells = []
        for at, column in kept:
            known = chart.series.get(column.name)
            unit = units.get(column.name, chart.unit)
            state = (known is not None and known.state) or (chart.shape == "states" and column.name == "state")
            if known is not None and known.spark:
                text = _spark(row[at], unit)
            elif column.kind == "time":
                text = MISSING if row[at] is None else moment(ms(row[at]))
            elif column.kind == "number" and row[at] is not None and number(row[at]) is None:
                text = MISSING
            else:
                text = bare(row[at], unit, chart.decimals) if column.kind == "number" else figure(row[at], unit)
            if state and isinstance(row[at], str):
                cells.append(_state_cell(chart.state(row[at])))
            else:
                cells.append(Cell(text, column.kind in ("number", "time")))
        rows.append(cells)
    named = [
        headed(column.name, units.get(column.name, chart.unit))
        if column.kind == "number"
        else heads.get(column.name, column.name)
        for _, column in kept
    ]
    return ReportTable(named, rows, max(0, len(result.rows) - most))


def _spark(values: Sequence[Any], unit: str) -> str:
    known = [value for value in map(number, values) if value is not None]
    if not known:
        return MISSING
    return sparkline(values, max([*known, *([100.0] if looks().units[unit].grafana == "percent" else [])]))


def _limit(limit: Threshold, chart: Chart) -> str:
    where = "Dashed at" if chart.over_time else "Marked from"
    return f"{where} {figure(limit.at, chart.unit)}: {limit.text}."


def _length(seconds: int) -> str:
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds % size == 0:
            count = seconds // size
            return f"{count} {name}{'s' if count > 1 else ''}"
    return f"{seconds} seconds"


def simple(head: Sequence[str], rows: Sequence[Sequence[object]], more: int = 0) -> ReportTable:
    """Return rows of text, numbers and None as a table."""
    return ReportTable(
        head, [[Cell(figure(value, "count"), number(value) is not None) for value in row] for row in rows], more
    )


def state_cell(state: str) -> Cell:
    """Return a verdict state in words, with its colour."""
    return _state_cell(looks().state(state))


def _state_cell(state: StateLook) -> Cell:
    return Cell(plain(state.text), colour=looks().colours[state.colour])

"""What a chart's shape requires of the result of its query; any other result would be a wrong picture or none."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median_high

from counterflow.dashboards.definition import Chart, Link, boards
from counterflow.dashboards.frames import FrameError, Result, over_time
from counterflow.dashboards.looks import looks
from counterflow.dashboards.report.series import MOST_SERIES
from counterflow.dashboards.runs import AXIS
from counterflow.dashboards.tables import characters, filler

FOR_LINKS = ("_ms", "_uid")
"""Endings of the names of columns that serve links alone."""


def problems(chart: Chart, result: Result) -> Iterator[str]:
    """Yield what is wrong with a result, each problem with its remedy."""
    match chart.shape:
        case "bars" | "area" | "lines":
            yield from _over_time(chart, result)
        case "trend":
            yield from _trend(chart, result)
        case "ranking":
            yield from _ranking(chart, result)
        case "states":
            yield from _states(chart, result)
        case "stat":
            yield from _stat(chart, result)
        case "table":
            yield from _table(chart, result)
    yield from _numbers(chart, result)
    yield from _links(chart, result)


def legend(result: Result) -> Iterator[str]:
    """Yield which series of a result sent to Grafana would stand in the legend without a value."""
    if not result.rows:
        return
    try:
        fields = over_time(result).fields
    except FrameError as error:
        yield str(error)
        return
    if bare := [field.name for field in fields if all(value is None for value in field.values)]:
        yield f"{', '.join(bare)}: in the legend, and without a value"


def _over_time(chart: Chart, result: Result) -> Iterator[str]:
    try:
        names = [field.name for field in over_time(result).fields]
    except FrameError as error:
        yield str(error)
        return
    if not chart.open:
        yield from _series(chart, names)
        return
    values = [column.name for column in result.columns if column.kind == "number"]
    texts = [column.name for column in result.columns if column.kind == "text"]
    if values != ["Value"] or len(texts) != 1:
        found = ", ".join(values + texts)
        yield f"an open chart gives `time`, `Value` and one text column that names the series, not {found}"
    if len(names) > MOST_SERIES:
        yield f"{len(names)} series: keep the largest, and sum the rest up as `others`, {MOST_SERIES} at most"
    if "" in names:
        yield "a series has no name: give those without one a name of their own"


def _series(chart: Chart, names: list[str]) -> Iterator[str]:
    defined = list(chart.series)
    if extra := [name for name in names if name not in defined]:
        yield f"{', '.join(extra)}: a column that `series` does not name"
    if missing := [name for name in defined if name not in names]:
        yield f"{', '.join(missing)}: named in `series`, and no column"
    if not extra and not missing and names != defined:
        yield "the columns are in another order than `series`, and a stack follows the columns"


def _ranking(chart: Chart, result: Result) -> Iterator[str]:
    first, *values = result.columns
    if first.name != "name" or first.kind != "text":
        yield f"a ranking begins with the text column `name`, not with {first.name} {first.type}"
    if wrong := [column.name for column in values if column.kind != "number"]:
        yield f"{', '.join(wrong)}: beside `name`, a ranking has numbers alone"
    if not chart.open:
        yield from _series(chart, [column.name for column in values])
    names = [row[0] for row in result.rows]
    if len(names) > MOST_SERIES:
        yield f"{len(names)} rows, which nobody can read: LIMIT {MOST_SERIES} or less"
    if len(set(names)) < len(names):
        yield "two rows have the same name: GROUP BY it"


def _trend(chart: Chart, result: Result) -> Iterator[str]:
    names = [column.name for column in result.columns]
    if names != [AXIS, *chart.series] or any(column.kind != "number" for column in result.columns):
        yield f"a trend is `{AXIS}` and a number of each run, not {', '.join(names)}"
    elif any(later[0] <= earlier[0] for earlier, later in pairwise(result.rows)):
        yield f"`{AXIS}` does not ascend"


def _states(chart: Chart, result: Result) -> Iterator[str]:
    kinds = {column.name: column.kind for column in result.columns}
    if kinds != {"time": "time", "time_end": "time", "entity": "text", "state": "text"}:
        yield f"states are `time`, `time_end`, `entity` and `state`, not {', '.join(kinds)}"
        return
    rows = [dict(zip(kinds, row, strict=True)) for row in result.rows]
    if any(later["time"] < earlier["time"] for earlier, later in pairwise(rows)):
        yield "times do not ascend: ORDER BY time"
    if strange := sorted({row["state"] for row in rows} - looks().states.keys() - chart.series.keys()):
        yield f"{', '.join(map(str, strange))}: a state to which neither the chart nor looks.yaml gives a colour"
    ends: dict[str, str] = {}
    for row in rows:
        if row["time"] < ends.get(row["entity"], ""):
            yield f"two spells of {row['entity']} overlap at {row['time']}: name entities so that each is one thing"
            return
        ends[row["entity"]] = row["time_end"]


def _stat(chart: Chart, result: Result) -> Iterator[str]:
    kinds = {column.name: column.kind for column in result.columns}
    expected = {"time": "time", "Value": "number"} | ({"Against": "number"} if chart.against else {})
    if kinds != expected:
        yield f"this stat is {', '.join(expected)}, not {', '.join(kinds)}"
    elif any(later[0] < earlier[0] for earlier, later in pairwise(result.rows)):
        yield "times do not ascend: ORDER BY time"


def _table(chart: Chart, result: Result) -> Iterator[str]:
    names = [column.name for column in result.columns]
    if missing := [name for name in chart.series if name not in names]:
        yield f"{', '.join(missing)}: named in `series`, and no column"
    if extra := [name for name in names if name not in chart.series and not name.endswith(FOR_LINKS)]:
        yield f"{', '.join(extra)}: a column that `series` does not name, whose width and unit nobody knows"
    yield from cut_off(chart, result)
    for column in result.columns:
        spark = column.name in chart.series and chart.series[column.name].spark
        if spark != column.type.startswith("Array(") and (spark or column.kind == "other"):
            yield f"`{column.name}` is {column.type}, shown as JSON or not at all: cast it; an array is a `spark`"


def _numbers(chart: Chart, result: Result) -> Iterator[str]:
    for index, column in enumerate(result.columns):
        if column.kind != "number":
            continue
        values = [row[index] for row in result.rows if row[index] is not None]
        if any(isinstance(value, str) for value in values):  # JSON cannot represent inf and nan otherwise
            yield f"`{column.name}` is inf or nan somewhere: nullIf(x, 0) below the division"
        elif chart.shape not in ("table", "stat") and not chart.signed and any(value < 0 for value in values):
            yield f"`{column.name}` is below 0 somewhere, where the axis begins: write `signed: true` if that is right"


def _boards_of_rows(link: Link, result: Result) -> Iterator[str]:
    if link.by not in (names := [column.name for column in result.columns if column.kind == "text"]):
        yield f"the link `{link.title}` takes its board from the text column `{link.by}`; there are {', '.join(names)}"
        return
    at = [column.name for column in result.columns].index(link.by)
    for uid in sorted({row[at] for row in result.rows}):
        if uid not in boards():
            yield f"the link `{link.title}` leads to `{uid}`, which is no board"
        elif lacking := link.variables.keys() - {*boards()[uid].variables}:
            yield f"the link `{link.title}` sets {', '.join(sorted(lacking))}, which `{uid}` has not"


def _links(chart: Chart, result: Result) -> Iterator[str]:
    clicked = {"time", "series"} if chart.over_time else {"time"} if chart.shape == "states" else {"series"}
    kinds = {column.name: column.kind for column in result.columns}
    known = clicked | (set() if chart.over_time and chart.open else kinds.keys())
    for link in chart.links:
        if link.by:
            yield from _boards_of_rows(link, result)
        for name, column in link.variables.items():
            if column not in known:
                yield f"the link `{link.title}` sets `{name}` from `{column}`, which is no column"
        if link.pad and not kinds.get("from_ms") == kinds.get("to_ms") == "text":
            yield f"the link `{link.title}` takes its range from the text columns `from_ms` and `to_ms`: toString(...)"
        elif link.pad:
            yield from _ranges(link, result)


def _ranges(link: Link, result: Result) -> Iterator[str]:
    """Yield the first row whose range is empty, or does not contain the times that the row states."""
    at = {column.name: place for place, column in enumerate(result.columns)}
    times = [place for place, column in enumerate(result.columns) if column.kind == "time"]
    for row in result.rows:
        begin_ms, end_ms = (float(row[at[name]]) for name in ("from_ms", "to_ms"))
        stated_ms = [
            1000 * datetime.fromisoformat(row[place]).replace(tzinfo=UTC).timestamp() for place in times if row[place]
        ]
        if begin_ms >= end_ms or any(not begin_ms <= one <= end_ms for one in stated_ms):
            shown = f"{row[at['from_ms']]} to {row[at['to_ms']]}"
            yield f"the link `{link.title}` leads to a range without what its row states: {shown}"
            return


def cut_off(chart: Chart, result: Result) -> Iterator[str]:
    """Yield the text columns that are too narrow for most of their rows; a column that `fills` may be cut off.

    A column with `chars` is not judged either: a host's name may be longer than any width, and is cut off.
    """
    for index, column in enumerate(result.columns):
        series = chart.series.get(column.name)
        if column.kind != "text" or series is None or series.fills or series.chars:
            continue
        lengths = [len(str(row[index])) for row in result.rows if row[index] is not None]
        usual = median_high(lengths) if lengths else 0
        least = max(len(column.name), characters(chart, series))
        if usual > least and column.name != filler(chart):
            yield f"`{column.name}` has {usual} characters in a width for {least}: set `chars: {usual}`"

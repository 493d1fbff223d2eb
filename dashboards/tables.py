"""The widths of a table's columns in Grafana, and whether they fit into its panel.

Grafana gives each column the same width, at least 150 pixels, and cuts off what does not fit. Here each column is as
wide as its heading and its values need, and one column takes what is left over.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median_high

from counterflow.dashboards.definition import Drawing, Series, looks
from counterflow.dashboards.frames import Result

_PER_CHARACTER_PX, _PADDING_PX = 7.6, 16
"""Inter at 14 pixels: digits are the widest characters of figures. Cells have 6 pixels on each side, and a border."""


def filler(chart: Drawing) -> str:
    """Return the column that takes what is left over: the one that `fills`, or the first."""
    return next((name for name, series in chart.series.items() if series.fills), next(iter(chart.series), ""))


def width_px(chart: Drawing, name: str) -> int:
    """Return the width that a column needs for its heading and its values."""
    return round(max(len(name), characters(chart, chart.series[name])) * _PER_CHARACTER_PX) + _PADDING_PX


def characters(chart: Drawing, series: Series) -> int:
    """Return the most characters that a cell of a column has."""
    return series.chars or looks().units[series.unit or chart.unit].chars


def cut_off(chart: Drawing, result: Result) -> Iterator[str]:
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

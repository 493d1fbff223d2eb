"""The widths of a table's columns in Grafana.

Grafana gives each column the same width, at least 150 pixels, and cuts off what does not fit. Here each column is as
wide as its heading and its values need, and one column takes what is left over.
"""

from __future__ import annotations

from counterflow.dashboards.definition import Drawing, Series
from counterflow.dashboards.looks import looks

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

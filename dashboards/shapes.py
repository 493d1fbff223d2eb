"""What the report and the checks of charts ask of the result of a chart's query."""

from __future__ import annotations

from counterflow.dashboards.definition import Chart
from counterflow.dashboards.frames import Result

MOST_SERIES = 30
"""Nobody can distinguish more colours than that: the rest is `others`."""


def points(chart: Chart, result: Result) -> int:
    """Return the number of rows to be seen; over time, without those that have only nulls."""
    if not chart.over_time:
        return len(result.rows)
    numbers = [index for index, column in enumerate(result.columns) if column.kind == "number"]
    return sum(any(row[index] is not None for index in numbers) for row in result.rows)

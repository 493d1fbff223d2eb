"""What is wrong with boards, charts and alerts that are right each by itself: names, and queries without a range."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from counterflow.dashboards.alerting import alerts
from counterflow.dashboards.definition import (
    Board,
    Chart,
    boards,
    charts,
    drawings,
    prometheus_charts,
    tables_of,
    variable_of,
    variables,
    variables_of,
)
from counterflow.schemas.migrations import schema


def mistakes() -> list[str]:
    """Return what is wrong with boards and charts that are right each by itself: names, and queries without a range.

    Source of the rules on PromQL: grafana/dashboard-linter, lint/*.go.
    """
    placed = {name for board in boards().values() for name in board.drawings}
    statements = {f"the chart `{name}`": chart.sql for name, chart in charts().items()}
    statements |= {f"the alert `{name}`": alert.grafana.sql for name, alert in alerts().items() if alert.grafana}
    unplaced = sorted(drawings().keys() - placed)
    titles = Counter(board.title for board in boards().values())
    return [
        *(f"{uid}: {mistake}" for uid, board in boards().items() for mistake in unknown_names(board)),
        *(f"{times} boards have the title `{title}`: rename one" for title, times in titles.items() if times > 1),
        *(f"the chart `{name}` is on no board: put it on one, or remove it" for name in unplaced),
        *(f"the chart `{name}`: {mistake}" for name, chart in charts().items() for mistake in unbounded(chart)),
        *(
            f"{where}: there is no table or view `{table}`: name a dataset, or a view of schemas/clickhouse/views.sql"
            for where, sql in statements.items()
            for table in sorted(tables_of(sql) - _tables())
        ),
        *(
            f"the chart `{name}`: {mistake}"
            for name, chart in prometheus_charts().items()
            for promql in chart.promql.values()
            for mistake in promql_mistakes(promql)
        ),
    ]


def _tables() -> set[str]:
    """Return the names of tables and views that the schema creates."""
    created = r"^CREATE [A-Z ]*?(?:TABLE|VIEW)(?: IF NOT EXISTS)? counterflow\.(\w+)"
    return {name for part in schema().parts.values() for name in re.findall(created, part, re.MULTILINE)}


def unknown_names(board: Board) -> Iterator[str]:
    """Yield the charts, variables and boards that a board or its charts name, and that do not exist."""
    for name in board.variables:
        if name not in variables():
            yield f"there is no variable `{name}` in variables.yaml"
            continue
        for needed in sorted(variables_of(variable_of(board, name).sql or "") - {*board.variables}):
            yield f"the variable `{name}` uses the variable `{needed}`, which is not among `variables`"
    choices = board.choices
    for name in board.drawings:
        if name not in drawings():
            yield f"there is no chart `{name}`"
            continue
        chart = drawings()[name]
        if isinstance(chart, Chart) and chart.figure in choices and "figure" not in board.variables:
            yield f"the family `{chart.family}` needs the variable `figure`"
        for variable in sorted(chart.variables - {*board.variables} if isinstance(chart, Chart) else ()):
            yield f"the chart `{name}` uses the variable `{variable}`, which is not among `variables`"
        for link in chart.links:
            if link.board not in boards():
                yield f"the chart `{name}` leads to `{link.board}`, which is no board"
                continue
            for variable in sorted(link.variables.keys() - {*boards()[link.board].variables}):
                yield f"the chart `{name}` sets `{variable}`, which is no variable of `{link.board}`"


def unbounded(chart: Chart) -> Iterator[str]:
    """Yield where a query reads all of time, or returns more points the longer the range is."""
    of_runs = "baseline" in chart.variables  # they bound what is read
    if not of_runs and not re.search(r"\$__(timeFilter|fromTime|toTime)\b", chart.sql):
        yield "the query reads all of time: $__timeFilter(ts)"
    if chart.over_time and not re.search(r"\$__(timeInterval|interval_s)\b", chart.sql):
        yield "the query gives every sample of any range: $__timeInterval(ts - 1) + $__interval_s AS time"


def promql_mistakes(promql: str) -> Iterator[str]:
    """Yield where an expression has a range of its own, or draws a counter as it grows."""
    if ranges := [found for found in re.findall(r"\[([^]]*)\]", promql) if found != "$__rate_interval"]:
        yield f"[{ranges[0]}] is as long at any range: [$__rate_interval]"
    counters = re.sub(r"\b(rate|irate|increase)\(\w+(\{[^}]*\})?\[", "", promql)
    if bare := re.search(r"\b\w+_total\b", counters):
        yield f"{bare[0]} only grows: rate(...) or increase(...)"

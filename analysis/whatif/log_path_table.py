"""What changes would do to logs, as lines of a table: for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from counterflow.analysis.whatif.log_path import LogPathFigure, LogWindow, read_stored, windows
from counterflow.analysis.whatif.log_path_backtest import errors_pct
from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.report.collect import Prediction
from counterflow.dashboards.report.figures import ReportTable, simple
from counterflow.pipelines.rules.log_ceiling import RULE

MOST = 10
"""Logs in a report, those with the longest spells."""


def titled(window: LogWindow) -> str:
    """Return the name of a log, and how many of its intervals count."""
    log = f"{window.system}, log of {window.subsystem} on {window.path or 'an unknown path'}"
    return f"{log}: {window.used} of {window.intervals} intervals have all inputs"


def lines(window: LogWindow, change: str) -> list[dict[str, str | float | None]]:
    """Return a line for each figure of a change."""
    return [
        {
            "figure": one.name,
            "unit": one.unit,
            "measured": _short(one.measured),
            "low": _short(one.low),
            "likely": _short(one.likely),
            "high": _short(one.high),
            "back-test": ", ".join(f"{error:+.0f} %" for error in errors_pct(window.path, change, one.name))
            or "not tested",
        }
        for one in window.figures
        if one.change == change
    ]


def sources(window: LogWindow) -> dict[str, str]:
    """Return the changes that have figures, each with its source."""
    return {one.change: one.source for one in window.figures}


def remarks(window: LogWindow) -> Iterator[str]:
    """Yield why there are no figures, of all, of a change or of one, and what limits one."""
    if window.refused:
        yield f"unknown, because {window.refused}"
    for change, reason in window.beyond.items():
        yield f"{change}: unknown, because {reason}"
    yield from dict.fromkeys(filter(None, map(_remark, window.figures)))


def predictions(client: ClickHouse, systems: Collection[str], since: str, until: str) -> Iterator[Prediction]:
    """Yield what each change would do to the logs that were at their ceiling, in the longest spell of each."""
    given = {"param_systems": sorted(systems), "param_since": since, "param_until": until}
    for spell in client.rows(_SPELLS, {**given, "param_states": [*RULE.alarms]}):
        period = {"param_systems": [spell["system"]], "param_since": spell["begin"], "param_until": spell["end"]}
        rows = [row for row in read_stored(client, period) if row.subsystem == spell["entity"]]
        for log in windows(rows):
            tables = [(f"{change} ({source})", _drawn(lines(log, change))) for change, source in sources(log).items()]
            yield Prediction(f"{titled(log)}, {spell['shown']}", tables, [*remarks(log)])


_SPELLS = f"""
SELECT
  system, entity, max(dateDiff('second', onset_ts, end_ts)) AS longest,
  argMax((onset_ts, end_ts), dateDiff('second', onset_ts, end_ts)) AS spell,
  toString(spell.1) AS begin, toString(spell.2) AS end,
  concat('from ', formatDateTime(spell.1, '%F %R'), ' to ', formatDateTime(spell.2, '%F %R')) AS shown
FROM counterflow.verdict_spell_within(since = {{since:DateTime64(3)}}, until = {{until:DateTime64(3)}})
WHERE rule = '{RULE.name}' AND has({{states:Array(String)}}, state)
  AND (empty({{systems:Array(String)}}) OR has({{systems:Array(String)}}, system))
GROUP BY system, entity
ORDER BY longest DESC, system, entity
LIMIT {MOST}
"""


def _drawn(rows: list[dict[str, str | float | None]]) -> ReportTable:
    return simple([name.capitalize() for name in rows[0]], [[*row.values()] for row in rows])


def _remark(figure: LogPathFigure) -> str | None:
    if figure.reason:
        return f"{figure.name}: unknown, because {figure.reason}"
    return f"{figure.name}: {figure.note}" if figure.note else None


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")

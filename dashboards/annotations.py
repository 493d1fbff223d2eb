"""Annotations over the charts of a board: spells by gravity, changes of configuration, restarts, gaps in the data.

Each kind has a colour. Each row states its reason, which Grafana shows when the cursor is on its mark.
"""

from __future__ import annotations

from typing import NamedTuple

from counterflow.dashboards.definition import Board
from counterflow.dashboards.looks import looks

MOST = 500
"""The newest in the range; more marks than pixels inform nobody."""

_SPELLS = """\
SELECT
  start_ts AS time, end_ts AS timeEnd, concat(system, ' ', entity, ': ', reason) AS text,
  concat(rule, ' ', state) AS title, 'verdict' AS tags
FROM counterflow.verdict_spell_within(since = $__fromTime, until = $__toTime)
WHERE state IN ({states})"""
_CHANGES = """\
SELECT
  ts AS time, ts AS timeEnd, concat(system, ' ', item, ': ', what) AS text, 'configuration' AS title, 'change' AS tags
FROM counterflow.config_change_within(since = $__fromTime, until = $__toTime)
WHERE true"""
_GAPS = """\
SELECT
  previous AS time, begins AS timeEnd,
  concat(system, ': nothing was recorded for ', toString(round((begins - previous) / 60, 1)), ' min') AS text,
  'gap' AS title, 'gap' AS tags
FROM
(
  SELECT
    system, begins, quantileExact(0.5)(took_s) OVER (PARTITION BY system) AS usual_s,
    lagInFrame(ends) OVER of_system AS previous, row_number() OVER of_system AS place
  FROM
  (
    SELECT
      toString(system) AS system, max(ts) AS ends, max(assumeNotNull(interval_s)) AS took_s,
      min(ts - toIntervalMillisecond(toUInt64(1000 * assumeNotNull(interval_s)))) AS begins
    FROM counterflow.manifest
    WHERE $__timeFilter(ts) AND interval_s > 0
    GROUP BY system, intDiv(toUnixTimestamp(ts), greatest(1, intDiv(dateDiff('second', $__fromTime, $__toTime), 1000)))
  )
  WINDOW of_system AS (PARTITION BY system ORDER BY ends ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
)
WHERE place > 1 AND dateDiff('millisecond', previous, begins) > 1500 * usual_s"""
"""An interval that begins more than one and a half of the system's usual intervals after the previous one ended.

Intervals are grouped by thousandths of the range, about a pixel: a shorter gap could not be seen.
"""

_RESTARTS = """\
SELECT
  began AS time, began AS timeEnd, concat(system, ': counters begin anew with ', boot) AS text,
  'restart' AS title, 'restart' AS tags
FROM
(
  SELECT system, boot, began, row_number() OVER (PARTITION BY system, source ORDER BY began) AS place
  FROM
  (
    SELECT
      toString(system) AS system, toString(source) AS source, assumeNotNull(boot_id) AS boot,
      min(ts - toIntervalMillisecond(toUInt64(1000 * coalesce(interval_s, 0)))) AS began
    FROM counterflow.manifest
    WHERE $__timeFilter(ts) AND boot_id IS NOT NULL
    GROUP BY system, source, boot
  )
)
WHERE place > 1"""
"""Boots of a system and runs of its recorder, except the first in the range; sources that name none have no mark."""


class Annotation(NamedTuple):
    """The statement of one kind, and the name of its colour."""

    sql: str
    colour: str


def drawn_over(board: Board) -> dict[str, Annotation]:
    """Return the annotations of a board's charts, by name."""
    of_states = {
        "Limited": ("critical", _of("critical")),
        "Near a limit": ("warning", _near()),
        "Not known": ("unknown", _of("unknown")),
    }
    found = {
        name: Annotation(_SPELLS.replace("{states}", ", ".join(f"'{state}'" for state in states)), colour)
        for name, (colour, states) in of_states.items()
    }
    found |= {
        "Changes": Annotation(_CHANGES, "measured"),
        "Restarts": Annotation(_RESTARTS, "line"),
        "Gaps": Annotation(_GAPS, "unknown"),
    }
    of_systems = " AND system IN (${system:singlequote})" if "system" in board.variables else ""
    tail = f"{of_systems}\nORDER BY time DESC\nLIMIT {MOST}"
    return {name: one._replace(sql=f"{one.sql}{tail}") for name, one in found.items()}


def _of(gravity: str) -> list[str]:
    return [state for state, shown in looks().states.items() if shown.colour == gravity]


def _near() -> list[str]:
    calm = {"good", "demand", "unknown", "critical"}
    return [state for state, shown in looks().states.items() if shown.colour not in calm]

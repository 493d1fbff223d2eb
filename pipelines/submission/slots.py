"""Series that meet in time: views that several jobs need, written once. A job names their views in its `job.yaml`.

`slots_of_<view>` has each row of a view once for each of its `slots` slots of time, the last of which is `last_slot`.
The column `slot` numbers them. Rows of two series that share a slot meet in a join of equal slots.

`minutes_of_<view>` does so by minute, for rows that are valid for `interval_s` until `ts`. A row of a minute or longer
is in the minutes whose middle it contains, at most those of a day; a shorter one is in the minute of its own middle.
Minutes are those since 1970, numbered by their beginning. `weight` is the seconds of a minute that the row counts for,
`wanted_s` the seconds of all of its minutes. Source: docs/decisions/0009-minutes.md.
"""

from __future__ import annotations

# The array has as many elements as there are slots: Flink has no function that generates a series. It would join a
# constant array, and keep every row in state for that.
_EACH_SLOT = (
    "SELECT *, last_slot + 1 - step AS slot FROM {rows} CROSS JOIN "
    "UNNEST(SPLIT('-' || REPEAT(',', slots - 1), ',')) WITH ORDINALITY AS steps (nothing, step) WHERE slots > 0"
)
_LAST_MINUTE = "CASE WHEN length < 60 THEN (2 * ends - length - 1) / 120 ELSE (ends - 30) / 60 END"
_COUNT_OF_MINUTES = (
    "CASE WHEN length < 60 THEN 1 ELSE CAST((ends - 30) / 60 - (ends - LEAST(length, 86400) - 30) / 60 AS INT) END"
)
_MINUTES = (
    "(SELECT *, LEAST(length, 60) AS weight, LEAST(length, 60 * slots) AS wanted_s FROM "
    f"(SELECT *, {_LAST_MINUTE} AS last_slot, {_COUNT_OF_MINUTES} AS slots FROM "
    "(SELECT *, EXTRACT(EPOCH FROM ts) AS ends, CAST(ROUND(interval_s) AS BIGINT) AS length FROM {rows}) "
    "WHERE length > 0))"
)


def by_slot(view: str) -> str:
    """Return the CREATE VIEW of `slots_of_<view>`."""
    return _view("slots", view, f"`{view}`")


def by_minute(view: str) -> str:
    """Return the CREATE VIEW of `minutes_of_<view>`."""
    return _view("minutes", view, _MINUTES.format(rows=f"`{view}`"))


def _view(kind: str, view: str, rows: str) -> str:
    return f"CREATE TEMPORARY VIEW `{kind}_of_{view}` AS {_EACH_SLOT.format(rows=rows)}"

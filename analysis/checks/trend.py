"""When is full what fills up? Judges the view `days_to_limit_within`, for systems of every kind; computes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from counterflow.analysis.answer import Answer, Status
from counterflow.analysis.queries import BEGINNING
from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.thresholds import threshold, with_thresholds

NAME = "days_to_limit"
RULE = with_thresholds(
    "The daily peaks of space, processors, memory, links and logs, as their trend rises, stay below 100 % for more "
    "than <days_to_limit.watch> days."
)
SOURCE = "Capabilities Reference 20.3 has growth trends estimated, by no stated method; the days are our choice"
REMEDY = (
    "Look at the days behind it (`counterflow sql days_to_limit`, board cf-fleet), then move or remove data, spread "
    "the work, or order more."
)
_NOTHING = "no daily peak of what fills up: space, processors, memory, links with a line rate, logs with a ceiling"

_ROWS = """
SELECT system, kind, instance, trend, answer, level_pct, days_to_limit, days, toString(last_day) AS last_day
FROM counterflow.days_to_limit_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)})
WHERE has({systems:Array(String)}, system)
ORDER BY system, kind, instance
"""


def trends(client: ClickHouse, systems: Collection[str], until: str) -> Iterator[Answer]:
    """Yield whether each thing that fills up reaches its limit soon, by the days up to a time.

    It fails where the limit is reached, warns where the trend reaches it within the days of `schemas/thresholds.yaml`,
    and is unknown where the days are too few.
    """
    if not systems:
        return
    seen = set()
    for row in client.rows(_ROWS, {"param_systems": sorted(systems), "param_since": BEGINNING, "param_until": until}):
        seen.add(row["system"])
        status = _status(row["trend"], row["days_to_limit"])
        raises = status in ("warn", "fail")
        figure = row["answer"]
        if status in ("pass", "warn"):
            figure += f"; {row['level_pct']:.4g} % by the trend on {row['last_day']}"
        entity = f"{row['kind']} {row['instance']}".rstrip()
        judged = "rule", row["system"], NAME, entity, status, raises
        yield Answer(*judged, figure, RULE, SOURCE, REMEDY if raises else None, details=dict(row))
    for system in sorted({*systems} - seen):
        yield Answer("rule", system, NAME, None, "unknown", False, None, _NOTHING, SOURCE, None)


def _status(trend: str, days: float | None) -> Status:
    if trend == "reached":
        return "fail"
    if trend == "too short":
        return "unknown"
    return "warn" if days is not None and days <= threshold("days_to_limit", "watch") else "pass"

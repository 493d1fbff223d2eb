"""Generates the statements that compute the tables by hour from the rows of a dataset."""

from __future__ import annotations

from collections.abc import Iterator

from counterflow.schemas.clickhouse_ddl import HOUR, instance_of, metric_names, metrics, quoted
from counterflow.schemas.definition import Dataset, datasets

MARGIN_S = 150
"""An insert is stamped when it begins, and visible when it ends: at the latest 120 s later, when a lander gives up and
repeats it. What was touched this long before the progress is computed again."""


def statements(dataset: Dataset) -> Iterator[str]:
    """Yield the statements that compute the hours of a dataset that are due; each replaces what it computed before.

    Parameters of each statement are the `systems`, Array(String), and the range of hours after `since` and up to
    `until`, DateTime.
    """
    if dataset.instance:
        yield _metric_1h(dataset)
    if dataset.dataset == "system_cpu":
        yield _processor_load_1h()
    if dataset.dataset == "wait":
        yield _wait_1h()
    if dataset.dataset == "manifest":
        yield _arrival()


def _metric_1h(dataset: Dataset) -> str:
    """It groups the rows first, so that each is read once whatever the number of its columns.

    A column without a value gets a row as well: it replaces what was computed before its values became null.
    """
    states = ", ".join(
        f"(count({n}), sum(toFloat64({n})), min(toFloat64({n})), max(toFloat64({n})))"
        for n in map(quoted, metrics(dataset))
    )
    groups = ", ".join(["system", "entity", "hour", *map(quoted, dataset.metric)])
    return f"""\
INSERT INTO counterflow.metric_1h (metric, system, instance, ts, n, total, lo, hi, computed_at)
SELECT
  metric, system, entity, hour, state.1, ifNull(state.2, 0), ifNull(state.3, 0), ifNull(state.4, 0), now64(3, 'UTC')
FROM
(
  SELECT {groups}, [{states}] AS states
  FROM
  (
    SELECT *, {instance_of(dataset)} AS entity, {HOUR} AS hour
    FROM counterflow.{dataset.dataset} FINAL
    WHERE {_touched(dataset.dataset)}
  )
  GROUP BY {groups}
)
ARRAY JOIN
  [{metric_names(dataset)}] AS metric,
  states AS state"""


def _processor_load_1h() -> str:
    known = "interval_s > 0 AND busy_pct IS NOT NULL"
    return f"""\
INSERT INTO counterflow.processor_load_1h (system, engine_type, ts, seconds, busy_pct_s, busy_pct_max, computed_at)
SELECT
  system, engine_type, {HOUR} AS hour,
  ifNull(sumIf(interval_s, {known}), 0), ifNull(sumIf(busy_pct * interval_s, {known}), 0),
  ifNull(maxIf(busy_pct, {known}), 0), now64(3, 'UTC')
FROM counterflow.processor_load
WHERE {_touched("system_cpu")}
GROUP BY system, engine_type, hour"""


def _wait_1h() -> str:
    """Sum the waits of jobs; what the hour had before and no longer has gets a row as well, which replaces it."""
    job = ("job", "job_name", "job_user", "subsystem", "job_pool", "job_type")
    seconds = [name for name in datasets()["wait_signature"].columns if name.endswith("_s") and name != "total_s"]
    key = ", ".join(["system", *job, "hour"])
    return f"""\
INSERT INTO counterflow.wait_1h (system, {", ".join(job)}, ts, intervals, {", ".join(seconds)}, computed_at)
SELECT {key}, sum(one), {", ".join(f"sum({name})" for name in seconds)}, now64(3, 'UTC')
FROM
(
  SELECT system, {", ".join(f"ifNull({n}, '') AS {n}" for n in job)}, {HOUR} AS hour, 1 AS one, {", ".join(seconds)}
  FROM counterflow.wait_signature
  WHERE task != '*' AND {_touched("wait")}
  UNION ALL
  SELECT system, {", ".join(job)}, ts, 0, {", ".join("0" for _ in seconds)}
  FROM counterflow.wait_1h
  WHERE {_touched("wait")}
)
WHERE system IN (SELECT system FROM counterflow.system_dataset WHERE dataset = 'wait')
GROUP BY {key}"""


def _arrival() -> str:
    delay = "greatest(0, toFloat64(m.landed_at) - toFloat64(m.collected_at))"
    return f"""\
INSERT INTO counterflow.arrival
  (hour, dataset, system, intervals, row_count, delay_s, longest_s, newest_ts, collected_at, landed_at, computed_at)
SELECT
  {HOUR} AS hour, counted, system, count(), sum(m.row_count), sum({delay}), max({delay}), max(ts),
  max(m.collected_at), max(m.landed_at), now64(3, 'UTC')
FROM counterflow.manifest AS m FINAL
WHERE {_touched("manifest")}
GROUP BY hour, counted, system"""


def due() -> str:
    """Return the FROM and WHERE of the hours that were touched since they were computed, with `done`, the progress."""
    return f"""\
FROM counterflow.hour_touched
LEFT JOIN
(
  SELECT dataset, system, max(touched_to) - toIntervalSecond({MARGIN_S}) AS done
  FROM counterflow.rollup_progress
  GROUP BY dataset, system
) AS progress USING (dataset, system)
WHERE touched_at > done"""


def _touched(dataset: str) -> str:
    """Return the predicate on rows of hours that are due; its first two terms only spare reading others."""
    hours = (
        f"{due()} AND dataset = '{dataset}' AND system IN {{systems:Array(String)}} "
        "AND hour > {since:DateTime('UTC')} AND hour <= {until:DateTime('UTC')}"
    )
    return f"""\
toYYYYMMDD(ts) IN (SELECT toYYYYMMDD(arrayJoin([hour - 1, hour])) {hours})
  AND system IN {{systems:Array(String)}}
  AND (system, {HOUR}) IN (SELECT system, hour {hours})"""

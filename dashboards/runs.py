"""Two measurement runs overlaid, by the minutes since each began: their axis does not depend on the range shown."""

from __future__ import annotations

from collections.abc import Sequence

POINTS = 300
"""The most points of a series; a bucket is never shorter than the usual interval of either run."""

AXIS = "Minutes"
"""The column along which runs are drawn."""


def overlaid(samples: str, value: str, each: Sequence[str]) -> str:
    """Return the SQL of `Minutes`, `Baseline` and `Scenario`: the variables `baseline` and `scenario` name the runs.

    Parameters
    ----------
    samples : SQL of rows with `ts`, `system` and `interval_s`.
    value : an aggregate over the rows of one bucket.
    each : columns of things whose values are added.
    """
    things = ", ".join(["place", "run", *each])
    return f"""\
WITH
  -- an array: a named query would run again wherever it is used
  (
    SELECT groupArray((toString(run), toString(system), begin_ts, run_begin_ts, earliest_ts, latest_ts))
    FROM counterflow.run_span
    WHERE run IN (${{baseline:singlequote}}, ${{scenario:singlequote}})
  ) AS spans,
  runs AS
  (
    SELECT
      arrayJoin(spans) AS span, span.1 AS run, span.2 AS system, span.3 AS begin_ts,
      span.4 AS run_begin_ts, span.5 AS earliest_ts, span.6 AS latest_ts
  ),
  samples AS
  (
    SELECT *, dateDiff('millisecond', run_begin_ts, ts) / 1000 AS since_s
    FROM
    (
      SELECT * FROM
      (
{samples.strip()}
      )
      WHERE system IN (SELECT system FROM runs) AND ts > (SELECT min(begin_ts) FROM runs)
        AND ts <= (SELECT max(latest_ts) FROM runs) AND interval_s > 0
    ) AS measured
    INNER JOIN runs USING (system)
    WHERE ts > begin_ts AND ts <= latest_ts AND ts >= earliest_ts + toIntervalMillisecond(toInt64(1000 * interval_s))
  ),
  (
    SELECT greatest(1, max(usual_s), ceil(max(last_s) / {POINTS}))
    FROM
    (
      SELECT quantileExact(0.5)(interval_s) AS usual_s, max(since_s) AS last_s FROM samples GROUP BY run, system
    )
  ) AS bucket_s
SELECT (place - 0.5) * bucket_s / 60 AS "{AXIS}", "Baseline", "Scenario"
FROM
(
  SELECT
    place,
    sumIf(value, run = ${{baseline:singlequote}}) AS "Baseline",
    sumIf(value, run = ${{scenario:singlequote}}) AS "Scenario"
  FROM
  (
    SELECT
      greatest(1, toInt64(ceil(since_s / bucket_s - 0.001))) AS place, run,
      toNullable({value}) AS value
    FROM samples
    GROUP BY {things}
  )
  GROUP BY place
  ORDER BY place WITH FILL
)
ORDER BY place"""

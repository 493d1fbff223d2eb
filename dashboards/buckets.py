"""The length of a chart's buckets: what its panel's width allows, and never shorter than the intervals of the data.

A statement contains `$__timeInterval(...)` and `$__interval_s`, which Grafana derives from range and width alone. Here
both become `bucket_s`, a constant that the server computes first: the usual interval of the systems and datasets that
are drawn, `usual_s`, from their manifests, where that is longer than Grafana's.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from counterflow.dashboards.macros import replace
from counterflow.schemas.definition import datasets
from counterflow.schemas.migrations import schema, statements


def usual_s(tables: Collection[str], counted: str | None = None) -> str | None:
    """Return the expression of the usual interval, in seconds, of the rows of tables and views; 0 where none is known.

    For several systems and datasets it is the longest of their medians: a shorter bucket would leave some out. Where
    the median is below 30 s, the longest interval of at most twice the median counts instead: a recorder with intervals
    of a few seconds drifts, so that a second has no sample now and then. The newest two days of each dataset in the
    range count, since the range may hold only the beginning of the newest.
    `counted` is the SQL of the datasets, where the tables do not identify them. Return None where the tables hold no
    intervals.
    """
    names = ", ".join(f"'{name}'" for name in sorted(_behind(frozenset(tables))))
    if not (counted or names):
        return None
    return f"""\
assumeNotNull((
    SELECT toUInt32(ifNull(max(of_each_s), 0))
    FROM
    (
      SELECT
        quantileExact(0.5)(interval_s) AS median_s,
        arrayFilter(s -> s <= 2 * median_s, groupUniqArray(round(interval_s))) AS no_gaps_s,
        if(median_s < 30, arrayMax(no_gaps_s), round(median_s)) AS of_each_s
      FROM counterflow.manifest
      WHERE $__timeFilter(ts) AND system IN (${{system:singlequote}}) AND counted IN ({counted or names})
        AND (system, counted, toDate(ts, 'UTC')) IN (
          SELECT system, dataset, day
          FROM counterflow.system_dataset
          WHERE day >= toDate($__fromTime, 'UTC') AND day <= toDate($__toTime, 'UTC')
            AND system IN (${{system:singlequote}}) AND dataset IN ({counted or names})
          GROUP BY system, dataset, day
          ORDER BY day DESC
          LIMIT 2 BY system, dataset
        )
      GROUP BY system, counted
    )
  ))"""


def bucketed(sql: str, usual: str) -> str:
    """Return the statement over buckets of `bucket_s`, which begin at its multiples."""
    sql = replace(
        sql, "timeInterval", 1, lambda a: f"toStartOfInterval(toDateTime({a[0]}), toIntervalSecond(bucket_s))"
    )
    sql = re.sub(r"\$__interval_s\b", "bucket_s", sql)
    head = f"WITH\n  {usual} AS usual_s,\n  greatest($__interval_s, usual_s) AS bucket_s"
    rest = sql.removeprefix("WITH").lstrip()
    return f"{head},\n  {rest}" if rest != sql else f"{head}\n{sql}"


@cache
def _behind(tables: frozenset[str]) -> frozenset[str]:
    """Return the datasets whose manifests count the rows of tables and views."""
    found: set[str] = set()
    for table in tables:
        if dataset := datasets().get(table):
            read = dataset.counts.manifests if dataset.counts else (table,) if dataset.role == "counter" else ()
            found |= {*read, *_behind(frozenset(dataset.reads[:1]))}
        elif table in _views():
            found |= _behind(_views()[table])
    return frozenset(name for name in found if datasets()[name].measured)


@cache
def _views() -> dict[str, frozenset[str]]:
    """Return the tables and views that each view reads."""
    found = [text for part in schema().parts.values() for text in statements(part)]
    made = (
        (re.search(r"CREATE (?:OR REPLACE )?VIEW (?:IF NOT EXISTS )?counterflow\.(\w+)", one), one) for one in found
    )
    return {name[1]: frozenset(re.findall(r"\bcounterflow\.(\w+)", one)) - {name[1]} for name, one in made if name}

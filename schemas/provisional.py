"""The view `provisional`: results that are made of fewer input rows than their manifests count."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from counterflow.schemas.definition import Counts, Dataset


def provisional_view(datasets: Iterable[Dataset]) -> str:
    """Return the view over every dataset with `counts`, by name.

    It sums a union of the rows that were published and of those that results are made of, and joins nothing: so the
    reader's predicates on time and system reach every table. PREWHERE spares FINAL the manifests of other datasets;
    that is safe, since both of its columns belong to the key.
    """
    compared = "\nUNION ALL\n".join(
        _compared(d.dataset, d.counts) for d in sorted(datasets, key=attrgetter("dataset")) if d.counts
    )
    return f"""\
CREATE OR REPLACE VIEW counterflow.provisional {{on_cluster}} AS
{compared}
COMMENT 'Results that are made of fewer input rows than their manifests count; n is 0 where there is no result yet.';

ALTER TABLE counterflow.provisional {{on_cluster}}
  COMMENT COLUMN `dataset` 'Dataset of the result.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `n` 'Input rows that the result is made of; 0 where there is no result yet. [rows; gauge]',
  COMMENT COLUMN `row_count` 'Input rows that were published, by their manifests. [rows; gauge]'"""


def _compared(name: str, counts: Counts) -> str:
    required = f" AND sumIf(published, counted = '{counts.requires}') > 0" if counts.requires else ""
    where = f" WHERE {counts.where}" if counts.where else ""
    return f"""\
SELECT '{name}' AS dataset, system, ts, sum(made) AS n, sum(published) AS row_count
FROM
(
  SELECT system, ts, counted, row_count AS published, toUInt64(0) AS made
  FROM counterflow.manifest FINAL PREWHERE {_manifests(counts)}
  UNION ALL
  SELECT system, ts, '' AS counted, toUInt64(0) AS published, coalesce(toUInt64({counts.rows}), 0) AS made
  FROM counterflow.{name} FINAL{where} GROUP BY system, ts
)
GROUP BY system, ts
HAVING n < row_count{required}"""


def _manifests(counts: Counts) -> str:
    """Return the predicate that selects manifests; their `source` may also name a table, as `ibmi_tables.QAPMJOBMI`."""
    named = f"counted IN ({', '.join(repr(name) for name in counts.manifests)})"
    return f"{named} AND startsWith(source, '{counts.source}')" if counts.source else named

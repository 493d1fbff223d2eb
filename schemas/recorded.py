"""The views over many datasets: `recorded`, the intervals there are, and `provisional`, the results that lack rows."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from counterflow.schemas.definition import Counts, Dataset


def recorded_view(datasets: Iterable[Dataset]) -> str:
    """Return the view: the rows that manifests count, and those of formats that yield no manifests.

    `system_dataset` states which formats these are; where it names no system, the table is not read.
    """
    counted = "\nUNION ALL\n".join(_rows(d.dataset) for d in sorted(datasets, key=attrgetter("dataset")) if d.measured)
    return f"""\
CREATE OR REPLACE VIEW counterflow.recorded {{on_cluster}} AS
SELECT ts, interval_s, system, counted AS dataset, source, run, row_count
FROM counterflow.manifest FINAL
WHERE row_count > 0
UNION ALL
{counted}
COMMENT 'Intervals by system, dataset and source, each with its rows: as manifests count them, else counted.';

ALTER TABLE counterflow.recorded {{on_cluster}}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval. [s; gauge]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `dataset` 'Dataset of the rows.',
  COMMENT COLUMN `source` 'Format they were read from.',
  COMMENT COLUMN `run` 'Label of the run. [null: it has none]',
  COMMENT COLUMN `row_count` 'Rows of the interval. [rows; gauge]'"""


def _rows(name: str) -> str:
    return f"""\
SELECT ts, any(interval_s) AS interval_s, system, '{name}' AS dataset, source, any(run) AS run, count() AS row_count
FROM counterflow.{name} FINAL
WHERE (system, splitByChar('.', source)[1]) IN
(
  SELECT system, splitByChar('.', source)[1]
  FROM counterflow.system_dataset
  WHERE dataset = '{name}'
  GROUP BY ALL
  HAVING max(by_manifest) = 0
)
GROUP BY ts, system, source"""


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
    where = f" WHERE {counts.where}" if counts.where else ""
    return f"""\
SELECT '{name}' AS dataset, system, ts, sum(made) AS n, sum(published) AS row_count
FROM
(
  SELECT system, ts, row_count AS published, toUInt64(0) AS made
  FROM counterflow.manifest FINAL PREWHERE {_manifests(counts)}
  UNION ALL
  SELECT system, ts, toUInt64(0) AS published, coalesce(toUInt64({counts.rows}), 0) AS made
  FROM counterflow.{name} FINAL{where} GROUP BY system, ts
)
GROUP BY system, ts
HAVING n < row_count"""


def _manifests(counts: Counts) -> str:
    """Return the predicate that selects manifests; their `source` may also name a table, as `ibmi_tables.QAPMJOBMI`."""
    named = f"counted IN ({', '.join(repr(name) for name in counts.manifests)})"
    return f"{named} AND startsWith(source, '{counts.source}')" if counts.source else named

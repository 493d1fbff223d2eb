"""The view `recorded`: the intervals of every system, with their number of rows of each dataset."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from counterflow.schemas.definition import Dataset


def recorded_view(datasets: Iterable[Dataset]) -> str:
    """Return the view: the rows that manifests count, and those of formats that yield no manifests.

    `system_dataset` states which formats these are; where it names no system, the table is not read.
    """
    counted = "\nUNION ALL\n".join(_rows(d.dataset) for d in sorted(datasets, key=attrgetter("dataset")) if d.measured)
    return f"""\
CREATE OR REPLACE VIEW counterflow.recorded {{on_cluster}} AS
SELECT ts, interval_s, system, counted AS dataset, source, row_count
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
  COMMENT COLUMN `row_count` 'Rows of the interval. [rows; gauge]'"""


def _rows(name: str) -> str:
    return f"""\
SELECT ts, any(interval_s) AS interval_s, system, '{name}' AS dataset, source, count() AS row_count
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

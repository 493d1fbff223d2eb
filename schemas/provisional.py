"""The view `provisional`: results that are made of fewer input rows than their manifests count."""

from __future__ import annotations

from collections.abc import Iterable

from counterflow.schemas.definition import Counts, Dataset


def provisional_view(datasets: Iterable[Dataset]) -> str:
    """Return the view over every dataset with `counts`, by name.

    A manifest's `source` names the table, too, where a format reads several (`ibmi_tables.QAPMJOBMI`): sources are
    compared by their beginning.
    """
    found = sorted((d.dataset, d.counts) for d in datasets if d.counts)
    fed = ",\n      ".join(f"if({_manifests(counts)}, '{name}', '')" for name, counts in found)
    required = [
        f"(dataset != '{name}' OR sumIf(row_count, counted = '{counts.requires}') > 0)"
        for name, counts in found
        if counts.requires
    ]
    made = "\n  UNION ALL\n  ".join(_rows(name, counts) for name, counts in found)
    return f"""\
CREATE OR REPLACE VIEW counterflow.provisional {{on_cluster}} AS
SELECT dataset, system, ts, coalesce(result.n, 0) AS n, published AS row_count
FROM
(
  SELECT
    arrayJoin(arrayFilter(name -> name != '', [
      {fed}
    ])) AS dataset,
    system, ts, sum(row_count) AS published
  FROM counterflow.manifest FINAL
  GROUP BY dataset, system, ts
  {f"HAVING {' AND '.join(required)}" if required else ""}
) AS manifest
LEFT JOIN
(
  {made}
) AS result USING (dataset, system, ts)
WHERE n < row_count
COMMENT 'Results that are made of fewer input rows than their manifests count; n is 0 where there is no result yet.';

ALTER TABLE counterflow.provisional {{on_cluster}}
  COMMENT COLUMN `dataset` 'Dataset of the result.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `n` 'Input rows that the result is made of; 0 where there is no result yet. [rows; gauge]',
  COMMENT COLUMN `row_count` 'Input rows that were published, by their manifests. [rows; gauge]'"""


def _manifests(counts: Counts) -> str:
    named = f"counted IN ({', '.join(repr(name) for name in counts.manifests)})"
    return f"{named} AND startsWith(source, '{counts.source}')" if counts.source else named


def _rows(name: str, counts: Counts) -> str:
    where = f" WHERE {counts.where}" if counts.where else ""
    return (
        f"SELECT '{name}' AS dataset, system, ts, toUInt64({counts.rows}) AS n\n"
        f"  FROM counterflow.{name} FINAL{where} GROUP BY system, ts"
    )

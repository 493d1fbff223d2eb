"""Reads measured mixes of logical database I/O: what is stored, or JSON lines of a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from counterflow.analysis.studies.mirror import Mix
from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.base.errors import CounterflowError, why

Row = TypeVar("Row", bound=BaseModel)


def read_stored(client: ClickHouse, settings: Settings) -> list[Mix]:
    """Return the mixes of the parameters `systems`, `since`, `until` and `grouping`, and those of the partitions."""
    return [Mix.model_validate(row) for row in client.rows(_STORED, settings)]


_STORED = """
SELECT
  ts, interval_s, system, grouping, name, reads, read_for_update, inserts, other, commits, rollbacks, exposure_pct,
  modify_basis
FROM counterflow.io_mix FINAL
WHERE grouping IN ('partition', {grouping:String}) AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
ORDER BY system, grouping, name, ts
"""


def read_line(client: ClickHouse, settings: Settings) -> dict[str, dict[str, float]]:
    """Return what landed of the line between the nodes of each system: `km`, `line_gbits`, or one, or none of them."""
    rows = client.rows(_LINE, settings)
    return {row["system"]: {name: row[name] for name in ("km", "line_gbits") if row[name]} for row in rows}


_LINE = """
SELECT system, max(km) AS km, max(gbits) AS line_gbits
FROM (
  SELECT toString(system) AS system, argMax(toFloat64OrNull(config.value), ts) AS km, NULL AS gbits
  FROM counterflow.config FINAL
  WHERE (section, name) IN (('mirror', 'distance_km'), ('labels', 'mirror_distance_km'))
  GROUP BY system
  UNION ALL
  -- of the ports below the links of Db2 Mirror; where none is known, of the logical ports, if they agree
  SELECT
    toString(system), NULL,
    if(
      countIf(link_type != 'logical_port') > 0, argMaxIf(line_bits_s, ts, link_type != 'logical_port'),
      if(min(line_bits_s) = max(line_bits_s), max(line_bits_s), NULL)
    ) / 1e9
  FROM counterflow.link_load FINAL
  WHERE link_type IN ('nrg', 'rdma_link', 'logical_port') AND line_bits_s IS NOT NULL
  GROUP BY system
)
WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
GROUP BY system
"""


def read_lines(path: Path, row: type[Row]) -> Iterator[Row]:
    """Yield the rows of a file, one JSON object a line.

    Raises
    ------
    CounterflowError : names the line that is none, and what was expected; exit code 2.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise CounterflowError(f"{path}: {why(error)}", exit_code=2) from None
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield row.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            raise CounterflowError(
                f"{path}:{number}: {place}: {first['msg']}", hint="docs/whatif.md lists the names", exit_code=2
            ) from None


def is_read(system: str, ts: datetime, systems: Collection[str], begin: datetime | None, end: datetime | None) -> bool:
    """Return whether a row of a file is one that would be read of those stored; without a time there is no bound."""
    return (begin is None or ts > begin) and (end is None or ts <= end) and (not systems or system in systems)

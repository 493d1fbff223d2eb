"""Reads measured mixes of logical database I/O: what is stored, or JSON lines of a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from counterflow.analysis.studies.mirror import Mix
from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.base.errors import CounterflowError


def read_stored(client: ClickHouse, settings: Settings) -> list[Mix]:
    """Return the mixes of the parameters `systems`, `from`, `to` and `grouping`, and those of the partitions."""
    return [Mix.model_validate(row) for row in client.rows(_STORED, settings)]


_STORED = """
SELECT ts, interval_s, system, grouping, name, reads, read_for_update, inserts, other, commits, rollbacks, exposure_pct
FROM counterflow.io_mix FINAL
WHERE grouping IN ('partition', {grouping:String}) AND ts >= {from:DateTime64(3)} AND ts < {to:DateTime64(3)}
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
ORDER BY system, grouping, name, ts
"""


def read_file(path: Path) -> Iterator[Mix]:
    """Yield the mixes of a file, one JSON object a line.

    Raises
    ------
    CounterflowError : names the line that is none, and what was expected; exit code 2.
    """
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise CounterflowError(f"{path}: {error.strerror}", exit_code=2) from None
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield Mix.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            raise CounterflowError(
                f"{path}:{number}: {place}: {first['msg']}", hint="docs/whatif.md lists the names", exit_code=2
            ) from None


def is_wanted(mix: Mix, systems: Collection[str], begin: datetime | None, end: datetime | None, grouping: str) -> bool:
    """Return whether a mix is one that `read_stored` would return; without a time, the period has no bound."""
    is_within = (begin is None or mix.ts >= begin) and (end is None or mix.ts < end)
    return is_within and (not systems or mix.system in systems) and mix.grouping in ("partition", grouping)

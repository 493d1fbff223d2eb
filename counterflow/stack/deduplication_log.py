"""Rolls back inserts that ClickHouse's deduplication logs record as done though their parts never appeared.

A MergeTree table without replicas first logs the block of an insert, then renames its part into place. Killed between
the two, it would drop the retried insert as a duplicate, and the rows would be lost
(docs/decisions/0017-inserts-half-done.md). A log line is operation, part and block, separated by tabs; operation 2
removes a block.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_ADD, _DROP = "1", "2"
_TAIL = 64 * 1024
"""Bytes read from the end of a log: a thousand inserts. Only those in flight when the engine ended are half done."""
_PART = re.compile(r"([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?")
"""Partition, first and last block number, level, and the mutation, if any."""


class Block(NamedTuple):
    """A block of an insert: the part that was to hold it, and the id by which the insert is deduplicated."""

    part: str
    block: str


def take_back(data: Path) -> dict[Path, list[Block]]:
    """Remove every block that no part holds, in all tables of a stopped engine.

    `data` is the engine's `path`. Returns the removed blocks by the folder of their table.
    """
    return {
        logs.parent: absent for logs in sorted(data.glob("store/*/*/deduplication_logs")) if (absent := _mend(logs))
    }


def _mend(logs: Path) -> list[Block]:
    files = sorted(logs.glob("deduplication_log_*.txt"), key=_number)
    parts: dict[str, str] = {}
    for file in files[-2:]:  # the newest may be nearly empty
        for operation, part, block in _newest(file):
            if operation == _ADD:
                parts[block] = part
            else:
                parts.pop(block, None)
    held = _held(logs.parent) if parts else {}
    absent = [Block(part, block) for block, part in parts.items() if not _covered(part, held)]
    if absent:
        # In a new log: the last line of the newest may be truncated.
        more = logs / f"deduplication_log_{_number(files[-1]) + 1}.txt"
        try:
            more.write_text("".join(f"{_DROP}\t{part}\t{block}\n" for part, block in absent))
        except OSError:
            more.unlink(missing_ok=True)
            raise
    return absent


def _number(file: Path) -> int:
    return int(file.stem.rpartition("_")[2])


def _newest(file: Path) -> Iterator[list[str]]:
    """Yield the last records of a log, without lines truncated by a full disk or by `_TAIL`."""
    with file.open("rb") as log:
        log.seek(max(0, file.stat().st_size - _TAIL))
        lines = log.read().decode(errors="replace").splitlines(keepends=True)
    for line in lines:
        record = line.removesuffix("\n").split("\t")
        if line.endswith("\n") and len(record) == 3 and record[0] in (_ADD, _DROP):
            yield record


def _held(table: Path) -> dict[str, list[tuple[int, int]]]:
    """Return the first and last block number of the parts in a table's folder, by partition."""
    held = defaultdict(list)
    for entry in table.iterdir():
        if named := _PART.fullmatch(entry.name):
            held[named[1]].append((int(named[2]), int(named[3])))
    return held


def _covered(part: str, held: dict[str, list[tuple[int, int]]]) -> bool:
    """Return whether a part, or one it was merged into, exists. An unparsable name is left to the engine."""
    if not (named := _PART.fullmatch(part)):
        return True
    first, last = int(named[2]), int(named[3])
    return any(of <= first and last <= to for of, to in held.get(named[1], ()))

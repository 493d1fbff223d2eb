"""Inserts that ClickHouse's deduplication logs hold for done though their parts never appeared.

A MergeTree table without replicas writes down the block of an insert first and renames its part into place after that.
Killed between the two, it would take the repeated insert for one it has, and the rows would be nowhere
(docs/decisions/0017-inserts-half-done.md). A log is lines of operation, part and block, with tabs between; operation 2
takes a block back.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_ADD, _DROP = "1", "2"
_TAIL = 64 * 1024
"""Bytes read from the end of a log: a thousand inserts. Only those under way when the engine ended are half done."""
_PART = re.compile(r"([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?")
"""Partition, first and last block number, level, and the mutation if there was one."""


class Block(NamedTuple):
    """A block of an insert: the part that was to hold it, and what the insert is known again by."""

    part: str
    block: str


def take_back(data: Path) -> dict[Path, list[Block]]:
    """Take back every block that no part holds, in all tables of an engine that does not run.

    `data` is the engine's `path`. Returns the blocks by the folder of their table.
    """
    return {
        logs.parent: absent for logs in sorted(data.glob("store/*/*/deduplication_logs")) if (absent := _mend(logs))
    }


def _mend(logs: Path) -> list[Block]:
    files = sorted(logs.glob("deduplication_log_*.txt"), key=_number)
    parts: dict[str, str] = {}
    for file in files[-2:]:  # the newest may just have been begun
        for operation, part, block in _newest(file):
            if operation == _ADD:
                parts[block] = part
            else:
                parts.pop(block, None)
    held = _held(logs.parent) if parts else {}
    absent = [Block(part, block) for block, part in parts.items() if not _covered(part, held)]
    if absent:
        # A log of its own, after the newest: the last line of that one may be cut.
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
    """The last records of a log; what a full disk or the start of what is read has cut is none."""
    with file.open("rb") as log:
        log.seek(max(0, file.stat().st_size - _TAIL))
        lines = log.read().decode(errors="replace").splitlines(keepends=True)
    for line in lines:
        record = line.removesuffix("\n").split("\t")
        if line.endswith("\n") and len(record) == 3 and record[0] in (_ADD, _DROP):
            yield record


def _held(table: Path) -> dict[str, list[tuple[int, int]]]:
    """First and last block number of the parts in a table's folder, by partition."""
    held = defaultdict(list)
    for entry in table.iterdir():
        if named := _PART.fullmatch(entry.name):
            held[named[1]].append((int(named[2]), int(named[3])))
    return held


def _covered(part: str, held: dict[str, list[tuple[int, int]]]) -> bool:
    """Whether a part, or one it was merged into, is there. A name that is no part's is left to the engine."""
    if not (named := _PART.fullmatch(part)):
        return True
    first, last = int(named[2]), int(named[3])
    return any(of <= first and last <= to for of, to in held.get(named[1], ()))

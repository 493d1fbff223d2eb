"""QAPMJOBOS read together with QAPMJOBMI: rows of the same task in the same interval become one record.

Both files have their intervals in the same order, so one interval of QAPMJOBOS is all that is held. Its rows are read
by the same parser; what it said of an interval is taken when QAPMJOBMI comes to that interval.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from counterflow.collectors.records import Fields, Item, Position, Record, Reject, singly


class Unfinished(Exception):  # noqa: N818 - not an error of the program
    """The other file has not been written as far as this one yet."""


class Unclosed:
    """A stream that belongs to somebody else, who closes it."""

    def __init__(self, stream: BinaryIO) -> None:
        """Wrap the stream."""
        self.read, self.seek = stream.read, stream.seek

    def close(self) -> None:
        """Leave it open."""


class Beside:
    """The records of another file, interval by interval."""

    def __init__(self, items: Iterator[Item], position: dict[str, Any] | None, *, complete: bool) -> None:
        """Take what the parser of the other file yields from `position` on.

        `complete` means that its end is the end.
        """
        self._items = singly(items)
        self._complete = complete
        self._block: list[Record | Reject] | None = None
        self._ts: str | None = None
        self._behind = position
        self.position = position
        """Where the other file is to be resumed, as JSON: before the interval that was not taken yet."""

    def before(self, ts: str) -> Iterator[Record | Reject]:
        """Yield what intervals before `ts` hold: this file has no rows of them.

        Raises
        ------
        Unfinished : the other file ends before `ts` and is still written.
        """
        while self._read() and (self._ts is None or self._ts < ts):
            yield from self._take()

    def of(self, ts: str) -> list[Record | Reject]:
        """Return what the interval `ts` holds, after `before(ts)`."""
        return self._take() if self._read() and self._ts == ts else []

    def rest(self) -> Iterator[Record | Reject]:
        """Yield what is left."""
        while self._read():
            yield from self._take()

    def _take(self) -> list[Record | Reject]:
        block, self._block = self._block or [], None
        self.position = self._behind
        return block

    def _read(self) -> bool:
        """Read the next interval if none is held; return whether one is."""
        if self._block is not None:
            return True
        found: list[Record | Reject] = []
        for item in self._items:
            if isinstance(item, Position):
                self._behind = {"byte_offset": item.byte_offset, "line": item.line, "state": item.state}
                if found:
                    break
            else:
                found.append(item)
        else:
            if not self._complete:
                raise Unfinished
        self._ts = next((item.fields["ts"] for item in found if isinstance(item, Record)), None)
        if found:
            self._block = found
        return bool(found)


class Join:
    """One interval of the other file while the rows of this one come."""

    def __init__(self, items: list[Record | Reject]) -> None:
        """Keep the jobs of the interval by task, and the rest as it is."""
        self._jobs: dict[tuple[str | None, str | None], Fields] = {}
        self._others: list[Record | Reject] = []
        for item in items:
            if isinstance(item, Record) and item.dataset == "job":
                self._jobs[_key(item.fields)] = item.fields
            else:
                self._others.append(item)

    def complete(self, items: list[Record | Reject]) -> None:
        """Add the figures of the other file to records of jobs among the items."""
        for at, item in enumerate(items):
            if type(item) is Record and item[0] == "job" and (other := self._jobs.pop(_key(item[1]), None)):
                items[at] = Record("job", {**other, **item[1]})

    def rest(self) -> Iterator[Record | Reject]:
        """Yield the jobs that this file has no row of, and everything else."""
        for fields in self._jobs.values():
            yield Record("job", fields)
        for item in self._others:
            if isinstance(item, Record) and item.dataset == "manifest" and item.fields["counted"] == "job":
                item.fields["row_count"] = len(self._jobs)
            yield item
        self._jobs, self._others = {}, []


def _key(fields: Fields) -> tuple[str | None, str | None]:
    return fields.get("task"), fields.get("job_event")

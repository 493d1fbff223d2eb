"""QAPMJOBOS read together with QAPMJOBMI: rows of the same task in the same interval become one.

Both files have their intervals in the same order, so only one interval of QAPMJOBOS is held. The same parser reads its
rows; the items of an interval are taken when QAPMJOBMI reaches that interval.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO, TypeGuard

from counterflow.collectors.records import Item, Position, Record, Reject, Table, Unfinished

Items = list[Record | Table | Reject]


class Unclosed:
    def __init__(self, stream: BinaryIO) -> None:
        self.read, self.seek = stream.read, stream.seek

    def close(self) -> None: ...


class Beside:
    """The items of another file, interval by interval."""

    def __init__(self, items: Iterator[Item], position: dict[str, Any] | None, *, complete: bool) -> None:
        """Take the items that the parser of the other file yields from `position` on.

        `complete` means that nothing will follow its end.
        """
        self._items = items
        self._complete = complete
        self._block: Items | None = None
        self._ts: str | None = None
        self._behind = position
        self.position = position
        """Where to resume the other file, as JSON: before the first interval that was not taken yet."""

    def before(self, ts: str) -> Iterator[Record | Table | Reject]:
        """Yield the items of intervals before `ts`, of which this file has no rows.

        Raises
        ------
        Unfinished : the other file ends before `ts` and is still being written.
        """
        while self._read() and (self._ts is None or self._ts < ts):
            yield from self._take()

    def of(self, ts: str) -> Items:
        return self._take() if self._read() and self._ts == ts else []

    def rest(self) -> Iterator[Record | Table | Reject]:
        while self._read():
            yield from self._take()

    def _take(self) -> Items:
        block, self._block = self._block or [], None
        self.position = self._behind
        return block

    def _read(self) -> bool:
        """Read the next interval if none is held; return whether one is."""
        if self._block is not None:
            return True
        found: Items = []
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
        self._ts = interval_of(found)
        if found:
            self._block = found
        return bool(found)


class Join:
    """One interval of the other file, joined as the rows of this one arrive."""

    def __init__(self, items: Items) -> None:
        """Keep the jobs of the interval by task, and the rest as it is."""
        self._tables = [item for item in items if _has_jobs(item)]
        self._others = [item for item in items if not _has_jobs(item)]
        lengths = [table.shared["interval_s"] for table in self._tables if "interval_s" in table.shared]
        self._length = {"interval_s": lengths[0]} if len({*lengths}) == 1 else {}
        names = dict.fromkeys(name for table in self._tables for name in table.columns)
        self._columns = {name: [*chain(*(_column(table, name) for table in self._tables)), None] for name in names}
        self._places = {key: place for place, key in enumerate(chain(*map(_keys, self._tables)))}

    def complete(self, items: Items) -> None:
        """Add the figures of the other file to jobs among the items."""
        for at, item in enumerate(items):
            if _has_jobs(item):
                items[at] = self._completed(item)

    def rest(self) -> Iterator[Record | Table | Reject]:
        """Yield the jobs of which this file has no row, and all other items."""
        left, begin = sorted(self._places.values()), 0
        for table in self._tables:
            end = begin + table.rows
            if places := left[bisect_left(left, begin) : bisect_left(left, end)]:
                columns = {name: [values[place] for place in places] for name, values in self._columns.items()}
                yield Table("job", table.shared, columns)
            begin = end
        for item in self._others:
            if isinstance(item, Record) and item.dataset == "manifest" and item.fields["counted"] == "job":
                item.fields["row_count"] = len(left)
            yield item

    def _completed(self, table: Table) -> Table:
        places = [self._places.pop(key, -1) for key in _keys(table)]  # the last value of each column is None
        columns = dict(table.columns)
        for name, values in self._columns.items():
            found = [values[place] for place in places]
            own = columns.get(name)
            columns[name] = found if own is None else [b if a is None else a for a, b in zip(own, found, strict=True)]
        return Table("job", {**self._length, **table.shared}, columns)


def interval_of(items: Iterable[Record | Table | Reject]) -> str | None:
    """Return the time of the first row among the items."""
    for item in items:
        if not isinstance(item, Reject):
            found: str = (item.shared if isinstance(item, Table) else item.fields)["ts"]
            return found
    return None


def _has_jobs(item: Record | Table | Reject) -> TypeGuard[Table]:
    return isinstance(item, Table) and item.dataset == "job"


def _keys(table: Table) -> Iterator[tuple[str | None, str | None]]:
    return zip(_column(table, "task"), _column(table, "job_event"), strict=True)


def _column(table: Table, name: str) -> Sequence[Any]:
    return table.columns.get(name) or [None] * table.rows

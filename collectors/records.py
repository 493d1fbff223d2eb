"""The items that a format yields, in the order of its input: records, tables of records, rejects and positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol

Fields = dict[str, Any]


class Reason(StrEnum):
    """Why a line, a field or a file was refused, repaired or noted: the closed list behind `quality.reason`."""

    UNREADABLE = "unreadable"
    NOT_THIS_FORMAT = "not_this_format"
    EMPTY_FILE = "empty_file"
    CUT_FILE = "cut_file"
    CUT_LINE = "cut_line"
    LINE_TOO_LONG = "line_too_long"
    WRONG_ENCODING = "wrong_encoding"
    UNKNOWN_LINE = "unknown_line"
    LOST_TAG = "lost_tag"
    NO_HEADER = "no_header"
    BAD_HEADER = "bad_header"
    FIELD_COUNT = "field_count"
    COLUMN_MISSING = "column_missing"
    NOT_A_NUMBER = "not_a_number"
    OUT_OF_RANGE = "out_of_range"
    DUPLICATE_ROW = "duplicate_row"
    REPEATED_BLOCK = "repeated_block"
    LATE_ROW = "late_row"
    STAMP_MISSING = "stamp_missing"
    STAMP_INVALID = "stamp_invalid"
    EMPTY_SNAPSHOT = "empty_snapshot"
    SAMPLE_MISSING = "sample_missing"
    NEGATIVE_DELTA = "negative_delta"
    CLOCK_CHANGE = "clock_change"
    RESTARTED = "restarted"
    RECORDER_MESSAGE = "recorder_message"
    RECORDER_DEFECT = "recorder_defect"
    INFERRED = "inferred"
    READ_WITH_ANOTHER = "read_with_another"
    INVALID_ENTRY = "invalid_entry"
    SCHEMA = "schema"


class Record(NamedTuple):
    """One row of a dataset, without the members that only the agent knows (agent_id, seq, collected_at, run).

    `fields` holds `ts` (ISO 8601 UTC with `Z`, interval end), `interval_s`, `system`, `source`, `boot_id` and the
    dataset's columns; a null is left out. The receiver may add to the mapping. `line` is where it was read, 0 where the
    format does not know it.
    """

    dataset: str
    fields: Fields
    line: int = 0

    @property
    def rows(self) -> int:
        """Number of rows, always 1; a `Table` has the same property."""
        return 1

    def records(self) -> Iterator[Record]:
        yield self


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of one dataset, system and instant, as columns: what a format yields where its input has columns.

    `shared` holds the envelope members that all rows have in common. `columns` has an array of equal length for each
    column, with None where a value is missing. An array that stays the same from instant to instant is one tuple,
    so that it is checked and encoded once; the receiver changes none. `line` is that of a record.
    """

    dataset: str
    shared: Fields
    columns: Mapping[str, Sequence[Any]]
    line: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError where columns are not equally long."""
        if len({len(values) for values in self.columns.values()}) > 1:
            raise ValueError(f"the columns of a table of `{self.dataset}` are not equally long")

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def records(self) -> Iterator[Record]:
        rows = [self.shared.copy() for _ in range(self.rows)]
        for name, values in self.columns.items():
            for row, value in zip(rows, values, strict=True):
                if value is not None:
                    row[name] = value
        for row in rows:
            yield Record(self.dataset, row)


@dataclass(slots=True)
class Reject:
    """One anomaly: its place, its reason and how much of the line was kept.

    `raw` holds the refused bytes (empty where nothing was refused); `line` counts from 1, 0 is the file itself;
    `ts` is the time of the snapshot in which it occurred, where that is known.
    """

    reason: Reason
    detail: str
    kept: Literal["all", "part", "none"]
    line: int = 0
    byte_offset: int = 0
    section: str | None = None
    snapshot: str | None = None
    system: str | None = None
    ts: str | None = None
    raw: bytes = b""


@dataclass(slots=True)
class Position:
    """Everything before `byte_offset` has been yielded; a parse resumed here yields the rest and nothing twice.

    `state` is what the format needs to resume: JSON values, small enough to be written with every commit.
    """

    byte_offset: int
    line: int
    state: dict[str, Any] = field(default_factory=dict)


class Neighbour(NamedTuple):
    """A file beside the input; `read_alone` means that it was read without the input, which was not there yet."""

    stream: BinaryIO
    read_alone: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What a format needs and the input does not contain.

    `file` names the input in rejects. `zone` is the time zone of its local times. `system` overrides the system name
    of the input. `date_order` (`ymd`, `mdy`, `dmy`) is the order of its dates where their notation leaves it open.
    `at` is the time of an input that carries none: of a listing, or of the beginning of a run; without an offset it is
    local in `zone`. `complete` is true where the end of the stream is the end of the data: the last snapshot is then
    whole; otherwise it is left for the next call. `columns` maps columns of datasets to the columns of the input that
    fill them, as the site configures. `beside(own, other)` opens the file whose name has `other` where the name of the
    input has `own`, and returns None where there is no such file.
    """

    file: str
    zone: tzinfo
    system: str | None = None
    complete: bool = True
    date_order: str | None = None
    at: datetime | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    beside: Callable[[str, str], Neighbour | None] | None = None

    @property
    def given_at(self) -> datetime | None:
        """`at` as an instant in UTC."""
        if self.at is None:
            return None
        return (self.at if self.at.tzinfo else self.at.replace(tzinfo=self.zone)).astimezone(UTC)


Single = Record | Reject | Position
Item = Single | Table


def placed(item: Item, line: int, offset: int) -> Item:
    """Return an item with the line and the byte at which it was read."""
    if isinstance(item, Record):
        return item._replace(line=line)
    if isinstance(item, Table):
        return replace(item, line=line)
    if isinstance(item, Reject):
        item.line, item.byte_offset = line, offset
    return item


def singly(items: Iterable[Item]) -> Iterator[Single]:
    """Yield the items, with each table split into records."""
    for item in items:
        if isinstance(item, Table):
            yield from item.records()
        else:
            yield item


class Unusable(ValueError):  # noqa: N818 - not an error of the program
    """A document, a sample or another part of an input is refused as a whole, for `reason`."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class Unfinished(Exception):  # noqa: N818 - not an error of the program
    """What an item holds is known once the rest of its file, or of the file beside it, is written."""


def resumable(items: Iterable[Item], complete: bool = False) -> Iterator[Item]:
    """Hold items back until the `Position` that covers them.

    Those after the last one, also where `items` ends by `Unfinished`, are left for the next reading, unless the file is
    `complete`.
    """
    held: list[Item] = []
    try:
        for item in items:
            held.append(item)
            if type(item) is Position:
                yield from held
                held.clear()
    except Unfinished:
        return
    if complete:
        yield from held


class Format(Protocol):
    """A format: the functions of one package under `collectors/formats/`, which has its name."""

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with `head` (up to 64 KiB) is of this format."""
        ...

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield records or tables of them, and rejects, in file order; a `Position` wherever the input may be resumed.

        `stream` is seekable and may return short reads; parsing starts at `position`, or at the beginning. Never
        raises on data, never guesses a value; memory is bounded by one snapshot and the longest accepted line.

        A format that knows how many rows an interval has also yields a record of the dataset `manifest` for each
        dataset and interval; without it, missing rows cannot be reported.
        """
        ...

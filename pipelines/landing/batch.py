"""Batches as values: ranges of offsets, deduplication tokens, halving, and the test for a valid message. No I/O."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple, Protocol, Self

import msgspec
import orjson

from counterflow.schemas import frame as frames
from counterflow.schemas.frame import Contract, Malformed


class Message(Protocol):
    """The part of `confluent_kafka.Message` that landing uses."""

    def offset(self) -> int:
        """Return the offset in the partition."""
        ...

    def value(self) -> bytes | None:
        """Return the bytes; None is a tombstone."""
        ...

    def timestamp(self) -> tuple[int, int]:
        """Return the type of the timestamp and milliseconds since 1970, UTC."""
        ...

    def __len__(self) -> int:
        """Return the length of the value, bytes."""
        ...


class Range(NamedTuple):
    """Offsets from `first` to `last`, both included; transaction markers and aborted records may lie among them."""

    first: int
    last: int

    def __str__(self) -> str:
        """Format as in tokens and commit metadata."""
        return f"{self.first}-{self.last}"

    @classmethod
    def parse(cls, metadata: str | None) -> Self | None:
        """Parse the output of `str`; None for anything else."""
        first, dash, last = (metadata or "").partition("-")
        if not (dash and first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
            return None
        return cls(int(first), int(last))


@dataclass(frozen=True, slots=True)
class Piece:
    """The rows from `begin` to `end` of a message's frame, as a message of their own."""

    whole: Message
    begin: int
    end: int
    content: bytes

    def offset(self) -> int:
        """Return the offset of the whole message."""
        return self.whole.offset()

    def value(self) -> bytes:
        """Return the frame of these rows."""
        return self.content

    def timestamp(self) -> tuple[int, int]:
        """Return the timestamp of the whole message."""
        return self.whole.timestamp()

    def __len__(self) -> int:
        """Return the length of the frame, bytes."""
        return len(self.content)

    @property
    def rows(self) -> Range:
        """The rows within the frame of the message, counted from 1."""
        return Range(self.begin + 1, self.end)


class Refusal(NamedTuple):
    """A rejected message, with the reason in one word, the error in a sentence, and the number of its rows."""

    message: Message
    reason: str
    error: str
    rows: int = 1

    @property
    def place(self) -> str:
        """The offset of the message, then the rows of its frame where these are not all: `1234` or `1234.7-7`."""
        offset = self.message.offset()
        return f"{offset}.{self.message.rows}" if isinstance(self.message, Piece) else str(offset)


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of a range of one topic-partition, in order.

    `topic_id` is Kafka's unique id of the topic. Offsets of a recreated topic begin again: without the id, ClickHouse
    would take its rows for duplicates of the old topic's.
    """

    topic: str
    topic_id: str
    partition: int
    range: Range
    messages: Sequence[Message]

    @property
    def token(self) -> str:
        """`insert_deduplication_token`: `topic:partition:first-last@topic_id`, whichever messages it has."""
        return f"{self.topic}:{self.partition}:{self.range}@{self.topic_id}"

    @property
    def values(self) -> list[bytes]:
        """The bytes of each message."""
        return [message.value() for message in self.messages]  # type: ignore[misc]  # sifted

    @property
    def body(self) -> list[bytes]:
        """The messages as JSONEachRow, in pieces."""
        pieces: list[list[bytes]] = []
        size = _PIECE
        for value in self.values:
            if size >= _PIECE:
                pieces.append([])
                size = 0
            pieces[-1].append(value)
            size += len(value)
        return [b"\n".join([*piece, b""]) for piece in pieces]

    def of(self, messages: Sequence[Message]) -> Batch:
        """Return the batch of some of the messages, with the same range and token."""
        return replace(self, messages=messages)

    def halves(self) -> tuple[Batch, Batch]:
        """Split the messages in the middle, or the rows of the only one."""
        if len(self.messages) == 1:
            first, second = _halves(self.messages[0])
            return self.of((first,)), self.of((second,))
        middle = len(self.messages) // 2
        return self.of(self.messages[:middle]), self.of(self.messages[middle:])


def _halves(message: Message) -> tuple[Piece, Piece]:
    """Split a message that is a frame of at least two rows."""
    frame = orjson.loads(message.value() or b"")
    columns = frozenset(name for name, value in frame.items() if isinstance(value, list))
    whole, begin = (message.whole, message.begin) if isinstance(message, Piece) else (message, 0)
    rows = frame["frame_rows"]
    cuts = (0, rows // 2), (rows // 2, rows)
    first, second = (
        Piece(whole, begin + at, begin + end, orjson.dumps(frames.piece(frame, at, end, columns))) for at, end in cuts
    )
    return first, second


class Sifted(NamedTuple):
    """The messages of a batch that can be inserted, the number of rows of each, and the refused messages."""

    batch: Batch
    rows: list[int]
    refused: list[Refusal]


Rows = Callable[[bytes], int]
"""Returns the number of rows of a message; raises one of `UNREADABLE` where it is not valid for its topic."""


def sift(batch: Batch, count: Rows) -> Sifted:
    """Separate the messages that are valid for the topic from all others.

    ClickHouse would accept an array, two objects on one line or NaN as rows, and two adjacent broken messages as one
    row. So every message is parsed once here, before its bytes are joined with others.
    """
    readable: list[Message] = []
    rows: list[int] = []
    refused: list[Refusal] = []
    for message in batch.messages:
        value = message.value()
        try:
            found = count(value)  # type: ignore[arg-type]  # a TypeError for None
        except UNREADABLE as error:
            refused.append(_refusal(message, error))
            continue
        readable.append(message)
        rows.append(found)
    return Sifted(replace(batch, messages=readable), rows, refused)


UNREADABLE = (Malformed, msgspec.DecodeError, orjson.JSONDecodeError, UnicodeDecodeError, RecursionError, TypeError)


class _Object(msgspec.Struct):
    """Any JSON object: undeclared members are checked and skipped, at a third of the cost of loading."""


_skip = msgspec.json.Decoder(_Object).decode
_PIECE = 1_000_000  # bytes


def one_row(value: bytes) -> int:
    """Return 1 for one JSON object."""
    _skip(value)
    if not value.isascii():
        value.decode()
    return 1


def rows_of_frame(contract: Contract) -> Rows:
    """Return the function that counts the rows of a frame and checks its shape."""

    def count(value: bytes) -> int:
        frame = orjson.loads(value)
        if type(frame) is not dict:
            raise Malformed("not_an_object", "expected one JSON object")
        return contract.rows(frame)

    return count


def _refusal(message: Message, error: Exception) -> Refusal:
    """Return the refusal of a message that is not valid for its topic."""
    if isinstance(error, Malformed):
        return Refusal(message, error.reason, str(error), error.rows)
    if not len(message):
        return Refusal(message, "no_value", "expected one JSON object, the message has no value")
    try:
        value = orjson.loads(message.value())  # type: ignore[arg-type]  # None is rejected like any other non-JSON
    except orjson.JSONDecodeError as why:
        return Refusal(message, "not_json", f"expected one JSON object: {why}")
    reason = "not_json" if type(value) is dict else "not_an_object"
    return Refusal(
        message, reason, f"expected one JSON object: {error}" if reason == "not_json" else "expected one JSON object"
    )


class Limits(NamedTuple):
    """When a batch is due: at so many messages or bytes, or so long after the one before, whichever comes first.

    So messages after a quiet moment are inserted at once, and a partition makes at most one small insert a second. The
    bytes bound what the engine holds: frames that leave out most columns of a wide table have many rows.
    """

    messages: int = 100_000
    size: int = 16_000_000
    pause_s: float = 1.0


def fill(messages: Sequence[Message], limits: Limits) -> int:
    """Count the leading messages that fit into one batch, at least one."""
    sizes = accumulate(map(len, messages[: limits.messages]))
    return max(1, bisect_right(list(sizes), limits.size))

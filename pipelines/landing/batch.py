"""Batches as values: ranges of offsets, deduplication tokens, halving, and the test for a valid row. No I/O."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple, Protocol, Self

import msgspec
import orjson


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


class Refusal(NamedTuple):
    """A rejected message, with the reason in one word and the error in a sentence."""

    message: Message
    reason: str
    error: str


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages of a range of one topic-partition, in order.

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
        """`insert_deduplication_token`: `topic:partition:first-last@topic_id`."""
        return f"{self.topic}:{self.partition}:{self.range}@{self.topic_id}"

    @property
    def body(self) -> list[bytes]:
        """The messages as JSONEachRow, in pieces."""
        values: list[bytes] = [message.value() for message in self.messages]  # type: ignore[misc]  # sifted
        return [b"\n".join([*values[at : at + _PIECE], b""]) for at in range(0, len(values), _PIECE)]

    def halves(self) -> tuple[Batch, Batch]:
        """Split a batch of at least two messages in the middle, deterministically: the halves tile its range."""
        middle = len(self.messages) // 2
        cut = self.messages[middle - 1].offset()
        return (
            replace(self, range=Range(self.range.first, cut), messages=self.messages[:middle]),
            replace(self, range=Range(cut + 1, self.range.last), messages=self.messages[middle:]),
        )


def sift(batch: Batch) -> tuple[Batch, list[Refusal]]:
    """Separate the messages that are one JSON object each from all others.

    ClickHouse would accept an array, two objects on one line or NaN as rows, and two adjacent broken messages as one
    row. So every message is parsed once here, before its bytes are joined with others.
    """
    readable: list[Message] = []
    refused: list[Refusal] = []
    for message in batch.messages:
        value = message.value()
        try:
            _skip(value)  # type: ignore[arg-type]  # a TypeError for None
            if not value.isascii():  # type: ignore[union-attr]
                value.decode()  # type: ignore[union-attr]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, TypeError):
            if refusal := _refusal(message):
                refused.append(refusal)
                continue
        readable.append(message)
    return replace(batch, messages=readable), refused


class _Object(msgspec.Struct):
    """Any JSON object: undeclared members are checked and skipped, at a third of the cost of loading."""


_skip = msgspec.json.Decoder(_Object).decode
_PIECE = 2_000  # messages


def _refusal(message: Message) -> Refusal | None:
    """Return why a message is not one JSON object; None if it is, after all."""
    try:
        value = orjson.loads(message.value())  # type: ignore[arg-type]  # None is rejected like any other non-JSON
    except orjson.JSONDecodeError as error:
        if len(message):
            return Refusal(message, "not_json", f"expected one JSON object: {error}")
        return Refusal(message, "no_value", "expected one JSON object, the message has no value")
    return None if type(value) is dict else Refusal(message, "not_an_object", "expected one JSON object")


class Limits(NamedTuple):
    """When a batch is due: at so many rows or bytes, or seconds after its first message, whichever comes first."""

    rows: int = 100_000
    size: int = 48_000_000
    linger_s: float = 1.0


def fill(messages: Sequence[Message], limits: Limits) -> int:
    """Count the leading messages that fit into one batch, at least one."""
    sizes = accumulate(map(len, messages[: limits.rows]))
    return max(1, bisect_right(list(sizes), limits.size))

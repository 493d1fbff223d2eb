"""Messages as values: the test for a valid one, bodies of inserts, halving, and what waits to be inserted. No I/O."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Message

from counterflow.schemas import frame as frames
from counterflow.schemas.frame import Contract, Malformed


class Piece(Message):
    """The rows from `begin` to `end` of a message's frame, as a message of their own."""

    def __init__(self, whole: Message, begin: int, end: int, content: bytes) -> None:
        place = whole.topic(), whole.partition(), whole.offset()
        super().__init__(*place, value=content, timestamp=whole.timestamp())
        self.begin, self.end = begin, end


class Refusal(NamedTuple):
    """A rejected message, with the reason in one word, the error in a sentence, and the number of its rows."""

    message: Message
    reason: str
    error: str
    rows: int = 1

    @property
    def origin(self) -> str:
        """`topic:partition:offset`, then the rows of its frame where these are not all: `topic:0:1234.7-7`."""
        message = self.message
        rows = f".{message.begin + 1}-{message.end}" if isinstance(message, Piece) else ""
        return f"{message.topic()}:{message.partition()}:{message.offset()}{rows}"


_PIECE = 1_000_000  # bytes


def body(messages: Sequence[Message]) -> list[bytes]:
    pieces: list[list[bytes]] = []
    size = _PIECE
    for message in messages:
        value = message.value() or b""
        if size >= _PIECE:
            pieces.append([])
            size = 0
        pieces[-1].append(value)
        size += len(value)
    return [b"\n".join([*piece, b""]) for piece in pieces]


def halves(messages: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """Split messages in the middle, or the rows of the only one, which is a frame of at least two."""
    if len(messages) > 1:
        middle = len(messages) // 2
        return messages[:middle], messages[middle:]
    [message] = messages
    frame = orjson.loads(message.value() or b"")
    columns = frozenset(name for name, value in frame.items() if isinstance(value, list))
    begin = message.begin if isinstance(message, Piece) else 0
    rows = frame["frame_rows"]
    cuts = (0, rows // 2), (rows // 2, rows)
    first, second = (
        Piece(message, begin + at, begin + end, orjson.dumps(frames.piece(frame, at, end, columns))) for at, end in cuts
    )
    return [first], [second]


class Sifted(NamedTuple):
    """The messages that can be inserted, the number of their rows, and the refused messages."""

    messages: list[Message]
    rows: int
    refused: list[Refusal]


Rows = Callable[[bytes], int]
"""Returns the number of rows of a message; raises `Malformed` where it is not valid for its topic."""


def sift(messages: Sequence[Message], count: Rows) -> Sifted:
    """Separate the messages that are valid for their topic from all others.

    ClickHouse would accept an array, two objects on one line or NaN as rows, and two adjacent broken messages as one
    row. So every message is parsed once here, before its bytes are joined with others.
    """
    readable: list[Message] = []
    rows = 0
    refused: list[Refusal] = []
    for message in messages:
        try:
            rows += count(message.value() or b"")
            readable.append(message)
        except Malformed as error:
            refused.append(Refusal(message, error.reason, str(error), error.rows))
    return Sifted(readable, rows, refused)


def one_row(value: bytes) -> int:
    _object(value)
    return 1


def rows_of_frame(contract: Contract) -> Rows:
    """Return the function that counts the rows of a frame and checks its shape."""
    return lambda value: contract.rows(_object(value))


def _object(value: bytes) -> dict[str, Any]:
    if not value:
        raise Malformed("no_value", "expected one JSON object, the message has no value")
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise Malformed("not_json", f"expected one JSON object: {error}") from None
    if type(found) is not dict:
        raise Malformed("not_an_object", "expected one JSON object")
    return found


class Limits(NamedTuple):
    """When a batch is due: at so many messages or bytes, or so long after the one before, whichever comes first.

    So messages after a quiet moment are inserted at once, and a topic makes at most one small insert a second. The
    bytes bound what the engine holds: frames that leave out most columns of a wide table have many rows.
    """

    messages: int = 100_000
    size: int = 16_000_000
    pause_s: float = 1.0


def fill(messages: Sequence[Message], limits: Limits) -> int:
    """Count the leading messages that fit into one batch, at least one."""
    sizes = accumulate(map(len, messages[: limits.messages]))
    return max(1, bisect_right(list(sizes), limits.size))


Key = tuple[str, int]
"""Topic and number of a partition."""


class Collected:
    """Messages by topic, in the order of each partition; `ends` has the offset behind them, by partition."""

    def __init__(self) -> None:
        self.messages: dict[str, list[Message]] = {}
        self.ends: dict[Key, int] = {}
        self.size = 0
        """Bytes of the messages."""

    def add(self, topic: str, messages: Sequence[Message]) -> None:
        self.messages.setdefault(topic, []).extend(messages)
        for key, end in _ends(topic, messages).items():
            self.end_at(key, end)
        self.size += sum(map(len, messages))

    def end_at(self, key: Key, end: int) -> None:
        """Note that what was read of a partition ends there: markers of transactions follow its last message."""
        self.ends[key] = max(end, self.ends.get(key, 0))

    def drop(self, topic: str) -> None:
        """Forget what was read of a topic."""
        self.size -= sum(map(len, self.messages.pop(topic, ())))
        self.ends = {key: end for key, end in self.ends.items() if key[0] != topic}

    def give_up(self, partitions: Container[Key]) -> None:
        """Forget where these partitions end: what was read of them may land, and another lander commits it."""
        self.ends = {key: end for key, end in self.ends.items() if key not in partitions}

    def batches(self, limits: Limits) -> Iterator[tuple[str, list[Message], dict[Key, int]]]:
        """Yield the topic, the messages of a batch, in order, and the offsets behind them.

        A topic of which only the end of partitions was read, behind markers of transactions, has one without messages.
        """
        for topic in dict.fromkeys([*self.messages, *(topic for topic, _ in self.ends)]):
            left = self.messages.get(topic, [])
            while len(left) > (count := fill(left, limits)):
                batch, left = left[:count], left[count:]
                yield topic, batch, _ends(topic, batch)
            yield topic, left, {key: end for key, end in self.ends.items() if key[0] == topic}


def _ends(topic: str, messages: Sequence[Message]) -> dict[Key, int]:
    """Return the offsets behind messages of a topic, by partition."""
    return {(topic, message.partition() or 0): (message.offset() or 0) + 1 for message in messages}

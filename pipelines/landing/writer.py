"""Checks messages, inserts them, finds the rows that ClickHouse rejects, and keeps what is rejected as dead letters."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Message

from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings
from counterflow.pipelines.landing import deadletter
from counterflow.pipelines.landing.deadletter import Piece, Refusal
from counterflow.schemas import frame as frames
from counterflow.schemas.clickhouse_insert import insert, insert_rows
from counterflow.schemas.definition import datasets
from counterflow.schemas.frame import Contract, Malformed, contract

SETTINGS: Settings = {
    "async_insert": 0,
    "insert_deduplicate": 0,  # a replicated table would keep an equal block from its views, and so from the ledger
    "materialized_views_ignore_errors": 0,
    "date_time_input_format": "best_effort",
    "input_format_skip_unknown_fields": 1,
    "input_format_null_as_default": 1,
    "input_format_parallel_parsing": 0,  # a quarter less CPU at these sizes
    "optimize_on_insert": 0,  # a fifth less CPU; a later merge collapses what the insert would have
    "max_insert_block_size": 10_000_000,  # with the next two: one POST is one block
    "min_insert_block_size_rows": 10_000_000,
    "min_insert_block_size_bytes": 0,
    "max_partitions_per_insert_block": 0,
}
"""Every setting that an insert relies on; defaults differ between versions (ClickHouse: system.settings_changes)."""

POISON = frozenset({6, 25, 26, 27, 38, 41, 53, 69, 70, 72, 117, 130, 131, 190, 321, 349, 376, 407, 441, 467, 469})
"""Exception codes caused by rows, which halving isolates. Any other code is the server's: the batch is retried."""

_PIECE = 1_000_000  # bytes


class Abandoned(Exception):  # noqa: N818 - no error
    """Landing stopped between two inserts; the messages are read and landed again."""


class LandedBatch(NamedTuple):
    """Outcome of a batch: rows inserted, bytes of its messages, and what was rejected."""

    rows: int
    size: int
    refused: list[Refusal]


class Writer:
    """Lands messages; thread-safe.

    Parameters
    ----------
    client : a connection whose user needs INSERT and SELECT on the tables.
    tables : table by topic.
    abandoned : while it is set, landing raises `Abandoned` before its next insert.
    """

    def __init__(self, client: ClickHouse, tables: Mapping[str, str], abandoned: threading.Event | None = None) -> None:
        self._client = client
        self._tables = tables
        self._rows = {topic: _counting(table) for topic, table in tables.items()}
        self._abandoned = abandoned or threading.Event()

    def land(self, topic: str, messages: Sequence[Message]) -> LandedBatch:
        """Insert the messages of a topic, and keep what is refused as dead letters.

        Repeating it after an exception or a kill changes nothing that a query sees: rows and dead letters replace
        those of the same natural key.

        Raises
        ------
        ClickHouseError : the server refuses for a reason that is not in the rows.
        httpx.TransportError : no answer.
        Abandoned : `abandoned` was set.
        """
        readable, rows, refused = sift(messages, self._rows[topic])
        whole = rows + sum(refusal.rows for refusal in refused)
        if readable:
            refused += self._insert(topic, readable)
        self._keep_refused(refused)
        return LandedBatch(whole - sum(refusal.rows for refusal in refused), sum(map(len, messages)), refused)

    def _insert(self, topic: str, messages: Sequence[Message]) -> list[Refusal]:
        """Insert messages; where the server refuses them, halve them down to the bad rows, and return these."""
        if self._abandoned.is_set():
            raise Abandoned
        try:
            self._client.post(insert(self._tables[topic]), body(messages), SETTINGS)
        except ClickHouseError as error:
            if not _is_poison(error):
                raise
            if sum(self._rows[topic](message.value() or b"") for message in messages) == 1:
                return [Refusal(messages[0], _name(error), str(error))]
        else:
            return []
        first, second = halves(messages)
        return self._insert(topic, first) + self._insert(topic, second)

    def _keep_refused(self, refused: Sequence[Refusal]) -> None:
        if refused:
            rows = b"\n".join(orjson.dumps(deadletter.row(refusal)) for refusal in refused)
            self._client.post(insert_rows("deadletter"), [rows], SETTINGS)


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


def _counting(table: str) -> Rows:
    return rows_of_frame(contract(table)) if datasets()[table].role == "counter" else one_row


def _is_poison(error: ClickHouseError) -> bool:
    # When a view fails, the table may have the rows already: only a repeated insert completes the view's target.
    return error.code in POISON and "while pushing to view" not in str(error)


def _name(error: ClickHouseError) -> str:
    names = re.findall(r"\(([A-Z][A-Z_]+)\)", str(error))
    return names[-1] if names else str(error.code)

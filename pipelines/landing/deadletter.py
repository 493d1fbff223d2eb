"""A rejected message, and the row of the dataset `deadletter` that it becomes."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Message

from counterflow.schemas.frame import MOST_ROWS
from counterflow.schemas.values import members

PAYLOAD_LIMIT = 4_194_304
"""Bytes of a rejected message that are kept: all that a topic accepts, so that every letter can be replayed."""

UNKNOWN = "unknown"
"""Value of a missing `system`, `source` or `agent_id`; `seq` is then 0, outside every account."""

_CARRIED = ("system", "source", "agent_id", "seq", "ts", "collected_at", "interval_s", "boot_id", "run")


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


def row(refusal: Refusal) -> dict[str, Any]:
    """Return the row: the payload's envelope, as far as it is readable, and the bytes.

    It depends on the message alone, so a message that is refused again has the same natural key. An unreadable time
    becomes the time at which Kafka stored the message, any other field `unknown`. Agent and `seq` are those of the
    rejected rows, so the loss count covers this table like any other; where either is unreadable, both are dropped.
    """
    message = refusal.message
    payload = message.value() or b""
    stored = _stored_at(message)
    carried = _envelope(payload)
    if "agent_id" not in carried or "seq" not in carried:
        carried |= {"agent_id": UNKNOWN, "seq": 0}
        carried.pop("payload_rows", None)
    return {
        "system": UNKNOWN,
        "source": UNKNOWN,
        "ts": stored,
        "collected_at": stored,
        **carried,
        "stage": "land",
        "origin": refusal.origin,
        "reason": refusal.reason,
        "error": refusal.error,
        "payload_base64": base64.b64encode(payload[:PAYLOAD_LIMIT]).decode(),
        "payload_bytes": len(payload),
    }


def _envelope(payload: bytes) -> dict[str, Any]:
    try:
        record = orjson.loads(payload)
    except orjson.JSONDecodeError:
        return {}
    if not isinstance(record, dict):
        return {}
    checks = members()
    carried = {
        name: record[name]
        for name in _CARRIED
        if record.get(name) is not None and not checks[name].mistake([record[name]])
    }
    rows = record.get("frame_rows")
    return {**carried, "payload_rows": rows} if type(rows) is int and 1 <= rows <= MOST_ROWS else carried


def _stored_at(message: Message) -> str:
    """Return when Kafka stored the message, or the nearest time that the tables accept."""
    milliseconds = min(max(_FIRST_MS, message.timestamp()[1]), _LAST_MS)
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_FIRST_MS, _LAST_MS = 946_684_800_000, 10_413_791_999_000  # the years 2000 to 2299

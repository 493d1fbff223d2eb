"""Input as it comes through a pipe, and what a format made of it."""

from __future__ import annotations

import io

import orjson

from counterflow.collectors.records import Item, Position


class Trickle(io.BytesIO):
    """A stream whose reads return any number of bytes, as those of a pipe do."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(content)
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._size)


def found(items: list[Item]) -> list[Item]:
    """Return records and rejects, without the positions among them."""
    return [item for item in items if not isinstance(item, Position)]


def newest_position(items: list[Item]) -> Position | None:
    """Return the last position among `items`, as it comes back from a checkpoint."""
    position = next((item for item in reversed(items) if isinstance(item, Position)), None)
    return Position(**orjson.loads(orjson.dumps(position))) if position else None

"""Reads a file as formats do, item by item."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import Path

from counterflow.collectors.reading import read_each
from counterflow.collectors.records import Single, singly


def read_file(
    path: Path, zone: tzinfo, system: str | None = None, date_order: str | None = None, at: datetime | None = None
) -> Iterator[Single]:
    """Yield the items of the whole file at `path`, those of the members of a packed one in their order."""
    for each in read_each(path, zone, system, date_order, at):
        yield from singly(each.items)

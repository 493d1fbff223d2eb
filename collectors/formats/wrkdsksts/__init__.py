"""WRKDSKSTS: the print of Work with Disk Status and text copied from its display, in any language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

from counterflow.collectors.formats.wrkdsksts.captures import Capture, captures, is_wrkdsksts
from counterflow.collectors.formats.wrkdsksts.sample import WrkdskstsState, items, only_order
from counterflow.collectors.records import Context, Item, Position, Reason, Reject
from counterflow.collectors.text.dates import inferred


def recognises(head: bytes) -> bool:
    """Return whether a print or a display with at least one disk unit begins in `head`."""
    return is_wrkdsksts(head)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every whole print or display; what cannot be read becomes a reject."""
    state = WrkdskstsState(**position.state) if position else WrkdskstsState()
    offset, line = (position.byte_offset, position.line) if position else (0, 0)
    if context.complete and context.date_order is None and state.order is None:
        every = captures(stream, offset, line, complete=True)
        state.order = only_order(found.item for found in every if isinstance(found.item, Capture))
        if state.order is not None:
            yield inferred(state.order)
    for found in captures(stream, offset, line, complete=context.complete):
        if isinstance(found.item, Reject):
            yield found.item
        else:
            yield from items(found.item, state, context)
        offset = found.end
        yield Position(found.end, found.lines, asdict(state))
    if context.complete and offset == 0:
        yield Reject(Reason.EMPTY_FILE, "the file holds no print and no display of WRKDSKSTS", "none")

"""njmon: one JSON object per sample, in an array (v25) or one per line (newer), or nimon's lines; whole or growing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

from counterflow.collectors.formats.njmon.influx import is_nimon, samples
from counterflow.collectors.formats.njmon.sample import NjmonState, items
from counterflow.collectors.formats.njmon.tree import DECODER, repaired
from counterflow.collectors.records import Context, Item, Position, Reason, Reject, Unusable, placed
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.lines import read_head

DOCUMENTS = Documents(
    re.compile(rb'\{\s{0,64}"timestamp"\s{0,64}:\s{0,64}\{'),
    '{"timestamp": {…}, …}',
    re.compile(
        rb'(?:[\s,\[\]{}]+|\xef\xbb\xbf|"samples"\s*:|"njmon_stats"\s*:\s*\{[^{}]*\}|"identity"\s*:\s*\{[^{}]*\})+'
    ),
    DECODER.raw_decode,
    repair=repaired,
)
_OF_SADF = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sysstat"\s*:')
"""Samples of sadf look alike, but lie within another object."""
_HOSTNAME = re.compile(rb'"(?:short)?hostname"\s*:\s*"([^"]+)"')


def recognises(head: bytes) -> bool:
    is_njmon = DOCUMENTS.start.search(head) is not None and not _OF_SADF.match(head)
    return is_njmon or is_nimon(head)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every whole sample; a damaged one becomes a reject, and the next is read."""
    at, is_cut = position or Position(0, 1), False
    if is_nimon(read_head(stream)):
        yield from _lines(stream, at, context)
        return
    for item in read_items(stream, at, context, DOCUMENTS, NjmonState, items, _between):
        if isinstance(item, Position):
            at = item
        elif isinstance(item, Reject):
            is_cut = is_cut or item.reason is Reason.CUT_FILE
            item.system = item.system or context.system or at.state.get("system")
        yield item
    if context.complete and at.state.get("open"):
        if not is_cut:
            detail = "the array of samples is not closed: the recorder was killed"
            yield Reject(Reason.CUT_FILE, detail, "all", at.line, at.byte_offset)
        yield Position(at.byte_offset, at.line, at.state | {"open": False})


def _between(text: bytes, state: NjmonState) -> None:
    """Remember the host that stands before the samples, and whether their array is open."""
    if hostname := _HOSTNAME.search(text):
        state.system = hostname[1].decode(errors="replace")
    if b"[" in text or b"]" in text:
        state.open = text.rfind(b"[") > text.rfind(b"]")


def _lines(stream: BinaryIO, at: Position, context: Context) -> Iterator[Item]:
    state = NjmonState(**at.state)
    for written in samples(stream, at.byte_offset, at.line, context.given_at):
        if written.is_last and not context.complete:
            return  # more lines of it may follow
        for refused, reason in written.refused:
            detail = "expected a line of InfluxDB: measurement,tags fields"
            yield Reject(reason, detail, "none", refused.number, refused.offset, raw=refused.raw)
        first = written.first
        try:
            for item in items(written.tree, state, context):
                yield placed(item, first.number, first.offset)
        except Unusable as error:
            why = str(error)
            if error.reason is Reason.STAMP_MISSING:
                why = "no line of the sample has a time, as nimon leaves it to InfluxDB: give it with --at"
            yield Reject(error.reason, why, "none", first.number, first.offset)
        yield Position(written.last.end, written.last.number + 1, asdict(state))

"""njmon: one JSON object per sample, in an array (v25) or one per line (newer), or nimon's lines; whole or growing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

from counterflow.collectors.formats.njmon.influx import is_nimon, samples
from counterflow.collectors.formats.njmon.sample import NjmonState, items
from counterflow.collectors.formats.njmon.scan import Piece, is_njmon, pieces
from counterflow.collectors.formats.njmon.tree import decode
from counterflow.collectors.records import Context, Item, Position, Reason, Reject, Unusable, placed
from counterflow.collectors.text.lines import read_head

_BETWEEN = re.compile(rb'[\s,\[\]{}]+|"samples"\s*:|"njmon_stats"\s*:\s*\{[^{}]*\}|"identity"\s*:\s*\{[^{}]*\}')
_LONGEST_BETWEEN = 65_536
_HOSTNAME = re.compile(rb'"(?:short)?hostname"\s*:\s*"([^"]+)"')


class Njmon:
    name = "njmon"

    def recognises(self, head: bytes) -> bool:
        return is_njmon(head) or is_nimon(head)

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield the records of every whole sample; a damaged one becomes a reject, and the next is read."""
        state = NjmonState(**position.state) if position else NjmonState()
        offset, line = (position.byte_offset, position.line) if position else (0, 1)
        if is_nimon(read_head(stream)):
            yield from _lines(stream, offset, line, context, state)
            return
        for piece in pieces(stream, offset, line, complete=context.complete):
            if piece.last and not context.complete:
                return  # the rest of it is still to be written
            for item in _sample(piece, context, state) if piece.kind == "sample" else _damage(piece, state):
                if isinstance(item, Reject):
                    item.system = item.system or context.system or state.system
                yield item
            yield Position(piece.end, piece.line + piece.text.count(b"\n"), asdict(state))
            offset, line = piece.end, piece.line + piece.text.count(b"\n")
        if not context.complete:
            return
        if state.open:
            state.open = False
            yield _reject(Reason.CUT_FILE, "the array of samples is not closed: the recorder was killed", line, offset)
        elif offset == 0:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")


def _lines(stream: BinaryIO, offset: int, line: int, context: Context, state: NjmonState) -> Iterator[Item]:
    for written in samples(stream, offset, line, context.given_at):
        if written.is_last and not context.complete:
            return  # more lines of it may follow
        for refused, reason in written.refused:
            detail = "expected a line of InfluxDB: measurement,tags fields"
            yield _reject(reason, detail, refused.number, refused.offset, kept="none", raw=refused.raw)
        try:
            for item in items(written.tree, state, context.zone, context.system):
                yield placed(item, written.first.number, written.first.offset)
        except Unusable as error:
            why = str(error)
            if error.reason is Reason.STAMP_MISSING:
                why = "no line of the sample has a time, as nimon leaves it to InfluxDB: give it with --at"
            yield _reject(error.reason, why, written.first.number, written.first.offset, kept="none")
        yield Position(written.last.end, written.last.number + 1, asdict(state))


def _sample(piece: Piece, context: Context, state: NjmonState) -> Iterator[Item]:
    try:
        tree, repairs = decode(piece.text)
        for reason, detail in repairs.items():
            yield _reject(reason, detail, piece.line, piece.offset, kept="part", raw=piece.text)
        for item in items(tree, state, context.zone, context.system):
            yield placed(item, piece.line, piece.offset)
    except Unusable as error:
        yield _reject(error.reason, str(error), piece.line, piece.offset, kept="none", raw=piece.text)


def _damage(piece: Piece, state: NjmonState) -> Iterator[Reject]:
    if piece.kind == "torn":
        reason, detail = Reason.CUT_LINE, "the sample is not whole: another begins before it ends"
        if piece.last:
            state.open = False  # reported once
            reason, detail = Reason.CUT_FILE, "the file ends within a sample"
        yield _reject(reason, detail, piece.line, piece.offset, kept="none", raw=piece.text)
    elif piece.kind == "too_long":
        detail = f"the sample is longer than {len(piece.text)} bytes"
        yield _reject(Reason.LINE_TOO_LONG, detail, piece.line, piece.offset, kept="none", raw=piece.text)
    else:
        if hostname := _HOSTNAME.search(piece.text):
            state.system = hostname[1].decode(errors="replace")
        if b"[" in piece.text or b"]" in piece.text:
            state.open = piece.text.rfind(b"[") > piece.text.rfind(b"]")
        at = _first_unknown(piece.text)
        rest = piece.text[at:]
        if len(piece.text) < _LONGEST_BETWEEN:
            rest = _BETWEEN.sub(b" ", rest).strip()
        if rest:
            line, offset = piece.line + piece.text.count(b"\n", 0, at), piece.offset + at
            detail = f"expected a sample, found {len(rest)} bytes of something else"
            yield _reject(Reason.UNKNOWN_LINE, detail, line, offset, kept="none", raw=rest)


def _first_unknown(between: bytes) -> int:
    """Return where that which does not belong between samples begins."""
    at = 0
    while found := _BETWEEN.match(between, at):
        at = found.end()
    return at


def _reject(reason: Reason, detail: str, line: int, offset: int, *, kept: str = "all", raw: bytes = b"") -> Reject:
    return Reject(reason, detail, kept, line, offset, raw=raw)  # type: ignore[arg-type]


FORMAT = Njmon()

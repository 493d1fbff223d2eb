"""Processed metrics of the HMC's Performance and Capacity Monitoring (PCM): JSON documents, one behind the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO, NamedTuple

from counterflow.collectors.formats.hmc_pcm.sample import Memory, UnusableDocumentError, items
from counterflow.collectors.records import Context, Item, Position, Reason, Reject

MAX_DOCUMENT = 64 * 2**20
"""Longest accepted document in bytes; two hours of a partition are about 10 MB."""

_CHUNK = 2**20
_START = re.compile(rb'\{\s{0,64}"systemUtil"\s{0,64}:')
_LONGEST_START = 160
_DECODER = json.JSONDecoder()


class HmcPcm:
    """The documents below /rest/api/pcm/ProcessedMetrics; see docs/formats/hmc_pcm.md."""

    name = "hmc_pcm"

    def recognises(self, head: bytes) -> bool:
        """Say whether a document begins in `head`."""
        return _START.search(head) is not None

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield the ports of every sample; a document that is damaged becomes a reject, and the next is read."""
        memory = Memory(**position.state) if position else Memory()
        offset, line = (position.byte_offset, position.line) if position else (0, 1)
        for piece in _pieces(stream, offset):
            found, rest = _read(piece, line, memory, context)
            if piece.last and not context.complete and rest:
                return  # the rest of it is still to be written
            yield from found
            offset += len(piece.text)
            line += piece.text.count(b"\n")
            yield Position(offset, line, asdict(memory))
        if context.complete and offset == 0:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")


class _Piece(NamedTuple):
    """The bytes up to the next document or the end of the data; `start` is where they begin."""

    text: bytes
    start: int
    last: bool
    whole: bool = True


def _read(piece: _Piece, line: int, memory: Memory, context: Context) -> tuple[list[Item], bool]:
    """Return what a piece holds, and whether it may be the beginning of something."""
    text = piece.text.strip()
    if not text:
        return [], False
    where = (line, piece.start)
    if not piece.whole:
        detail = f"the document is longer than {MAX_DOCUMENT} bytes"
        return [Reject(Reason.LINE_TOO_LONG, detail, "none", *where, raw=text)], True
    if not _START.match(text):
        detail = 'expected a document, `{"systemUtil": …}`'
        return [Reject(Reason.UNKNOWN_LINE, detail, "none", *where, raw=text)], True
    try:
        written = text.decode()
        tree, end = _DECODER.raw_decode(written)
    except (ValueError, RecursionError) as error:
        reason = Reason.CUT_FILE if piece.last else Reason.UNKNOWN_LINE
        return [Reject(reason, f"the document is not JSON: {error}", "none", *where, raw=text)], True
    found: list[Item] = []
    if rest := written[end:].strip():
        detail = f"expected a document, found {len(rest)} characters of something else behind one"
        found.append(Reject(Reason.UNKNOWN_LINE, detail, "none", *where, raw=rest.encode()))
    try:
        for item in items(tree, memory, context):
            if isinstance(item, Reject):
                item.line, item.byte_offset = where
            found.append(item)
    except UnusableDocumentError as error:
        found.append(Reject(error.reason, str(error), "none", *where, raw=text))
    return found, bool(rest)


def _pieces(stream: BinaryIO, offset: int) -> Iterator[_Piece]:
    """Yield the data from `offset` piece by piece without a gap; each but the first begins with a document."""
    stream.seek(offset)
    data = b""
    searched = 1  # the beginning of the piece itself
    while True:
        if (following := _START.search(data, searched)) is not None:
            yield _Piece(data[: following.start()], offset, last=False)
            offset += following.start()
            data, searched = data[following.start() :], 1
            continue
        searched = max(searched, len(data) - _LONGEST_START)
        if len(data) > MAX_DOCUMENT:
            yield _Piece(data[:searched], offset, last=False, whole=False)
            offset += searched
            data, searched = data[searched:], 0
            continue
        more = stream.read(_CHUNK)
        if not more:
            if data:
                yield _Piece(data, offset, last=True)
            return
        data += more


FORMAT = HmcPcm()

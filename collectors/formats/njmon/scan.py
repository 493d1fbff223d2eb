"""Where the samples of an njmon file begin and end, found without parsing them and without holding more than one.

A sample is a JSON object that begins with its `timestamp`, in an array under `samples` (njmon up to 4x) or one a line
(newer). The recorder does not escape what it writes into strings, and a killed one leaves half a sample behind, so
every beginning of a sample is also taken as the end of the one before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, Literal, NamedTuple

MAX_SAMPLE = 16 * 2**20
"""Longest accepted sample in bytes; a system with thousands of processes and disks needs 3 MB."""

_CHUNK = 64 * 2**10
_START = re.compile(rb'\{\s{0,64}"timestamp"\s{0,64}:\s{0,64}\{')
_LONGEST_START = 256
_OF_SADF = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sysstat"\s*:')
_TOKEN = re.compile(rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|["{}]')


class Piece(NamedTuple):
    """A stretch of the file: a `sample`, one that is `torn` or `too_long`, or what stands `between` samples.

    `end` is the offset behind it; `last` means that the file ends there.
    """

    kind: Literal["sample", "torn", "too_long", "between"]
    text: bytes
    offset: int
    line: int
    last: bool = False

    @property
    def end(self) -> int:
        return self.offset + len(self.text)


def is_njmon(head: bytes) -> bool:
    """Return whether a sample begins in `head`; those of sadf look alike, but lie within another object."""
    return _START.search(head) is not None and not _OF_SADF.match(head)


def pieces(stream: BinaryIO, offset: int = 0, line: int = 1, *, complete: bool = True) -> Iterator[Piece]:
    """Yield the file from `offset`, which stands in line `line`, piece by piece without a gap.

    Unless the file is `complete`, a string without an end may still hold any braces.
    """
    stream.seek(offset)
    window = _Window(stream, offset, line, complete)
    while True:
        found = window.search_start()
        if found is None:
            if window.ended:
                if window.data:
                    yield window.cut(len(window.data), "between", last=True)
                return
            if len(window.data) > _CHUNK + _LONGEST_START:
                yield window.cut(len(window.data) - _LONGEST_START, "between")
            window.read()
            continue
        if found > 0:
            yield window.cut(found, "between")
        yield _sample(window)


def _sample(window: _Window) -> Piece:
    depth = at = 0
    searched = 1
    while True:
        for token in _TOKEN.finditer(window.data, at):
            at = token.end()
            match token.group():
                case b"{":
                    depth += 1
                case b"}":
                    depth -= 1
                case b'"' if window.data.find(b"\n", at) < 0 and not (window.ended and window.complete):
                    at = token.start()  # the rest of the string has not been read, or not been written yet
                    break
            if depth == 0:
                following = window.search_start(1, at)
                return window.cut(at, "sample") if following is None else window.cut(following, "torn")
        following = window.search_start(searched)
        if following is not None:
            return window.cut(following, "torn")
        searched = max(searched, len(window.data) - _LONGEST_START)
        if window.ended:
            return window.cut(len(window.data), "torn", last=True)
        if len(window.data) > MAX_SAMPLE:
            return window.cut(len(window.data) - _LONGEST_START, "too_long")
        window.read()


class _Window:
    """The part of the file under examination; `data` begins at `offset` in line `line`."""

    def __init__(self, stream: BinaryIO, offset: int, line: int, complete: bool) -> None:
        self.stream, self.offset, self.line, self.complete = stream, offset, line, complete
        self.data = b""
        self.ended = False

    def read(self) -> None:
        more = self.stream.read(_CHUNK)
        self.ended = not more
        self.data += more

    def search_start(self, begin: int = 0, end: int | None = None) -> int | None:
        found = _START.search(self.data, begin, len(self.data) if end is None else end)
        return found.start() if found else None

    def cut(self, length: int, kind: Literal["sample", "torn", "too_long", "between"], *, last: bool = False) -> Piece:
        piece = Piece(kind, self.data[:length], self.offset, self.line, last)
        self.offset += length
        self.line += piece.text.count(b"\n")
        self.data = self.data[length:]
        return piece

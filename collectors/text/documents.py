"""Consecutive documents of JSON or XML: one that is cut or damaged costs no other.

For formats whose files are answers of a service, joined or appended. A document is found by its beginning, which no
text inside another can imitate: its quotes would be escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, BinaryIO, NamedTuple, TypeVar

from counterflow.collectors.records import Context, Item, Position, Reason, Reject, Unusable, placed
from counterflow.collectors.text.trees import encodable

MAX_DOCUMENT = 64 * 2**20
"""Longest accepted document in bytes."""
LONGEST_START = 320
"""No `Documents.start` matches more bytes."""

_CHUNK = 2**20
_WHITE = b" \t\r\n"
_BLANK = re.compile(rb"(?:[ \t\r\n]+|\xef\xbb\xbf)+")
_DECODER = json.JSONDecoder()
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")
"""Bytes, as `surrogateescape` decodes them: one character each."""

M = TypeVar("M")


class Documents(NamedTuple):
    """The beginning of a document, an example of it for people, and what stands between two.

    `decode` returns the document that a text begins with and where it ends, or raises ValueError; `language` names it.
    `repair` returns the same of a document that `decode` refuses, and what was repaired; or it raises ValueError with
    what else may help.
    """

    start: re.Pattern[bytes]
    example: str
    between: re.Pattern[bytes] = _BLANK
    decode: Callable[[str], tuple[Any, int]] = _DECODER.raw_decode
    language: str = "JSON"
    repair: Callable[[str], tuple[Any, int, str]] | None = None


class DocumentPart(NamedTuple):
    """A document (`tree`), or the reject of one, or neither of what stands between two documents.

    A document that is read in part has both.
    `text` begins at `line` and `offset`; the next part begins at `end_line` and `end`.
    """

    line: int
    offset: int
    end_line: int
    end: int
    text: bytes = b""
    tree: Any = None
    reject: Reject | None = None


def read_documents(
    stream: BinaryIO, position: Position, documents: Documents, *, complete: bool
) -> Iterator[DocumentPart]:
    """Yield the parts of the data from `position` on, without a gap; an end that may still be written is left."""
    line = max(1, position.line)
    for piece in _pieces(stream, position.byte_offset, documents.start):
        data, offset = piece.text, piece.start
        is_open = piece.last and not complete
        while data:
            text, tree, reject = _first(data, piece, documents, is_open=is_open)
            if not text or (is_open and tree is None and reject is not None):
                return
            if reject is not None:
                reject.line, reject.byte_offset, reject.raw = line, offset, b"" if reject.kept == "all" else text
            end, end_line = offset + len(text), line + text.count(b"\n")
            yield DocumentPart(line, offset, end_line, end, text, tree, reject)
            data, offset, line = data[len(text) :], end, end_line


def read_items(
    stream: BinaryIO,
    position: Position | None,
    context: Context,
    documents: Documents,
    memory: Callable[..., M],
    items: Callable[[Any, M, Context], Iterator[Item]],
    between: Callable[[bytes, M], None] = lambda text, memory: None,
) -> Iterator[Item]:
    """Yield the items of every document; one that is damaged or refused becomes a reject, and the next is read.

    `items` yields those of one document. `memory` is the dataclass of JSON values that is kept from one document to the
    next. `between` is told what stands between two documents.
    """
    position = position or Position(0, 1)
    kept, end = memory(**position.state), position.byte_offset
    for part in read_documents(stream, position, documents, complete=context.complete):
        if part.reject is not None:
            yield part.reject
        if part.tree is not None:
            try:
                for item in items(part.tree, kept, context):
                    yield placed(item, part.line, part.offset)
            except Unusable as error:
                yield Reject(error.reason, str(error), "none", part.line, part.offset, raw=part.text)
        elif part.reject is None:
            between(part.text, kept)
        end = part.end
        yield Position(end, part.end_line, asdict(kept))  # type: ignore[call-overload]
    if context.complete and end == 0:
        yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")


class _Piece(NamedTuple):
    """The bytes up to the next beginning of a document or the end of the data; `start` is where they begin."""

    text: bytes
    start: int
    last: bool
    whole: bool = True


def _first(data: bytes, piece: _Piece, documents: Documents, *, is_open: bool) -> tuple[bytes, Any, Reject | None]:
    """Return the bytes and the tree of the document that `data` begins with, or all of the bytes; and the reject.

    Of what stands between two documents, only the bytes. Where `is_open`, a brace may begin one that is still written.
    """
    is_document = documents.start.match(data)
    if not is_document and (between := documents.between.match(data)):
        return between[0].partition(b"{")[0] if is_open else between[0], None, None
    data = data.rstrip(_WHITE)
    if not piece.whole:
        detail = f"the document is longer than {MAX_DOCUMENT} bytes"
        return data, None, Reject(Reason.LINE_TOO_LONG, detail, "none")
    if not is_document:
        return data, None, Reject(Reason.UNKNOWN_LINE, f"expected a document, `{documents.example}`", "none")
    try:
        written = readable = data.decode()
    except UnicodeDecodeError:
        written = data.decode(errors="surrogateescape")
        readable = _NOT_UTF_8.sub("\N{REPLACEMENT CHARACTER}", written)
    reject = None
    try:
        tree, end = documents.decode(readable)
    except (ValueError, RecursionError) as error:
        why = str(error)
        try:
            if documents.repair is None:
                raise
            tree, end, repairs = documents.repair(readable)
            reject = Reject(Reason.RECORDER_DEFECT, repairs, "all")
        except (ValueError, RecursionError) as other:
            reason = Reason.CUT_FILE if piece.last else Reason.UNKNOWN_LINE
            why += "" if other is error else f": {other}"
            return data, None, Reject(reason, f"the document is not {documents.language}: {why}", "none")
    text = written[:end].encode(errors="surrogateescape")
    try:
        text.decode()
    except UnicodeDecodeError as error:
        detail = f"expected UTF-8, replaced what is not: {error}"
        reject = Reject(Reason.WRONG_ENCODING, detail, "part")
    return text, encodable(tree, readable), reject


def _pieces(stream: BinaryIO, offset: int, start: re.Pattern[bytes]) -> Iterator[_Piece]:
    """Yield the data from `offset` piece by piece without a gap; each but the first begins with a document."""
    stream.seek(offset)
    data = bytearray()  # grows without being copied: a document may be long, and come in small pieces
    searched = 1  # the beginning of the piece itself

    def taken(size: int) -> bytes:
        nonlocal offset
        text = bytes(data[:size])
        del data[:size]
        offset += size
        return text

    while True:
        if (following := start.search(data, searched)) is not None:
            begin = offset
            yield _Piece(taken(following.start()), begin, last=False)
            searched = 1
            continue
        searched = max(searched, len(data) - LONGEST_START)
        if len(data) > MAX_DOCUMENT:
            begin = offset
            yield _Piece(taken(searched), begin, last=False, whole=False)
            searched = 0
            continue
        more = stream.read(_CHUNK)
        if not more:
            if data:
                yield _Piece(bytes(data), offset, last=True)
            return
        data += more

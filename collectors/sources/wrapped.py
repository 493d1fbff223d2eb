"""The content of compressed and packed files, which are recognised by their bytes and unpacked to unnamed files.

gzip, bzip2, xz, zstd, zip and tar, also nested; in the same way text in UTF-16 becomes UTF-8, and a table in another
notation CSV (`tables`). Unpacking is bounded by the size of the packed file, by the number of members and by depth.

Own code around the standard library's modules: fsspec reads archives by the same ones and raises at damage, while here
a file is read up to the damage, whose place is reported.
"""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import lzma
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, BinaryIO, NamedTuple, cast

import zstandard

from counterflow.collectors.records import Reason, Reject
from counterflow.collectors.sources.files import passed_over
from counterflow.collectors.sources.tables import csv_of_json, sheets, table_dress, utf_8_of_ebcdic

HEAD_BYTES = 65_536
"""The first bytes of a file, which show how it is wrapped."""
_TAR_BLOCK = 512
FREE_BYTES = 256 << 20
MAX_RATIO = 500
"""Above `FREE_BYTES`, a file may unpack to this many times its size in all; recordings shrink to 1/100."""
MAX_DEPTH = 4
MAX_MEMBERS = 10_000
WITHIN = "!/"
"""Separates a file from its member, and that from a member of its own."""
_XZ_MEMORY = 256 << 20
_BLOCK = 1 << 18
_STEP = 1 << 12
"""Unpacked bytes to read at a time: those of the step in which damage is met may be lost."""
_PACKED_BLOCK = 1 << 10
"""Packed bytes to unpack at a time: they may become 20 MB."""
_PACKED = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst")

_COMPRESSED = (
    ("gzip", re.compile(rb"\x1f\x8b\x08")),
    ("bzip2", re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")),
    ("xz", re.compile(rb"\xfd7zXZ\0")),
    ("zstd", re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")),
    ("utf-16", re.compile(rb"\xff\xfe(?!\0\0)|\xfe\xff")),
)
_DOCUMENT = re.compile(r"\[Content_Types\]\.xml|mimetype|META-INF/manifest\.xml")
"""Members of workbooks and documents, which are zip archives."""
_DAMAGED = (
    EOFError,
    OSError,
    zlib.error,
    lzma.LZMAError,
    zstandard.ZstdError,
    tarfile.TarError,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


class TooMuch(Exception):  # noqa: N818 - not an error of the program
    """A file would unpack to more than is allowed."""


class Content(NamedTuple):
    """One file within a wrapped file.

    `member` is its name there, empty where the file was compressed on its own. `fault` is a fault in it, or in the
    wrapping behind it; `stream` is None where nothing of it is read. The receiver closes the stream.
    """

    member: str
    stream: BinaryIO | None
    fault: Reject | None = None


@dataclass(slots=True)
class _Budget:
    """Counts what is unpacked of one file, and limits it."""

    packed: int
    unpacked: int = 0
    members: int = 0

    def take(self, size: int) -> None:
        self.unpacked += size
        if self.unpacked > max(FREE_BYTES, MAX_RATIO * self.packed):
            raise TooMuch(f"it unpacks to more than {MAX_RATIO} times its {self.packed} bytes")

    def count(self) -> None:
        self.members += 1
        if self.members > MAX_MEMBERS:
            raise TooMuch(f"it holds more than {MAX_MEMBERS} files")


def wrapping(head: bytes) -> str | None:
    """Return how a file that begins with `head` is wrapped, None where it is not."""
    for name, magic in _COMPRESSED:
        if magic.match(head):
            return name
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    return "tar" if _is_tar(head) else table_dress(head)


def contents(stream: BinaryIO, wanted: Callable[[str], bool] = lambda member: True) -> Generator[Content, None, None]:
    """Yield the content of a file, itself where it is not wrapped, in its order; only `wanted` members are unpacked.

    Hidden members, and those that an operating system adds, are passed over as such files are. A damaged file is read
    as far as possible, and carries the fault. A member is unpacked when its turn comes. The second member of one name
    is `name#2`: `tar -r` adds such.
    """
    budget = _Budget(stream.seek(0, 2))
    times = Counter[str]()
    try:
        for content in _Wrapped(budget, wanted).contents(stream, "", 0):
            times[content.member] += content.stream is not None
            again = content.stream is not None and times[content.member] > 1
            if again:
                content = content._replace(member=f"{content.member}#{times[content.member]}")
            yield content
    except TooMuch as bomb:
        yield Content("", None, Reject(Reason.UNREADABLE, f"the rest is not unpacked: {bomb}", "none"))


@dataclass(slots=True)
class _Wrapped:
    budget: _Budget
    wanted: Callable[[str], bool]

    def contents(self, stream: BinaryIO, member: str, depth: int) -> Iterator[Content]:
        stream.seek(0)
        kind = wrapping(stream.read(HEAD_BYTES))
        stream.seek(0)
        if kind is not None and depth >= MAX_DEPTH:
            stream.close()
            detail = f"a {kind} within {depth} others is not unpacked"
            yield Content(member, None, Reject(Reason.UNREADABLE, detail, "none"))
        elif kind == "zip":
            yield from self._zip(stream, member, depth)
        elif kind == "tar":
            yield from self._tar(stream, member, depth)
        elif kind == "workbook":
            yield from self._workbook(stream, member, depth)
        elif kind is not None:
            yield from self._compressed(kind, stream, member, depth)
        else:
            yield Content(member, stream)

    def _compressed(self, kind: str, stream: BinaryIO, member: str, depth: int) -> Iterator[Content]:
        try:
            out, fault = self._unpacked(kind, partial(_BLOCKS[kind], stream))
        finally:
            if depth:
                stream.close()
        yield from self._found_in(out, fault, member, depth)

    def _found_in(self, out: BinaryIO, fault: Reject | None, member: str, depth: int) -> Iterator[Content]:
        """Yield what `out` holds, and its `fault`: with the text that it is in, or behind the members."""
        if fault is not None and fault.kept == "none":
            out.close()
            yield Content(member, None, fault)
            return
        content = None
        for content in self.contents(out, member, depth + 1):
            if fault is not None and content.fault is None and content.stream is not None and content.member == member:
                content = content._replace(fault=_at_end(fault, content.stream))
            yield content
        last = content.fault if content is not None else None
        if fault is not None and (last is None or last.reason is not Reason.CUT_FILE):  # else the end is reported
            yield Content(member, None, fault)

    def _unpacked(self, kind: str, blocks: Callable[[], Iterator[bytes]]) -> tuple[BinaryIO, Reject | None]:
        """Return the unpacked bytes, and the fault where there is one."""
        out = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the receiver of the content closes it
        size = 0
        try:
            for block in blocks():
                self.budget.take(len(block))
                size += out.write(block)
        except _DAMAGED as error:
            if _is_of_machine(error):
                out.close()
                raise
            # a wrong checksum shows behind what is damaged
            where = "after" if isinstance(error, EOFError | ValueError) else "after or within"
            detail = (
                f"the {kind} file is cut or damaged {where} {size} bytes of its content ({_why(error)}): copy it again"
            )
            return out, Reject(Reason.CUT_FILE, detail, "part" if size else "none")
        except BaseException:
            out.close()
            raise
        return out, None

    def _zip(self, stream: BinaryIO, member: str, depth: int) -> Iterator[Content]:
        kept = depth == 0
        try:
            with zipfile.ZipFile(stream) as archive:
                entries = archive.infolist()
                if any(_DOCUMENT.fullmatch(entry.filename) for entry in entries):
                    for entry in entries:
                        self.budget.take(entry.file_size)
                    kept = True
                    yield from self._workbook(stream, member, depth)
                    return
                for entry in entries:
                    name = _within(member, entry.filename)
                    if entry.is_dir() or not self._wants(name):
                        continue
                    if entry.flag_bits & 1:
                        detail = "encrypted: unpack it, and give the file"
                        yield Content(name, None, Reject(Reason.UNREADABLE, detail, "none"))
                        continue
                    yield from self._member("zip", partial(_opened, archive.open, entry), name, depth)
        except _DAMAGED as error:
            if _is_of_machine(error):
                raise
            detail = f"the zip archive is cut or damaged ({_why(error)}): copy it again"
            yield Content(member, None, Reject(Reason.CUT_FILE, detail, "none"))
        finally:
            if not kept:
                stream.close()

    def _workbook(self, stream: BinaryIO, member: str, depth: int) -> Iterator[Content]:
        """Yield each sheet as CSV, an only sheet under the name of the workbook; yield another document as it is."""
        stream.seek(0)
        try:
            found = sheets(stream)
        except ValueError:
            stream.seek(0)
            yield Content(member, stream)
            return
        try:
            if not found:
                yield Content(member, None, Reject(Reason.EMPTY_FILE, "the workbook has no sheet with a cell", "none"))
            for sheet in found:
                name = member if len(found) == 1 else _within(member, sheet.name)
                if self._wants(name or sheet.name) or len(found) == 1:
                    out, fault = self._unpacked("workbook", partial(iter, sheet.lines))
                    yield Content(name, out, fault)
        finally:
            if depth:
                stream.close()

    def _tar(self, stream: BinaryIO, member: str, depth: int) -> Iterator[Content]:
        try:
            with tarfile.open(fileobj=stream, mode="r:", errorlevel=1) as archive:
                while (entry := archive.next()) is not None:
                    archive.members = []  # type: ignore[attr-defined]  # else it keeps them all
                    name = _within(member, entry.name)
                    if entry.isdir() or not self._wants(name):
                        continue
                    if not entry.isreg():
                        detail = "a link or device, which is not followed: pack the file itself"
                        yield Content(name, None, Reject(Reason.UNREADABLE, detail, "none"))
                        continue
                    whole = partial(_slice, stream, entry.offset_data, entry.size)
                    sparse = partial(_opened, archive.extractfile, entry)
                    yield from self._member("tar", sparse if entry.issparse() else whole, name, depth)
                stream.seek(archive.offset)
                end = stream.read(_TAR_BLOCK)
                if end != bytes(_TAR_BLOCK):
                    raise tarfile.ReadError("what follows is no member" if end.strip(b"\0") else "it has no end mark")
        except _DAMAGED as error:
            if _is_of_machine(error):
                raise
            detail = f"the tar archive is cut or damaged ({_why(error)}): copy it again"
            yield Content(member, None, Reject(Reason.CUT_FILE, detail, "part"))
        finally:
            if depth:
                stream.close()

    def _wants(self, name: str) -> bool:
        self.budget.count()
        if passed_over(name.replace(WITHIN, "/").split("/")):
            return False
        # an archive within may hold a wanted member: its name alone decides, since it is not unpacked to look
        return self.wanted(name) or name.lower().endswith(_PACKED)

    def _member(self, kind: str, blocks: Callable[[], Iterator[bytes]], name: str, depth: int) -> Iterator[Content]:
        for content in self._found_in(*self._unpacked(kind, blocks), name, depth):
            if self.wanted(content.member):
                yield content
            elif content.stream is not None:
                content.stream.close()


def _read(reader: Any) -> Iterator[bytes]:
    """Yield what a reader reads; its buffered `read` would lose what it gathered before a fault."""
    return iter(partial(reader.read1, _STEP), b"")


def _streams(stream: BinaryIO, new: Callable[[], Any]) -> Iterator[bytes]:
    """Yield what consecutive streams of bzip2, xz or zstd hold; zeros may stand between them.

    The readers of the standard library take a damaged stream behind the first one for padding, that of zstd takes one
    that ends too early for whole.
    """
    unpacker: Any = None
    rest = b""
    while packed := rest or stream.read(_PACKED_BLOCK):
        rest = b""
        if unpacker is None and (packed := packed.lstrip(b"\0")):
            unpacker = new()
        if unpacker is not None:
            yield unpacker.decompress(packed)
            if unpacker.eof:
                unpacker, rest = None, unpacker.unused_data
    if unpacker is not None:
        raise EOFError("it ends too early")


def _utf_8(stream: BinaryIO) -> Iterator[bytes]:
    """Yield text in UTF-16 as UTF-8; its byte order mark gives the order of its bytes."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    while packed := stream.read(_BLOCK):
        yield decoder.decode(packed).encode()
    yield decoder.decode(b"", final=True).encode()


def _slice(stream: BinaryIO, offset: int, size: int) -> Iterator[bytes]:
    """Yield a part of a file that may end too early: what is there is read."""
    stream.seek(offset)
    while size:
        if not (found := stream.read(min(size, _BLOCK))):
            raise EOFError("it ends too early")
        size -= len(found)
        yield found


def _opened(open_member: Callable[[Any], Any], entry: zipfile.ZipInfo | tarfile.TarInfo) -> Iterator[bytes]:
    return _read(open_member(entry))


_BLOCKS: dict[str, Callable[[BinaryIO], Iterator[bytes]]] = {
    "gzip": lambda stream: _read(gzip.GzipFile(fileobj=stream)),
    "bzip2": partial(_streams, new=bz2.BZ2Decompressor),
    "xz": partial(_streams, new=partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _XZ_MEMORY)),
    "zstd": partial(_streams, new=zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj),
    "utf-16": _utf_8,
    "json": csv_of_json,
    "ebcdic": utf_8_of_ebcdic,
}
"""What reads the content of each kind of wrapping."""


def _at_end(fault: Reject, stream: BinaryIO) -> Reject:
    """Return the fault with the place at which the content ends."""
    stream.seek(0)
    lines = sum(block.count(b"\n") for block in iter(partial(stream.read, _BLOCK), b""))
    found = replace(fault, line=lines + 1, byte_offset=stream.tell())
    stream.seek(0)
    return found


def _within(outer: str, name: str) -> str:
    name = name.encode("utf-8", "backslashreplace").decode()
    return f"{outer}{WITHIN}{name}" if outer else name


def _is_tar(head: bytes) -> bool:
    """Return whether `head` is the header of a member, which its checksum proves."""
    if len(head) < 512 or not head[0]:
        return False
    with suppress(ValueError):
        checksum = int(head[148:156].strip(b" \0") or b"x", 8)
        return checksum == sum(head[:148]) + 8 * 32 + sum(head[156:512])
    return False


def _is_of_machine(error: BaseException) -> bool:
    """Return whether the disk is at fault and not the file, which may then be read later."""
    # zipfile seeks to invalid offsets in a damaged file: EINVAL
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


def _why(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:120]

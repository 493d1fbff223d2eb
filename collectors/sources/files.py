"""Files as they arrive: found by pattern, identified by what they are and not by their names.

Device and inode identify a file, confirmed by a fingerprint of bytes that were already read. So a renamed file
continues where it stood, a file that was emptied and written anew starts over, and an inode that the file system gave
to another file is not mistaken for the first. A copy is another file.

`find` is no `Path.glob`, which reports no folder that this user may not look into, and follows no link in `**`.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Buffer

EDGE_BYTES = 1024
_MAGIC = re.compile(r"[*?\[]")
_OF_SYSTEMS = ("thumbs.db", "desktop.ini")
"""Files that Windows adds to folders; those of macOS are hidden, or in `__MACOSX`."""


class FileId(NamedTuple):
    """The identity of a file on one machine while it exists, whatever its path.

    `member` is empty; for a member of a compressed or packed file it is `!/` and the name within.
    """

    device: int
    inode: int
    member: str = ""

    @classmethod
    def of(cls, stat: os.stat_result) -> FileId:
        return cls(stat.st_dev, stat.st_ino)


def passed_over(parts: Sequence[str]) -> bool:
    """Return whether the file with these parts of a path is hidden, or put beside others by an operating system."""
    return parts[-1].startswith(".") or parts[-1].lower() in _OF_SYSTEMS or "__MACOSX" in parts


def unicode(text: str) -> str:
    """Return text that is Unicode: undecodable bytes, as a file name may have, become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def fingerprint(fd: int, head_bytes: int, offset: int) -> str:
    """Return the hash of the first `head_bytes` of an open file and of the last 1 KiB before `offset`."""
    hashed = hashlib.blake2b(os.pread(fd, head_bytes, 0), digest_size=16)
    start = max(0, offset - EDGE_BYTES)
    hashed.update(os.pread(fd, offset - start, start))
    return hashed.hexdigest()


def ends_at_line_end(fd: int, size: int) -> bool:
    """Return whether the first `size` bytes of an open file end with a line feed."""
    return os.pread(fd, 1, max(0, size - 1)) == b"\n"


def window(fd: int, size: int) -> io.BufferedReader:
    """Return the first `size` bytes of an open file as a stream that does not show what is appended meanwhile."""
    return io.BufferedReader(_Window(fd, size), 1 << 18)


class _Window(io.RawIOBase):
    def __init__(self, fd: int, size: int) -> None:
        self._fd = fd
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        room = max(0, min(len(view), self._size - self._at))
        n = os.preadv(self._fd, [view[:room]], self._at) if room else 0
        self._at += n
        return n


def find(pattern: Path) -> Iterator[Path | OSError]:
    """Yield the regular files that `pattern` names, sorted within a folder; a folder stands for the files in it.

    `*`, `?`, `[…]` match within a name, `**` any depth of folders, each of them once. Hidden names match only a pattern
    that begins with a dot, so files that are still being copied under a temporary name are left alone. A path that
    cannot be looked into is yielded as its `OSError`, and the search continues.
    """
    parts = pattern.parts
    fixed = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    yield from _walk(Path(*parts[:fixed]), parts[fixed:], set())


def _walk(path: Path, parts: tuple[str, ...], entered: set[tuple[FileId, int]]) -> Iterator[Path | OSError]:
    """Yield what `parts` name in `path`; `entered` are the folders that a `**` with so many parts has been in."""
    try:
        if not parts and not path.is_dir():
            path.stat()
            if path.is_file():
                yield path
            return
        name, rest = (parts[0], parts[1:]) if parts else ("*", ())
        if not _MAGIC.search(name):
            if (path / name).exists():
                yield from _walk(path / name, rest, entered)
            return
        with os.scandir(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        folder = FileId.of(path.stat()), len(parts)
    except OSError as error:
        yield error
        return
    if name == "**":
        if folder in entered:
            return  # a link leads back
        entered.add(folder)
        yield from _walk(path, rest or ("*",), entered)
    for entry in listed:
        hidden = entry.name.startswith(".") and not name.startswith(".")
        if hidden or not (name == "**" or fnmatchcase(entry.name, name)):
            continue
        try:
            is_folder, is_file = entry.is_dir(), entry.is_file()
        except OSError as error:  # of this entry: a link that leads nowhere, or where this user may not look
            yield error
            continue
        if is_folder and (name == "**" or rest):
            yield from _walk(path / entry.name, parts if name == "**" else rest, entered)
        elif is_file and name != "**" and not rest:
            yield path / entry.name


def inodes(folder: Path) -> dict[int, Path]:
    """Return the regular files in a folder by inode, to find one that left its path; none if it is unreadable."""
    try:
        with os.scandir(folder) as entries:
            return {e.inode(): Path(e.path) for e in entries if e.is_file(follow_symlinks=False)}
    except OSError:
        return {}

"""From bytes to text: no file states its code page (UTF-8, PC ASCII 819 or 1252, EBCDIC 37 where copied as it is)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import BinaryIO

# EBCDIC 37 as Latin-1, byte by byte, so that offsets stay; its line ends 0x15 and 0x25 become a line feed
FROM_EBCDIC = bytes(
    0x0A if byte in (0x15, 0x25) else ord(bytes([byte]).decode("cp037").encode("latin-1", "replace"))
    for byte in range(256)
)
_EBCDIC_TEXT = re.compile(rb"[\x40\x4b\x5b-\x5d\x60\x61\x6d\x6f\x7b\x7c\xc1-\xc9\xd1-\xd9\xe2-\xe9\xf0-\xf9]{4,}")
_HEAD = 64


def text(data: bytes) -> str:
    """Return the text of UTF-8 bytes; of others every byte is one character (Latin-1)."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_ebcdic(head: bytes) -> bool:
    """Return whether a file that begins with `head` is EBCDIC: its letters and digits are all above 0x80."""
    head = head[:_HEAD]
    high = sum(byte >= 0x80 for byte in head)
    return high > len(head) / 3 and b"," not in head and b";" not in head and (b"\x6b" in head or b"\x5e" in head)


class FromEbcdic:
    """A stream of EBCDIC 37 read as Latin-1; offsets are those of the stream."""

    def __init__(self, stream: BinaryIO) -> None:
        """Wrap the stream."""
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        """Read and translate."""
        return self._stream.read(size).translate(FROM_EBCDIC)

    def seek(self, offset: int) -> int:
        """Seek in the stream."""
        return self._stream.seek(offset)


def decode(line: bytes) -> str:
    """Return the text of a line in UTF-8, else in 1252 (of which 819 is a part where it has characters)."""
    for codec in ("utf-8", "cp1252"):
        try:
            return line.decode(codec)
        except UnicodeDecodeError:
            continue
    return line.decode("latin-1")


def has_ebcdic(cells: Sequence[str]) -> bool:
    """Return whether a cell holds EBCDIC that was exported as if it were text, as columns without a code page are."""
    for cell in cells:
        if cell and not cell.isascii():
            data = cell.strip().encode("cp1252", "replace")
            if _EBCDIC_TEXT.fullmatch(data) and any(byte >= 0xC1 for byte in data):
                return True
    return False

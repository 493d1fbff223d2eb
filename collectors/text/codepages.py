"""From bytes to text: no file states its code page (UTF-8, PC ASCII 819 or 1252, EBCDIC where copied as it is)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_EBCDIC_TEXT = re.compile(rb"[\x40\x4b\x5b-\x5d\x60\x61\x6d\x6f\x7b\x7c\xc1-\xc9\xd1-\xd9\xe2-\xe9\xf0-\xf9]{4,}")
_HEAD = 512

_EBCDIC_LETTERS = rb"\x81-\x89\x91-\x99\xa2-\xa9\xc1-\xc9\xd1-\xd9\xe2-\xe9"
_EBCDIC_BYTE = re.compile(
    rb"[\x05\x0d\x15\x25\x40\x4b\x4d\x4e\x5c-\x5e\x60\x61\x6b-\x6d\x7a\x7d-\x7f\xf0-\xf9" + _EBCDIC_LETTERS + rb"]"
)
_EBCDIC_HIGH = re.compile(rb"[\xf0-\xf9" + _EBCDIC_LETTERS + rb"]")
_IMPLAUSIBLE = re.compile(r"(?<![^\W\d_])[^\x00-\x85]|[^\x00-\x85](?![^\W\d_])|(?<=[^\W\d_])[\[\]{}\\~|!^](?=[^\W\d_])")
"""Characters that no text has where they stand: letters beyond ASCII beside none, brackets within words."""
_CODECS = ("cp1140", "cp273", "cp500")
_EURO = {"cp273": "\u20ac", "cp500": "\u20ac"}
"""Of 1141 and 1148, which are 273 and 500 but for this sign at 0x9F; nobody means the one that it replaced."""


def text(data: bytes) -> str:
    """Return the text of UTF-8 bytes; in any others every byte is one character (Latin-1)."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_ebcdic(head: bytes) -> bool:
    """Return whether a file that begins with `head` is EBCDIC: its letters and digits are all above 0x80."""
    head = head[:_HEAD]
    solid = head.replace(b"\x40", b"")
    return (
        len(head) >= 16
        and len(_EBCDIC_BYTE.findall(head)) > 0.9 * len(head)
        and len(_EBCDIC_HIGH.findall(solid)) > 0.5 * len(solid)
    )


def ebcdic_codec(data: bytes) -> str:
    """Return the code page of EBCDIC text: the one that yields the fewest implausible characters.

    Letters, digits and separators are the same in all; where nothing decides, it is 1140, which is 37 with the euro.
    """
    return min(_CODECS, key=lambda codec: len(_IMPLAUSIBLE.findall(from_ebcdic(data, codec))))


def from_ebcdic(data: bytes, codec: str) -> str:
    """Return EBCDIC as text; its line ends 0x15 and 0x25 become a line feed."""
    found = data.decode(codec, "replace").replace("\x85", "\n")
    return found.replace("\xa4", _EURO[codec]) if codec in _EURO else found


def codec_of(line: bytes) -> str:
    """Return the codec of a line: UTF-8, else 1252 (of which 819 is a part where it has characters), else Latin-1."""
    for codec in ("utf-8", "cp1252"):
        try:
            line.decode(codec)
        except UnicodeDecodeError:
            continue
        return codec
    return "latin-1"


def decode(line: bytes) -> str:
    return line.decode(codec_of(line))


def has_ebcdic(cells: Sequence[str]) -> bool:
    """Return whether a cell holds EBCDIC that was exported as if it were text, as columns without a code page are."""
    for cell in cells:
        if cell and not cell.isascii():
            data = cell.strip().encode("cp1252", "replace")
            if _EBCDIC_TEXT.fullmatch(data) and any(byte >= 0xC1 for byte in data):
                return True
    return False

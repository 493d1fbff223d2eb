"""Answers of a DDS in XML as the same tree that JSON gives.

The names of JSON are those of XML with capitals for dashes (`time-data` is `timeData`); what is an attribute in XML is
a member in JSON, and the text of an element that has attributes is its `value`. The names in XML are those that the
parser of Zowe ZEBRA reads (github.com/zowe/zebra).
"""

from __future__ import annotations

import re
from typing import Any
from xml.parsers import expat

from counterflow.collectors.text.lines import BOM

_END = "</ddsml>"
_DASH = re.compile(r"-(\w)")
_LISTS = frozenset({"report", "row", "col", "var"})
_DEEPEST = 32


def is_xml(head: bytes) -> bool:
    """Return whether a file that begins with `head` is in XML: its first byte decides, so that more of it cannot."""
    return head.removeprefix(BOM).lstrip().startswith(b"<")


def decode(written: str) -> tuple[Any, int]:
    """Return the response that a text begins with, and where it ends.

    Raises
    ------
    ValueError : it is not XML, is not ended, or declares entities, which could make it of any size.
    """
    end = written.find(_END)
    if end < 0:
        raise ValueError(f"expected {_END} at its end")
    end += len(_END)
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = builder.doctype
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    try:
        parser.Parse(written[:end], True)
    except expat.ExpatError as error:
        raise ValueError(str(error)) from None
    return builder.tree, end


class _Builder:
    """The tree so far; of each open element its members and its text."""

    def __init__(self) -> None:
        self.tree: Any = None
        self._open: list[tuple[dict[str, Any], list[str]]] = []

    def doctype(self, *declared: object) -> None:
        if declared[-1]:
            raise ValueError("it declares entities of its own")

    def start(self, _: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= _DEEPEST:
            raise ValueError(f"elements are nested deeper than {_DEEPEST}")
        self._open.append((dict(attributes), []))

    def text(self, written: str) -> None:
        self._open[-1][1].append(written)

    def end(self, name: str) -> None:
        members, written = self._open.pop()
        text = "".join(written).strip()
        value: Any = members | ({"value": text} if text else {}) if members else text
        if not self._open:
            self.tree = value
            return
        within, name = self._open[-1][0], _DASH.sub(lambda dash: dash[1].upper(), name)
        if name in _LISTS or (name == "message" and len(self._open) == 1):  # of a report there is one
            within.setdefault(name, []).append(value)
        else:
            within[name] = value

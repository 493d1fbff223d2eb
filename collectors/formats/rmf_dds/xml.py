"""Responses of a DDS in XML as the same tree that JSON gives.

The names of JSON are those of XML with capitals for dashes (`time-data` is `timeData`); what is an attribute in XML is
a member in JSON, and the text of an element that has attributes is its `value`. The names in XML are those that the
parser of Zowe ZEBRA reads (github.com/zowe/zebra).
"""

from __future__ import annotations

import re
from typing import Any

from counterflow.collectors.text import xml_trees
from counterflow.collectors.text.lines import BOM

_DASH = re.compile(r"-(\w)")
_LISTS = frozenset({"report", "row", "col", "var"})
_SHAPE = xml_trees.Shape(
    several=lambda name, depth: name in _LISTS or (name == "message" and depth == 1),  # a report has one
    named=lambda name: _DASH.sub(lambda dash: dash[1].upper(), name),
)


def is_xml(head: bytes) -> bool:
    """Return whether a file that begins with `head` is in XML: its first byte decides, so later ones cannot."""
    return head.removeprefix(BOM).lstrip().startswith(b"<")


def decode(written: str) -> tuple[Any, int]:
    """Return the response that a text begins with, and where it ends.

    Raises
    ------
    ValueError : see `xml_trees.decode`.
    """
    return xml_trees.decode(written, "ddsml", _SHAPE)

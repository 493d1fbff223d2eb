"""Reports of RMF Monitor III as the Distributed Data Server (DDS) returns them, in JSON or XML: one or several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from counterflow.collectors.formats.rmf_dds.items import RmfState, items
from counterflow.collectors.formats.rmf_dds.report import Newest, newest
from counterflow.collectors.records import Context, Item, Position
from counterflow.collectors.text import xml_trees
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.lines import BOM, read_head

__all__ = ["Newest", "newest"]

# Names in XML have dashes for the capitals of JSON (`time-data` is `timeData`); an attribute is a member in JSON, the
# text of an element with attributes its `value`. Zowe ZEBRA's parser reads these names (github.com/zowe/zebra).
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


# A response begins with any of its keys. Inside it, only a report may begin with one of them, `message`, and a report's
# `message` is not a list.
_KEYS = (
    rb"attributeList|containedResourcesList|filterInstancesList|metricList|postprocessor|report|server|workscopeList"
)
_DOCUMENTS = Documents(
    re.compile(rb'\{\s{0,64}"(?:(?:' + _KEYS + rb')"\s{0,64}:|message"\s{0,64}:\s{0,64}\[)'),
    '{"report": …}',
    between=re.compile(rb"[\s\[\],\xef\xbb\xbf]+"),
)
_BEHIND = rb"(?<!\?>)(?<!\?>\n)(?<!\?>\r\n)(?<!\?> )"  # what follows a declaration belongs to it
_XML = Documents(re.compile(_BEHIND + rb"<(?:\?xml|ddsml)\b"), "<ddsml> … </ddsml>", decode=decode, language="XML")


def recognises(head: bytes) -> bool:
    """Return whether `head` holds the begin of a response that names a resource of RMF, or its server."""
    if is_xml(head):
        return b"<ddsml" in head[:4096] and b"<postprocessor" not in head
    return _DOCUMENTS.start.search(head) is not None and (b'"reslabel"' in head or b'"RMF-DDS' in head)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every report; a response that is damaged becomes a reject, and the next is read."""
    documents = _XML if is_xml(read_head(stream)) else _DOCUMENTS
    return read_items(stream, position, context, documents, RmfState, items)

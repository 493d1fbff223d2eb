"""Atom feeds of an HMC's REST interface (`/rest/api/uom`): SR-IOV ports, partitions and managed systems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from counterflow.collectors.formats.hmc_feed.objects import FeedState, items
from counterflow.collectors.records import Context, Item, Position
from counterflow.collectors.text import xml_trees
from counterflow.collectors.text.documents import Documents, read_items
from counterflow.collectors.text.lines import BOM

_ROOT = rb'<(feed|entry)\s[^<>]{0,160}xmlns="http://www\.w3\.org/2005/Atom"'  # an entry within a feed has no xmlns
_BEHIND = rb"(?<!\?>)(?<!\?>\n)(?<!\?>\r\n)(?<!\?> )"  # what follows a declaration belongs to it
_START = re.compile(rb"<\?xml\b|" + _BEHIND + _ROOT)
_NAME = re.compile(_ROOT.decode())
_MANAGED = (b"vnd.ibm.powervm.uom", b"/systems/power/firmware/uom/")
_SHAPE = xml_trees.Shape(
    several=lambda name, depth: True,
    named=lambda name: name.rpartition(":")[2],
    kept=frozenset({"href", "rel"}),
)


def recognises(head: bytes) -> bool:
    """Return whether `head` begins with a feed or an entry of managed objects, not of links to metrics."""
    head = head.removeprefix(BOM).lstrip()
    root = re.search(_ROOT, head[:1024]) if head.startswith(b"<") else None
    return root is not None and any(mark in head for mark in _MANAGED)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every document; one that is damaged becomes a reject, and the next is read."""
    documents = Documents(_START, "<feed> … </feed>", decode=_decode, language="XML")
    return read_items(stream, position, context, documents, FeedState, items)


def _decode(written: str) -> tuple[Any, int]:
    found = _NAME.search(written)
    if found is None:
        raise ValueError("expected a feed or an entry of Atom")
    return xml_trees.decode(written, found[1], _SHAPE)

"""Processed metrics of the HMC's Performance and Capacity Monitoring (PCM): JSON documents, one behind the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from counterflow.collectors.formats.hmc_pcm.sample import PcmState, items
from counterflow.collectors.records import Context, Item, Position
from counterflow.collectors.text.documents import Documents, read_items

_DOCUMENTS = Documents(re.compile(rb'\{\s{0,64}"systemUtil"\s{0,64}:'), '{"systemUtil": …}')
"""Two hours of a partition are about 10 MB."""


def recognises(head: bytes) -> bool:
    return _DOCUMENTS.start.search(head) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the ports of every sample; a document that is damaged becomes a reject, and the next is read."""
    return read_items(stream, position, context, _DOCUMENTS, PcmState, items)

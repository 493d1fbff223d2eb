"""Processed metrics of the HMC's Performance and Capacity Monitoring (PCM): JSON documents, one behind the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

from counterflow.collectors.formats.documents import Documents, read
from counterflow.collectors.formats.hmc_pcm.sample import Memory, UnusableDocumentError, items
from counterflow.collectors.records import Context, Item, Position, Reason, Reject

_DOCUMENTS = Documents(re.compile(rb'\{\s{0,64}"systemUtil"\s{0,64}:'), '{"systemUtil": …}')
"""Two hours of a partition are about 10 MB."""


class HmcPcm:
    """The documents below /rest/api/pcm/ProcessedMetrics; see docs/formats/hmc_pcm.md."""

    name = "hmc_pcm"

    def recognises(self, head: bytes) -> bool:
        """Say whether a document begins in `head`."""
        return _DOCUMENTS.start.search(head) is not None

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield the ports of every sample; a document that is damaged becomes a reject, and the next is read."""
        position = position or Position(0, 1)
        memory, end = Memory(**position.state), position.byte_offset
        for part in read(stream, position, _DOCUMENTS, complete=context.complete):
            if part.reject is not None:
                yield part.reject
            elif part.tree is not None:
                try:
                    for item in items(part.tree, memory, context):
                        if isinstance(item, Reject):
                            item.line, item.byte_offset = part.line, part.offset
                        yield item
                except UnusableDocumentError as error:
                    yield Reject(error.reason, str(error), "none", part.line, part.offset, raw=part.text)
            end = part.end
            yield Position(end, part.end_line, asdict(memory))
        if context.complete and end == 0:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")


FORMAT = HmcPcm()

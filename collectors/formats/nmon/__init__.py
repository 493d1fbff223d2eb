"""nmon recordings of AIX, VIOS and Linux."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from counterflow.collectors.formats.nmon import order
from counterflow.collectors.formats.nmon.parser import Parser
from counterflow.collectors.records import Context, Item, Position, Reason, Reject
from counterflow.collectors.text.lines import read_head

_MARK = re.compile(
    rb"^(?:\xef\xbb\xbf)?(?:AAA[,;](?:progname|command|version|host|date|time|interval|build|runname|user)[,;]"
    rb"|ZZZZ[,;]T\d{4,16}[,;])",
    re.MULTILINE,
)


class Nmon:
    name = "nmon"

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with `head` is an nmon recording."""
        return _MARK.search(head) is not None

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Return the records of each snapshot when it is whole, its manifest rows, and a position to resume at."""
        if position is None and not read_head(stream):
            return iter(_empty(stream, context))
        return order.parse(stream, context, position)


def _empty(stream: BinaryIO, context: Context) -> list[Item]:
    if not context.complete:
        return []
    reject = Reject(Reason.EMPTY_FILE, "the file is empty", "none")
    return [reject, Position(stream.seek(0, os.SEEK_END), 0, Parser(context).state())]


FORMAT = Nmon()

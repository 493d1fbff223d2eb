"""Scrapes of exporters: the text format of Prometheus and OpenMetrics.

Every sample is a row of `counter`. What a known exporter measures fills the datasets of its figures, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

from counterflow.collectors.formats.openmetrics.exposition import END
from counterflow.collectors.formats.openmetrics.scrape import STAMP, Target, items
from counterflow.collectors.records import Context, Item, Position, Reason, Reject
from counterflow.collectors.text.lines import Line, read_lines

MOST_LINES = 200_000
"""Lines of one scrape that are kept: samples and comments."""

_TYPE = re.compile(
    rb"^# TYPE [A-Za-z_:][\w:.]* (?:counter|gauge|histogram|summary|untyped|unknown|info|stateset)\b", re.MULTILINE
)


def recognises(head: bytes) -> bool:
    return _TYPE.search(head) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of each scrape; one ends at `# EOF`, before a comment with a time, or with the file."""
    start = position or Position(0, 0)
    targets = {section: Target(**state) for section, state in start.state.items()}
    lines: list[Line] = []
    beyond = 0
    last: Line | None = None
    for line in read_lines(stream, start.byte_offset, start.line):
        if line.fault is Reason.CUT_LINE and not context.complete:
            return
        if lines and (STAMP.match(line.data) or (last is not None and last.data.rstrip() == END)):
            yield from items(lines, beyond, context, targets)
            yield _reached(line.offset, line.number - 1, targets)
            lines, beyond = [], 0
        last = line
        if len(lines) < MOST_LINES:
            lines.append(line)
        else:
            beyond += 1
    if last is None:
        if start.byte_offset == 0 and context.complete:
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")
    elif context.complete or last.data.rstrip() == END:
        yield from items(lines, beyond, context, targets)
        yield _reached(last.end, last.number, targets)


def _reached(offset: int, line: int, targets: dict[str, Target]) -> Position:
    return Position(offset, line, {section: asdict(target) for section, target in targets.items()})

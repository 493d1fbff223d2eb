"""Output of YCSB: status lines, the summary and the messages of a database binding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import BinaryIO

from counterflow.collectors.formats.ycsb import lines
from counterflow.collectors.formats.ycsb.run import Summary, YcsbRun, of_status, of_summary
from counterflow.collectors.records import Context, Item, Position, Reason, Reject, placed
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.lines import KEPT_BYTES, Line, placed_in, read_lines
from counterflow.collectors.text.stamps import iso, stated

MAX_MESSAGES = 20
"""Messages of a file that are noted singly; the others are counted."""
MAX_FIGURES = 100_000
"""Lines of a summary that are read; buckets of histograms are the most of them."""

_YCSB = re.compile(
    rb"^YCSB Client \S|^\[OVERALL\], RunTime\(ms\), -?\d|^(?!.*\d:\d\d:\d\d \d+ sec: ).*\d sec: \d+ operations;",
    re.MULTILINE,
)
"""A time without milliseconds is of YCSB-cpp, whose figures cover the run up to the line."""
_STAMP = re.compile(r"\s*\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S*\s*")


@dataclass
class _Block:
    """Lines that belong together: a status line and what continues it, or a summary."""

    first: Line
    status: lines.Status | None = None
    summary: Summary = field(default_factory=dict)
    raw: list[bytes] = field(default_factory=list)
    rejects: list[Item] = field(default_factory=list)
    count: int = 0


def recognises(head: bytes) -> bool:
    return _YCSB.search(head) is not None


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of every status line and summary; the last one only where the data is complete."""
    if context.system is None:
        detail = "the output does not name its system: set `system` of the source, or --system"
        yield Reject(Reason.BAD_HEADER, detail, "none")
        return
    yield from _OutputReading(stream, context, position or Position(0, 0)).items()


class _OutputReading:
    def __init__(self, stream: BinaryIO, context: Context, position: Position) -> None:
        self._stream = stream
        self._context = context
        self._begin = position
        self._run = YcsbRun(**position.state)
        self._block: _Block | None = None

    def items(self) -> Iterator[Item]:
        read_to = start = (self._begin.byte_offset, self._begin.line)
        for line in read_lines(self._stream, *start):
            if line.fault is Reason.CUT_LINE and not self._context.complete:
                return  # the rest of it is still to be written
            read_to = (line.end, line.number)
            written = text(line.data[:MAX_FIGURES]).rstrip()
            if line.fault is None and self._continue(line, written):
                continue
            if self._block is not None:
                yield from self._flush()
                yield Position(line.offset, line.number - 1, asdict(self._run))
            found = list(self._one(line, written))
            if self._block is None and found:
                yield from found
                yield Position(*read_to, asdict(self._run))
        if not self._context.complete:
            return
        if self._block is not None:
            yield from self._flush()
        if read_to == (0, 0):
            yield Reject(Reason.EMPTY_FILE, "the file is empty", "none")
        elif read_to != start:
            if self._run.noted > MAX_MESSAGES:
                detail = f"{self._run.noted - MAX_MESSAGES} messages more than the {MAX_MESSAGES} that are noted"
                yield Reject(Reason.RECORDER_MESSAGE, detail, "none")
                self._run.noted = MAX_MESSAGES
            yield Position(*read_to, asdict(self._run))

    def _continue(self, line: Line, written: str) -> bool:
        """Add a line to the block that is open, if it belongs to it."""
        block = self._block
        if block is None:
            return False
        if block.status is not None:
            if not lines.KIND.match(written.lstrip()):  # measurements of two types have lines of their own
                return False
            block.status.measured.extend(lines.measured(written))
            block.raw.append(line.raw)
            return True
        if self._starts(written) or (written.startswith("[OVERALL], RunTime(ms)") and "OVERALL" in block.summary):
            return False
        self._add(block, line, written)
        return True

    def _starts(self, written: str) -> bool:
        """Return whether a line cannot stand within a summary."""
        try:
            status = lines.status(written)
        except ValueError:
            return True
        is_head = lines.command(written) is not None or lines.version(written) is not None
        return status is not None or is_head or _STAMP.fullmatch(written) is not None

    def _add(self, block: _Block, line: Line, written: str) -> None:
        try:
            summed = lines.summed(written)
        except ValueError as error:
            block.rejects.append(placed_in(line, Reject(Reason.NOT_A_NUMBER, str(error), "none")))
            return
        if summed is None:
            block.rejects += [placed_in(line, item) for item in self._other(line, written)]
            return
        block.count += 1
        if block.count > MAX_FIGURES:
            if block.count == MAX_FIGURES + 1:
                detail = f"more than the {MAX_FIGURES} figures of a summary that are read"
                block.rejects.append(placed_in(line, Reject(Reason.OUT_OF_RANGE, detail, "none")))
            return
        block.summary.setdefault(summed.name, {})[summed.measurement] = summed.value
        block.raw.append(line.raw)

    def _one(self, line: Line, written: str) -> Iterator[Item]:
        """Begin a block with a line, or yield its reject."""
        if line.fault is not None:
            detail = "the output ends within a line" if line.fault is Reason.CUT_LINE else "the line is too long"
            yield placed_in(line, Reject(line.fault, detail, "none"))
            return
        try:
            status = lines.status(written)
        except ValueError as error:
            yield placed_in(line, Reject(Reason.STAMP_INVALID, str(error), "none"))
            return
        if status is not None:
            self._block = _Block(line, status, raw=[line.raw])
        elif lines.SUMMARY.fullmatch(written):
            self._block = _Block(line)
            self._add(self._block, line, written)
        elif (settings := lines.command(written)) is not None:
            self._run = self._run.following(settings)
        elif (version := lines.version(written)) is not None:
            if not self._run.fresh:
                self._run = self._run.following()
            self._run.settings["version"] = version
        elif _STAMP.fullmatch(written):
            yield from self._begun(line, written)
        else:
            yield from (placed_in(line, item) for item in self._other(line, written))

    def _begun(self, line: Line, written: str) -> Iterator[Item]:
        """Take the time of a line of ours as the begin of the run."""
        found = stated(written.strip(), self._context.zone)
        if found is None:
            detail = f"expected the time at which a run begins, found `{written.strip():.40}`"
            yield placed_in(line, Reject(Reason.STAMP_INVALID, detail, "none"))
            return
        self._run = self._run.following()
        self._run.begin = iso(found)

    def _other(self, line: Line, written: str) -> Iterator[Reject]:
        """Yield the reject of a line that is no figure: the messages of the database binding."""
        if not written or lines.OWN.match(written):
            return
        if lines.RAW_DATA.fullmatch(written):
            self._run.raw_data += 1
            if self._run.raw_data == 1:
                yield Reject(Reason.RECORDER_MESSAGE, "points of measurementtype=raw are not read", "part")
            return
        self._run.noted += 1
        if self._run.noted <= MAX_MESSAGES:
            yield Reject(Reason.RECORDER_MESSAGE, written[:200], "all")

    def _flush(self) -> Iterator[Item]:
        block, self._block = self._block, None
        assert block is not None  # noqa: S101 - flushed where there is one
        if block.status is not None:
            if not self._run.follows(block.status):
                self._run = self._run.following()
            found = of_status(self._run, block.status, self._context)
        else:
            if self._run.ended:
                self._run = self._run.following()
            found = of_summary(self._run, block.summary, self._context)
        for item in found:
            if isinstance(item, Reject) and item.kept == "none":
                item.raw = b"\n".join(block.raw)[:KEPT_BYTES]
            yield placed(item, block.first.number, block.first.offset)
        yield from block.rejects

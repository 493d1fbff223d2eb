"""The account of a parse: its rejects, by line."""

from __future__ import annotations

import re
from typing import Literal

from counterflow.collectors.formats.nmon.snapshot import Snapshot
from counterflow.collectors.records import Item, Reason, Reject
from counterflow.collectors.text import stamps
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.lines import KEPT_BYTES, MAX_LINE_BYTES, Line

Kept = Literal["all", "part", "none"]

SECTION = re.compile(rb"[A-Za-z][A-Za-z0-9_+-]*")


class Account:
    """Items in the order in which they were found; a reject has the place, system and snapshot of its fault."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        """Items that were not yielded yet."""
        self.system: str | None = None
        self.snapshot = Snapshot(0, "", None, None)
        self.noted: set[str] = set()

    def reject(
        self,
        line: Line,
        reason: Reason,
        detail: str,
        kept: Kept = "none",
        *,
        section: str | None = "",
        snapshot: bytes | None = None,
    ) -> None:
        """Report what is wrong with a line; its bytes are attached unless all of it is kept."""
        if section == "":
            first = line.data.partition(b",")[0]
            section = text(first) if SECTION.fullmatch(first) else None
        tag = snapshot.decode() if snapshot else self.snapshot.tag or None
        instant = self.snapshot.instant if self.snapshot.number and tag == self.snapshot.tag else None
        self.items.append(
            Reject(
                reason,
                detail,
                kept,
                line=line.number,
                byte_offset=line.offset,
                section=section,
                snapshot=tag,
                system=self.system,
                ts=stamps.iso(instant) if instant else None,
                raw=b"" if kept == "all" else line.raw,
            )
        )

    def once(self, key: str, line: Line, reason: Reason, detail: str) -> None:
        """Report a fault that all such lines of the recording share, only at the first of them."""
        if key not in self.noted:
            self.noted.add(key)
            self.reject(line, reason, detail, "all")

    def fault(self, line: Line) -> None:
        if line.fault is Reason.LINE_TOO_LONG:
            kept, skipped = KEPT_BYTES >> 10, line.end - line.offset - len(line.data)
            detail = f"longer than {MAX_LINE_BYTES >> 20} MiB; the first {kept} KiB kept, {skipped} B skipped"
            self.reject(line, Reason.LINE_TOO_LONG, detail)
        else:
            self.reject(line, Reason.CUT_LINE, "the data ends within this line")

    def padding(self, line: Line) -> None:
        """Report a line that was read without the empty fields at its end."""
        if line.raw.endswith((b",,", b";;")) and not line.data.endswith(b","):
            detail = "ends with empty fields, as a spreadsheet pads lines: here and on all such lines they are left out"
            self.once("padding", line, Reason.FIELD_COUNT, detail)

    def encoding(self, line: Line) -> None:
        try:
            line.data.decode()
        except UnicodeDecodeError:
            detail = "not UTF-8: this text and all such after it are read as Latin-1"
            self.once("encoding", line, Reason.WRONG_ENCODING, detail)

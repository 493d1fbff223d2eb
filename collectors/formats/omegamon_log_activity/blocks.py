"""The two layouts of the log manager's figures: the block LOG ACTIVITY, and the record of IFCID 1 with dotted labels.

Source: IBM OMEGAMON for Db2 Performance Expert 5.5, Statistics - Log Activity, and IFCID 001 - Log Manager Data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from counterflow.collectors.records import Reason, Reject
from counterflow.collectors.text.lines import Line
from counterflow.schemas.mapping import fills


def _labels(behind: str) -> dict[str, str]:
    """Return the columns of `db_log` by the labels that `mapping.yaml` states with this text behind them."""
    filled = fills("omegamon_log_activity", "db_log")
    return {f.counter.removesuffix(behind): f.column for f in filled if f.counter.endswith(behind)}


DELTAS, COUNTS = _labels(" QUANTITY"), _labels(" of a record")
RATE = "LOG RATE FOR 1 LOG (MB)"
SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
"""Figures too long for their place are rounded, and a letter gives their magnitude."""

_VALUE = r"-?[\d*#?][\d*#?.,]*[KMGTPE]?|N/[ACP]"
"""A figure, also one that cannot be read."""
_SHOWN = re.compile(r"(?P<number>-?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?)(?P<letter>[KMGTPE]?)")
_DECIMAL_COMMA = re.compile(r"(?P<number>-?\d+,\d+)(?P<letter>[KMGTPE]?)")
_HEADING = re.compile(r"\bLOG ACTIVITY\s+QUANTITY\s+/SECOND(?:\s+/THREAD)?(?:\s+/COMMIT)?")
_COLUMN = re.compile(r"QUANTITY|/SECOND|/THREAD|/COMMIT")
_ROW = re.compile(rf"(?P<label>\S.*?)\s+(?P<values>(?:{_VALUE})(?:\s+(?:{_VALUE}))*)\s*")
_RULE = re.compile(r"[\s-]*")
_DOTTED = re.compile(rf"(?P<label>[A-Z](?:[^.:]*[^.:\s])?)[\s.]*:\s*(?P<value>{_VALUE})(?!\S)")
_SEPARATOR = re.compile(r"[.,]")
_DOTS = re.compile(r"\.{3,}\s*:")

OFF = 3
"""Print columns by which labels and figures may be off their headings."""
PRINT_CHARACTERS = 133
MAX_ROWS = 500
"""Lines of one block."""

_ROWS = re.compile("|".join(re.escape(label) for label in (*DELTAS, RATE)))

_CANONICAL = {re.sub(r"\s", "", label): label for label in (*DELTAS, RATE, *COUNTS)}


@dataclass
class Block:
    """The figures of one block by label; of the columnar layout those of QUANTITY.

    `written` holds them as text with their lines until the block is whole, `rate` that of RATE in /SECOND; `separated`
    are all of its figures that have a comma or a point.
    """

    first: Line
    cumulative: bool
    written: dict[str, tuple[str, Line]] = field(default_factory=dict)
    rate: tuple[str, Line] | None = None
    separated: list[str] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)

    def add(self, label: str, value: str, line: Line) -> None:
        if label in self.written:
            self.rejects.append(_reject(line, Reason.DUPLICATE_ROW, f"the block has a row {label} already", "none"))
        else:
            self.written[label] = value, line

    def figures(self) -> tuple[dict[str, float], float | None]:
        """Return the figures that are shown, by label, and the rate; note those that cannot be read.

        Commas are decimal ones where every figure with a comma or a point can be read so, and none otherwise.
        """
        decimal = all(_DECIMAL_COMMA.fullmatch(figure) and not _SHOWN.fullmatch(figure) for figure in self.separated)
        found = {
            label: self._number(label, value, line, decimal=decimal) for label, (value, line) in self.written.items()
        }
        rate = self.rate and self._number(f"/SECOND of {RATE}", *self.rate, decimal=decimal)
        self.rejects.sort(key=lambda reject: reject.line)
        return {label: number for label, number in found.items() if number is not None}, rate

    def _number(self, label: str, value: str, line: Line, *, decimal: bool) -> float | None:
        if value.startswith("N/"):
            return None
        match = (_DECIMAL_COMMA if decimal and "," in value else _SHOWN).fullmatch(value)
        if match is None:
            detail = f"{label}: expected a figure as 27700.00, found `{value:.40}`"
            self.rejects.append(_reject(line, Reason.NOT_A_NUMBER, detail, "part"))
            return None
        number = float(match["number"].replace(",", "." if decimal else "")) * SCALES[match["letter"]]
        if number < 0:
            self.rejects.append(_reject(line, Reason.OUT_OF_RANGE, f"{label}: {value} is impossible", "part"))
            return None
        return number


class Columnar:
    """Reads the block LOG ACTIVITY below its heading; another block may stand beside it.

    Labels and figures may stand some columns off their headings: text in the gap between two blocks belongs to the
    nearer one.
    """

    is_log = True

    def __init__(self, match: re.Match[str], line: Line) -> None:
        """Take the places of its columns from the heading, and those of its neighbours from the rest of the line."""
        self.block = Block(line, cumulative=False, raw=[line.raw])
        self._begin, end = match.span()
        before, behind = match.string[: self._begin].rstrip(), match.string[end:]
        # the first column of a print may hold a control character
        self._left = (len(before) + self._begin + 1) // 2 if before else max(min(1, self._begin), self._begin - OFF)
        self._right = end + (len(behind) - len(behind.lstrip())) // 2 if behind.strip() else None
        self._ends = {self._begin + found.end(): found[0] for found in _COLUMN.finditer(match[0])}

    def accept(self, written: str, line: Line) -> bool:
        """Add a line to the block; return False where the block has ended."""
        part = written[self._left : self._right]
        if _RULE.fullmatch(part):
            if (lost := stray(written, line)) is not None:
                self.block.rejects.append(lost)
            return True
        match = _ROW.fullmatch(part, len(part) - len(part.lstrip()))
        begin = self._left + (match.start("label") if match else 0)
        if match is None or abs(begin - self._begin) > OFF or len(self.block.raw) > MAX_ROWS:
            return False
        self.block.raw.append(line.raw)
        label = _label(match["label"])
        values = [(self._left + match.start("values") + v.end(), v[0]) for v in re.finditer(r"\S+", match["values"])]
        cut = line.fault is Reason.CUT_LINE and len(values) < len(self._ends)  # the last figure may be cut
        by_name = None if cut else self._placed(values)
        if by_name is None:
            detail = f"{label}: {len(values)} figures that do not stand below the {len(self._ends)} columns"
            self.block.rejects.append(_reject(line, Reason.FIELD_COUNT, detail, "none"))
            return True
        if "QUANTITY" in by_name:
            self.block.add(label, by_name["QUANTITY"], line)
        if label == RATE and "/SECOND" in by_name:
            self.block.rate = by_name["/SECOND"], line
        self.block.separated += filter(_SEPARATOR.search, by_name.values())
        return True

    def _placed(self, values: list[tuple[int, str]]) -> dict[str, str] | None:
        """Return figures by their columns: in order where each column has one, else by the nearest heading."""
        if len(values) == len(self._ends):
            return dict(zip(self._ends.values(), (value for _, value in values), strict=True))
        found: dict[str, str] = {}
        for end, value in values:
            near = min(self._ends, key=lambda place: abs(place - end))
            if abs(near - end) > OFF or self._ends[near] in found:
                return None
            found[self._ends[near]] = value
        return found


class Dotted:
    """Reads pairs of `LABEL ....: figure`, two on a line; a line without any ends the block."""

    def __init__(self, line: Line) -> None:
        self.block = Block(line, cumulative=True)

    def accept(self, written: str, line: Line) -> bool:
        """Add a line to the block; return False where the block has ended."""
        found = list(_DOTTED.finditer(written))
        if not found or len(self.block.raw) >= MAX_ROWS:
            return not written.strip()
        self.block.raw.append(line.raw)
        if line.fault is Reason.CUT_LINE and found[-1].end() == len(written):
            detail = f"the file ends within the line: {_label(found.pop()['label'])} may be cut and is left out"
            self.block.rejects.append(_reject(line, line.fault, detail, "part"))
        for match in found:
            self.block.add(_label(match["label"]), match["value"], line)
        self.block.separated += (match["value"] for match in found if _SEPARATOR.search(match["value"]))
        if rest := _DOTTED.sub("", written).strip():
            detail = f"expected LABEL ....: figure, found `{rest:.80}`"
            self.block.rejects.append(_reject(line, Reason.NOT_A_NUMBER, detail, "part"))
        return True

    @property
    def is_log(self) -> bool:
        """Whether it is the data of the log manager: other records of a trace have dotted labels too."""
        return not COUNTS.keys().isdisjoint(self.block.written)


def begins(written: str, line: Line) -> Columnar | Dotted | None:
    """Return the reader of the block that begins with a line, None where none does."""
    if match := _HEADING.search(written):
        return Columnar(match, line)
    return Dotted(line) if _DOTS.search(written) and _DOTTED.search(written) else None


def stray(written: str, line: Line) -> Reject | None:
    """Return the reject of a line that holds figures of the log outside of any block, None for any other line."""
    found = _ROWS.search(written)
    if found is None:
        return None
    detail = f"{found[0]} stands outside of a block LOG ACTIVITY, or without figures: expected its heading before it"
    return _reject(line, Reason.UNKNOWN_LINE, detail, "none")


def is_log(head: str) -> bool:
    if _HEADING.search(head):
        return True
    lines = (line[:PRINT_CHARACTERS] for line in head.split("\n"))
    dotted = (_DOTTED.finditer(line) for line in lines if _DOTS.search(line))
    labels = {_label(match["label"]) for found in dotted for match in found}
    return len(labels & set(COUNTS)) >= 2


def _label(written: str) -> str:
    """Return the known label, however many blanks it was written with, else the label with single blanks."""
    return _CANONICAL.get(re.sub(r"\s", "", written), " ".join(written.split()))


def _reject(line: Line, reason: Reason, detail: str, kept: Literal["part", "none"]) -> Reject:
    return Reject(reason, detail, kept, line.number, line.offset, raw=line.raw if kept == "none" else b"")

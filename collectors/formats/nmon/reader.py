"""The rows of the open snapshot: read by the header of their section, checked, and kept until the snapshot is whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from counterflow.collectors.formats.nmon import partition
from counterflow.collectors.formats.nmon.account import SECTION, Account
from counterflow.collectors.formats.nmon.headers import Cell, Headers, Layout, ProcessLayout, process_layout
from counterflow.collectors.formats.nmon.rows import Row
from counterflow.collectors.formats.nmon.snapshot import ConfigItem, Process, Snapshot
from counterflow.collectors.records import Reason
from counterflow.collectors.text.codepages import text
from counterflow.collectors.text.lines import Line

_VM_TITLE = "Paging and Virtual Memory"
_UTILISATION = re.compile(rb"CPUUTIL(\d+)")
_PLAIN = b"0123456789., "
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_WIDE = b"0" * 19
"""Digits, written as 0, of a number that may be too large; looking for them costs less than comparing numbers."""
_NUMBER = re.compile(rb"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_TOO_LARGE = 2.0**63


class SnapshotReader:
    """Reads rows into `snapshot` by `headers`; their faults go to the account."""

    def __init__(self, headers: Headers, account: Account) -> None:
        self.headers = headers
        self.snapshot = Snapshot(0, "", None, None)
        self.layouts: dict[bytes, Layout] = {}
        """Layouts of the sections that had a row, by the bytes of their names."""
        self.shifted = False
        """Whether rows of CPUUTIL count from 000 and their headers from 001."""
        self._account = account
        self._processes: ProcessLayout | None = None
        self._utilisations: list[tuple[Line, bytes, bytes]] = []

    def use(self, headers: Headers) -> None:
        self.headers = headers
        self.layouts.clear()
        self._processes = None

    def set_header(self, section: str, title: str, columns: list[str]) -> None:
        self.headers.set(section, title, columns)
        self.layouts.clear()
        self._processes = None

    # numeric rows

    def row(self, line: Line, section: bytes, fields: bytes) -> None:
        name = text(section)
        layout = self.headers.layout(name)
        if match := _UTILISATION.fullmatch(section):
            self._utilisations.append((line, match[1], fields))
        elif layout is not None:
            self.layouts[section] = layout
            self.numeric(line, section, layout, fields)
        elif name == "VM" and not is_numeric(fields):
            self._stamped_header(name, names(fields))
        elif SECTION.fullmatch(section) is None:
            self._account.reject(line, Reason.UNKNOWN_LINE, "not a section of an nmon recording", section=None)
        else:
            self._no_header(line, name)

    def _no_header(self, line: Line, section: str) -> None:
        self._account.reject(line, Reason.NO_HEADER, f"{section} has no header that names its columns")

    def _stamped_header(self, section: str, columns: list[str]) -> None:
        """Take a header that an old recorder wrote behind its first stamp, with the snapshot in it."""
        title = columns.pop(0) if columns[0] == _VM_TITLE else _VM_TITLE
        self.set_header(section, title, columns)

    def numeric(self, line: Line, section: bytes, layout: Layout, fields: bytes) -> None:
        rows = self.snapshot.rows
        if section in rows:
            detail = "the section has a row in this snapshot; the first is kept"
            self._account.reject(line, Reason.DUPLICATE_ROW, detail)
            return
        numbers: list[float] | list[float | None] | None = plain_numbers(fields)
        if numbers is None:
            linux = self.headers.system == "Linux"
            numbers, problems = careful_numbers(fields, unsupported=linux, signed=layout.signed)
            if len(numbers) == len(layout.names) + 1 and fields.rstrip().endswith(b","):
                numbers.pop()
            if problems and len(numbers) == len(layout.names):
                self._refuse_fields(line, layout.names, problems)
        if len(numbers) != len(layout.names):
            self._wrong_count(line, section, layout, numbers, fields)
        elif (row := self._checked(line, layout, numbers)) is not None:
            rows[section] = row

    def _checked(self, line: Line, layout: Layout, numbers: Sequence[float | None]) -> Row | None:
        """Return the row without its impossible values, or None where no value can be trusted."""
        if layout.percentages and not any(numbers[:5]):
            detail = "all zero: the recorder's own check of its counters failed"
            self._account.reject(line, Reason.NEGATIVE_DELTA, detail, "part")
            both = zip(layout.cells, numbers, strict=True)
            return Row(layout, [None if c and c.column.endswith("_pct") else v for c, v in both])
        if layout.section == "LPAR" and self.headers.system == "AIX":
            if partition.contradicts_itself(dict(zip(layout.names, numbers, strict=True))):
                self._account.reject(line, Reason.OUT_OF_RANGE, "the values contradict each other: some are shifted")
                return None
        elif layout.section == "LPAR" and self.snapshot.number == 1:
            return self._since_start(line, layout, numbers)
        elif layout.section == "VM" and self.snapshot.number == 1:
            return self._first_of_vm(line, layout, numbers)
        elif layout.ceiling is not None and layout.ceiling in numbers:
            problem = FieldProblem(Reason.OUT_OF_RANGE, f"{layout.ceiling} is the recorder's ceiling, not the figure")
            at = [n for n, number in enumerate(numbers) if number == layout.ceiling]
            self._refuse_fields(line, layout.names, [(n, problem) for n in at])
            return Row(layout, [None if number == layout.ceiling else number for number in numbers])
        return Row(layout, numbers)

    def _since_start(self, line: Line, layout: Layout, numbers: Sequence[float | None]) -> Row:
        """Return the first row of LPAR on Linux, without the figures that must cover the time since boot."""
        cpu = self.snapshot.rows.get(b"CPU_ALL")
        of_cpu = dict(zip(cpu.layout.names, cpu.values, strict=False)) if cpu else {}
        row = dict(zip(layout.names, numbers, strict=True))
        why = partition.beyond(row, of_cpu)
        if why is None:
            return Row(layout, numbers)
        detail = f"PhysicalCPU: {row['PhysicalCPU']:g} {why}; it and pool_idle_time are taken as since boot"
        self._account.reject(line, Reason.OUT_OF_RANGE, detail, "part")
        refused = ("PhysicalCPU", "pool_idle_time")
        both = zip(layout.names, numbers, strict=True)
        return Row(layout, [None if name in refused else value for name, value in both])

    def _first_of_vm(self, line: Line, layout: Layout, numbers: Sequence[float | None]) -> Row:
        """Return the first row of VM, where an old recorder writes counts since boot, and -1 for what it did not find.

        From the second row on it writes the difference of two -1 for such a counter: 0.
        """
        both = [*zip(layout.names, line.data.split(b",")[2:], strict=False)]
        missing = {name for name, field in both if field.strip() == b"-1" and not name.startswith("nr_")}
        if not missing:
            return Row(layout, numbers)
        detail = f"-1: {len(missing)} counters were not found, and are 0 later: left out; others count since boot here"
        self._account.reject(line, Reason.RECORDER_DEFECT, detail, "part")
        self.set_header("VM", _VM_TITLE, ["" if name in missing else name for name in layout.names])
        gauges = [name.startswith("nr_") for name in layout.names]
        return Row(layout, [number if is_gauge else None for number, is_gauge in zip(numbers, gauges, strict=True)])

    def _wrong_count(self, line: Line, section: bytes, layout: Layout, numbers: list[Any], fields: bytes) -> None:
        found, expected = len(numbers), len(layout.names)
        detail = f"{found} values for {expected} columns"
        named = [name for name in layout.names if name]
        if len(named) == found < expected:
            name = text(section)
            self.set_header(name, self.headers.table[name].title, named)
            repair = f"{detail}: the header has empty names; without them it fits"
            self._account.once(f"header {name}", line, Reason.RECORDER_DEFECT, repair)
            if (repaired := self.headers.layout(name)) is not None:
                self.numeric(line, section, repaired, fields)
        elif layout.grows and found > expected:
            self.snapshot.rows[section] = Row(layout, numbers[:expected])
            self._account.reject(line, Reason.FIELD_COUNT, f"{detail}: the first {expected} are kept", "part")
        elif (
            layout.section == "LPAR"
            and found == expected - 1
            and partition.is_in_place(dict(zip(layout.names, numbers[:-1], strict=False)))
        ):
            self.snapshot.rows[section] = Row(layout, [*numbers[:-1], None, None])
            kept = f"all but {layout.names[-2]} and {layout.names[-1]} are kept, proved by PhysicalCPU and VP_*"
            self._account.reject(line, Reason.FIELD_COUNT, f"{detail}: {kept}", "part")
        else:
            hint = ": decimal commas?" if expected and found == 2 * expected else ""
            self._account.reject(line, Reason.FIELD_COUNT, detail + hint)

    def _refuse_fields(self, line: Line, columns: Sequence[str], problems: list[tuple[int, FieldProblem]]) -> None:
        by_reason: dict[Reason, list[str]] = {}
        for at, problem in ((at, problem) for at, problem in problems if columns[at]):
            by_reason.setdefault(problem.reason, []).append(f"{columns[at]}: {problem.detail}")
        for reason, details in by_reason.items():
            more = f" and {len(details) - 5} more" if len(details) > 5 else ""
            self._account.reject(line, reason, "; ".join(details[:5]) + more, "part")

    def finish(self) -> None:
        """Read the rows of CPUUTIL, which had to wait for the other rows of the snapshot.

        nmon 16n numbers the headers of CPUUTILnnn from 001 and the rows from 000.
        """
        rows, self._utilisations = self._utilisations, []
        for line, digits, _ in rows:
            if not self.shifted and int(digits) == 0 and f"CPUUTIL{digits.decode()}" not in self.headers:
                self.shifted = True
                detail = "rows are numbered from 000, headers from 001: row n is read as processor n + 1"
                self._account.reject(line, Reason.RECORDER_DEFECT, detail, "all")
        for line, digits, fields in rows:
            name = f"CPUUTIL{int(digits) + self.shifted:0{len(digits)}d}"
            layout = self.headers.layout(name)
            if layout is None:
                self._no_header(line, name)
            else:
                self.numeric(line, name.encode(), layout, fields)

    # processes

    def process(self, line: Line, pid: bytes, fields: bytes) -> None:
        layout = self._processes
        if layout is None:
            header = self.headers.table.get("TOP")
            if header is None or "Command" not in header.names:
                self._no_header(line, "TOP")
                return
            layout = self._processes = process_layout(header.names, self.headers.system)
        # the fields around the command hold no commas, so the command may
        before = fields.split(b",", layout.before)
        after = before.pop().rsplit(b",", layout.after) if len(before) > layout.before else []
        if len(after) != layout.after + 1:
            found, expected = fields.count(b",") + 1, layout.before + 1 + layout.after
            self._account.reject(line, Reason.FIELD_COUNT, f"{found} values for {expected} columns")
            return
        if not pid.strip().isdigit():
            self._account.reject(line, Reason.NOT_A_NUMBER, f"`{text(pid)[:40]}` is no process id")
            return
        job = str(int(pid))
        if job in self.snapshot.processes:
            self._account.reject(line, Reason.DUPLICATE_ROW, f"process {job} has a row in this snapshot")
            return
        command = after.pop(0)
        texts = {"command": text(command), **{column: text(after[at]) for at, column in layout.text}}
        row = b",".join([*before, *(after[at] for at in layout.numeric_after)])
        numbers: list[float] | list[float | None] | None = plain_numbers(row)
        if numbers is None:
            numbers, problems = careful_numbers(row, unsupported=False, signed=False)
            self._refuse_fields(line, layout.names, problems)
        for at, name in layout.unmeasured:
            if (number := numbers[at]) is not None:
                self.snapshot.counters.append((Cell("counter", ("TOP", job), name), number))
        if not line.data.isascii():
            self._account.encoding(line)
        self.snapshot.processes[job] = Process(texts, layout.measures, numbers)

    def arguments(self, line: Line, fields: bytes) -> None:
        """Take a row of UARG; the last column is the rest of the line, commas and all."""
        columns = self._columns("UARG")
        parts = [text(part).strip() for part in fields.split(b",", max(len(columns) - 1, 0))]
        if "PID" not in columns or len(parts) != len(columns):
            self._misfit(line, "UARG", len(parts), len(columns))
            return
        pid = parts[columns.index("PID")]
        pid = str(int(pid)) if pid.isdecimal() else pid
        self.snapshot.config += [
            ConfigItem("UARG", pid, name, part) for name, part in zip(columns, parts, strict=True) if name != "PID"
        ]
        self._account.encoding(line)

    def summary(self, line: Line, fields: bytes) -> None:
        """Take a row of the sums by command that AIX writes with -Y; the command comes last."""
        columns = self._columns("SUMMARY")[:-1]
        *numbers, command = fields.split(b",", len(columns))
        if not columns or len(numbers) != len(columns):
            self._misfit(line, "SUMMARY", len(numbers), len(columns))
            return
        for name, part in zip(columns, numbers, strict=True):
            number, problem = number_of(part, unsupported=False, signed=True)
            if problem is not None:
                self._account.reject(line, problem.reason, f"{name}: {problem.detail}", "part")
            elif number is not None:
                self.snapshot.counters.append((Cell("counter", ("SUMMARY", text(command).strip()), name), number))

    def _columns(self, section: str) -> tuple[str, ...]:
        header = self.headers.table.get(section)
        return header.names if header else ()

    def _misfit(self, line: Line, section: str, found: int, expected: int) -> None:
        if expected:
            self._account.reject(line, Reason.FIELD_COUNT, f"{found} values for {expected} columns")
        else:
            self._no_header(line, section)


# the fields of a line, which are bytes until their meaning is known


class FieldProblem(NamedTuple):
    """A field that is not kept, and why."""

    reason: Reason
    detail: str


def plain_numbers(fields: bytes) -> list[float] | None:
    """Return the numbers of a row of plain unsigned numbers, or None where it is not one or one may be too large."""
    if fields.translate(None, _PLAIN) or _WIDE in fields.translate(_DIGITS):
        return None
    try:
        numbers: list[float] = orjson.loads(b"[" + fields + b"]")
    except orjson.JSONDecodeError:
        return None
    return numbers


def careful_numbers(
    fields: bytes, *, unsupported: bool, signed: bool
) -> tuple[list[float | None], list[tuple[int, FieldProblem]]]:
    """Return the number of every field (None: missing) and the fields that had to be refused.

    `unsupported` means that this recorder writes -1 and -0.0 for what it cannot measure; `signed` that the section may
    hold negative figures. An empty field is missing and no problem.
    """
    numbers: list[float | None] = []
    problems: list[tuple[int, FieldProblem]] = []
    for at, raw in enumerate(fields.split(b",")):
        value, problem = number_of(raw, unsupported=unsupported, signed=signed)
        numbers.append(value)
        if problem is not None:
            problems.append((at, problem))
    return numbers, problems


def number_of(raw: bytes, *, unsupported: bool, signed: bool) -> tuple[float | None, FieldProblem | None]:
    """Return the number of one field (None: missing), and why it was refused if it was."""
    written = raw.strip()
    if not written:
        return None, None
    shown = written[:40].decode("latin-1")
    if _NUMBER.fullmatch(written) is None:
        return None, FieldProblem(Reason.NOT_A_NUMBER, f"`{shown}` is not a number")
    value = float(written)
    if written[:1] == b"-":
        if unsupported and value in (0.0, -1.0):
            return None, None
        if value == 0.0:
            return 0.0, None
        if not signed:
            return None, FieldProblem(Reason.NEGATIVE_DELTA, f"{shown} is impossible: the counter went back")
    if abs(value) >= _TOO_LARGE:
        return None, FieldProblem(Reason.OUT_OF_RANGE, f"{shown} is beyond any counter")
    return value, None


def is_numeric(fields: bytes) -> bool:
    return all(not f.strip() or _NUMBER.fullmatch(f.strip()) for f in fields.split(b","))


def pair(data: bytes) -> tuple[str, str]:
    first, _, rest = text(data).partition(",")
    return first.strip(), rest.rstrip()


def names(fields: bytes) -> list[str]:
    """Return the column names of a header; it may end with commas."""
    found = [name.strip() for name in text(fields).split(",")]
    while found and not found[-1]:
        found.pop()
    return found

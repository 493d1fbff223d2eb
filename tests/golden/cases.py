r"""Golden cases: what a format yields from an input, as text: `cases/<subject>.case` in the folder of the format.

    zone: Europe/Berlin

    == not_a_number
    INTNUM,DTETIM,...
    1,"260714001500",...
    ----
    ...

    == restarted
    system: SYSA
    -- QAPMDISK.csv (CRLF) --
    INTNUM,DTETIM,...
    1,"260714001500",...
    ----
    disk system=SYSA source=ibmi_tables interval_s=900.0 disk=DMP360
      ts                    busy_pct  writes
      2026-07-13T22:15:00Z  4.0       97684.0
      2026-07-13T22:30:00Z  4.0       -
    reject reason=negative_delta line=2 detail="1 fields of 'DMP360': DSRDS: -5"

The lines before the first case are the context of all its cases, as YAML: `zone` (UTC unless it is given), and where
they matter `system`, `date_order`, `at`, `complete`, `columns`.

The lines between `== name` and `----` are the input, as it is, unless there is a line `-- name --`. That begins a file:
the first is the input, others are its neighbours. The lines above the first are what differs for the case; null removes
a value. The marks say what text does not show: `(CRLF)`, `(no newline at the end)`, `(escaped)` where bytes are written
as in Python, `\x00`, or alone `(beside)`: the file lies beside the case file as `<case>.<name>`.

Below `----` is what is expected. A line has the dataset and what all its rows of the case share, the lines below have
the rows: a table with `-` where a value is missing, or an object of JSON each. Rows of `counter`, `config` and
`manifest` that differ only in a name and its value share a line, which has `name=value` for each behind the cells; a
line that is indented further has more of them. Where they share all cells, a colon stands behind what the rows share;
names and values follow it or stand in the lines below, which have no heading. Rows and rejects are in order. A value
is JSON; a string without blanks that no other JSON value looks like has no quotes. `make golden` writes all of this.

    config ts=2026-03-02T08:00:00Z system=SYSA source=nmon item=""
      section
      AAA      progname=nmon version=16n
      BBBP     uname=AIX
    counter ts=2026-03-02T08:05:00Z system=SYSA source=nmon interval_s=300.0 section=PROC : Runnable=3.07 Blocked=0

`manifest source=nmon counts disk system_cpu` stands for manifests that count the rows of these datasets at each
instant, as they are expected; `counts without interval_s` for those that do not have the interval of their rows. Others
are written out. Of a reject, the offset of its line is left out, and where
nothing was kept, the text of that line (line 0 is the whole input). What differs from that is stated, `-` for nothing.

Cases of `advice` are files that no format reads: each yields a reject with the advice.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import yaml

from counterflow.collectors.formats import formats
from counterflow.collectors.reading import beside
from counterflow.collectors.records import Context, Item, Record, Reject, singly
from counterflow.collectors.sources.wrapped import contents
from tests.support.reading import read_file

COLLECTORS = Path(__file__).parents[2] / "collectors"
FOLDERS = sorted([*COLLECTORS.glob("formats/*/cases"), COLLECTORS / "advice/cases"])
ADVICE = "advice"
INPUT = "input"
GIVEN = ("zone", "system", "date_order", "at", "complete", "columns")
CRLF, UNENDED, ESCAPED, BESIDE = "CRLF", "no newline at the end", "escaped", "beside"
PAIRS = {"counter": ("counter", "value"), "config": ("name", "value"), "manifest": ("counted", "row_count")}
"""The columns of a dataset that stand as `name=value`."""
FRAME = ("system", "source", "boot_id", "ts", "interval_s")
"""The columns that the rows of a frame share."""
_COUNTS = {" counts": FRAME, " counts without interval_s": FRAME[:-1]}
"""What the manifests of a line share with the rows that they count, by how the line begins behind what it states."""
_PAIRS_WIDTH = 160
_MISSING = "-"
_BARE = re.compile(r'[^\s"\[{]\S*')
_TAKEN = re.compile(r"null|true|false|-|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
"""Strings that need quotes though they have no blanks: unquoted, they are another value, or none."""

Row = dict[str, Any]
"""A record as `dataset` and `fields` (manifest has a column `dataset`), or a reject by its `reason`."""


@dataclass(frozen=True)
class Case:
    """One case of a case file: `name` is `<format>/<case>`, `files` has the input first, `expected` lines."""

    file: Path
    name: str
    given: dict[str, Any]
    files: dict[str, bytes]
    expected: list[str]

    @property
    def format(self) -> str:
        return self.name.partition("/")[0]

    @property
    def input_name(self) -> str:
        return next(iter(self.files))

    @property
    def input(self) -> bytes:
        return self.files[self.input_name]

    def written(self, folder: Path) -> Path:
        """Write the input and its neighbours into a folder; return the path of the input."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        return folder / self.input_name

    def found(self) -> list[Row]:
        """Parse the input; return its records and rejects."""
        with TemporaryDirectory() as folder:
            items = self._items(self.written(Path(folder)))
        return [_row(item) for item in items if isinstance(item, Record | Reject)]

    def _items(self, path: Path) -> list[Any]:
        if self.format == ADVICE:
            return list(read_file(path, UTC))
        context = Context(
            file=path.name,
            zone=ZoneInfo(self.given["zone"]),
            system=self.given.get("system"),
            complete=self.given.get("complete", True),
            date_order=self.given.get("date_order"),
            at=self.given.get("at"),
            columns=self.given.get("columns", {}),
            beside=beside(path),
        )
        items: list[Item] = []
        with path.open("rb") as raw:
            for _, stream, fault in contents(raw):
                items += [fault] if fault else []
                if stream is not None:
                    with stream:
                        items += formats()[self.format].parse(stream, context)
        return list(singly(items))


def golden(name: str) -> Case:
    """Return a case by its name, `<format>/<case>`."""
    return _by_name()[name]


def cases(format: str = "") -> list[Case]:
    """Return the cases of a format, or of all formats, by name."""
    return [case for name, case in sorted(_by_name().items()) if format in ("", case.format)]


def exact(row: Row) -> str:
    """Return a row as text that tells 1, 1.0 and true apart; its columns have no order."""
    return json.dumps(row, sort_keys=True)


def read(file: Path) -> list[Case]:
    """Read a case file.

    Raises
    ------
    ValueError : a case has no line `----`, or what is given or a mark is unknown.
    """
    head, *parts = re.split(r"^== (\S+)$", file.read_bytes().decode(), flags=re.MULTILINE)
    shared = {"zone": "UTC"} | (yaml.safe_load(head) or {})
    found = []
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        above, line, text = part.partition("\n----\n")
        if not line:
            raise ValueError(f"{file}: {name}: expected a line `----` below the input")
        lines = f"{above}\n".removeprefix("\n")
        own, *files = re.split(r"^-- (\S+?)(?: \((.+)\))? --(?:\n|\Z)", lines, flags=re.MULTILINE)
        if not files:
            own, files = "", [INPUT, None, lines]
        given = {key: value for key, value in (shared | (yaml.safe_load(own) or {})).items() if value is not None}
        if unknown := given.keys() - GIVEN:
            raise ValueError(f"{file}: {name}: expected {', '.join(GIVEN)}, not {', '.join(sorted(unknown))}")
        contents = {
            called: _content(file.with_name(f"{name}.{called}"), marks or "", content)
            for called, marks, content in zip(files[::3], files[1::3], files[2::3], strict=True)
        }
        expected = [line for line in text.split("\n") if line]
        found.append(Case(file, f"{file.parents[1].name}/{name}", given, contents, expected))
    return found


def write(case: Case, lines: list[str]) -> None:
    """Write lines into the case file as what is expected of the case."""
    text = case.file.read_bytes().decode()
    name = re.escape(case.name.partition("/")[2])
    place = re.compile(rf"(?<=^== {name})(\n(?:----\n|.*?\n----\n)).*?(\n?)(?=^== \S+\n|\Z)", re.MULTILINE | re.DOTALL)

    def put(found: re.Match[str]) -> str:
        return found[1] + "".join(f"{line}\n" for line in lines) + ("\n" if found.end() < len(text) else "")

    case.file.write_bytes(place.sub(put, text, count=1).encode())


def shown(rows: list[Row], content: bytes) -> list[str]:
    """Return rows of an input as lines in which no two of them look alike."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        if "fields" in row:
            kinds.setdefault(row["dataset"], []).append(row["fields"])
    manifests = kinds.pop("manifest", [])
    sources = {row["source"] for row in manifests}
    datasets = [dataset for dataset in kinds if dataset in {row["counted"] for row in manifests}]
    summed_up = ""
    for counts, frame in _COUNTS.items() if len(sources) == 1 else ():
        [source] = sources
        counted = [exact(row) for row in _manifests(rows, source, datasets, frame)]
        if counted and not summed_up and not Counter(counted) - Counter(map(exact, manifests)):
            summed_up = " ".join([_stated("manifest", {"source": source}) + counts, *datasets])
            for text in counted:
                manifests.remove(next(row for row in manifests if exact(row) == text))
    if manifests:
        kinds["manifest"] = manifests
    lines = [line for dataset, all_fields in kinds.items() for line in _block(dataset, all_fields)]
    if summed_up:
        lines.append(summed_up)
    for row in rows:
        if "fields" not in row:
            implied = _implied(row, content)
            stated = {name: value for name, value in row.items() if name not in implied or implied[name] != value}
            missing = "".join(f" {name}={_MISSING}" for name in implied if name not in row)
            lines.append(_stated("reject", stated) + missing)
    return lines


def _manifests(rows: list[Row], source: str, datasets: list[str], shared: Iterable[str]) -> list[Row]:
    """Return manifests of a source that count the rows of datasets at each instant, with what they share with rows."""
    counts: dict[str, tuple[Row, int]] = {}
    for row in rows:
        if "fields" in row and row["dataset"] in datasets:
            frame = {name: row["fields"][name] for name in shared if name in row["fields"]}
            manifest = frame | {"source": source, "counted": row["dataset"]}
            _, count = counts.get(exact(manifest), (manifest, 0))
            counts[exact(manifest)] = manifest, count + 1
    return [manifest | {"row_count": count} for manifest, count in counts.values()]


def _implied(reject: Row, content: bytes) -> Row:
    """Return what a reject of a line has unless it is stated: the offset, and the text of a line that was not kept."""
    lines = content.split(b"\n")
    line = reject.get("line")
    if not isinstance(line, int) or not 0 <= line <= len(lines):
        return {}
    offset = sum(len(before) + 1 for before in lines[: max(0, line - 1)])
    text = (lines[line - 1].removesuffix(b"\r") if line else content).decode("latin-1")
    return {"byte_offset": offset} | ({"raw": text} if text and reject.get("kept") == "none" else {})


@cache
def _by_name() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for file in (file for folder in FOLDERS for file in sorted(folder.glob("*.case"))):
        for case in read(file):
            if case.name in found:
                raise ValueError(f"{file}: {found[case.name].file} has a case {case.name} too")
            found[case.name] = case
    return found


def _content(file: Path, marks: str, lines: str) -> bytes:
    if marks == BESIDE:
        return file.read_bytes()
    if unknown := set(marks.split(", ")) - {"", CRLF, UNENDED, ESCAPED}:
        raise ValueError(f"{file}: expected the marks `{CRLF}`, `{UNENDED}`, `{ESCAPED}` or `{BESIDE}`, not {unknown}")
    if UNENDED in marks:
        lines = lines.removesuffix("\n")
    if CRLF in marks:
        lines = lines.replace("\n", "\r\n")
    return lines.encode().decode("unicode_escape").encode("latin-1") if ESCAPED in marks else lines.encode()


def _block(dataset: str, rows: list[Row]) -> list[str]:
    """Return a line with what the rows share, and below it the rows, as a table or as JSON, whichever is shorter."""
    pair = PAIRS.get(dataset, ())
    paired = bool(pair) and len(rows) > 1 and all(isinstance(row.get(pair[0]), str) for row in rows)
    written = [{name: _written(value) for name, value in row.items()} for row in rows]
    alike = {name for name in rows[0] if len({row.get(name) for row in written}) == 1}
    alike -= set(pair if paired else ())
    shared = _stated(dataset, {name: value for name, value in rows[0].items() if name in alike})
    names = list(dict.fromkeys(name for row in rows for name in row if name not in alike))
    if not names:
        return [shared] * len(rows)
    if paired:
        names = [name for name in names if name not in pair]
    heads = [[row.get(name, _MISSING) for name in names] for row in written]
    widths = [max(map(len, column)) for column in zip(names, *heads, strict=True)]
    heading, *cells = ["  ".join(map(str.ljust, row, widths)) for row in (names, *heads)]
    if paired:
        below = _beside(cells, [_pair(row, *pair) for row in rows])
        if names:
            return [shared, f"  {heading.rstrip()}", *(f"  {line}" for line in below)]
        if len(below) == 1 and len(shared) + len(below[0]) < _PAIRS_WIDTH:
            return [f"{shared} : {below[0]}"]
        return [f"{shared} :", *(f"  {line}" for line in below)]
    aligned = [line.rstrip() for line in (heading, *cells)]
    objects = [_json({name: row[name] for name in names if name in row}) for row in rows]
    below = objects if pair else min(aligned, objects, key=lambda lines: sum(map(len, lines)))
    return [shared, *(f"  {line}" for line in below)]


def _pair(row: Row, name: str, value: str) -> str:
    word = row[name]
    bare = re.fullmatch(r'[^\s"={][^\s"=]*', word) and word.isprintable()
    return f"{word if bare else _json(word)}={_written(row[value]) if value in row else _MISSING}"


def _beside(cells: list[str], pairs: list[str]) -> list[str]:
    """Return lines of pairs behind the cells that they share, none much longer than `_PAIRS_WIDTH`."""
    lines: list[str] = []
    before = None
    for row, pair in zip(cells, pairs, strict=True):
        if row != before:
            lines.append(f"{row}  {pair}" if row else pair)
        elif len(lines[-1]) + len(pair) < _PAIRS_WIDTH:
            lines[-1] += f" {pair}"
        else:
            lines.append(f"  {pair}")
        before = row
    return lines


def _stated(kind: str, values: Row) -> str:
    return " ".join([kind, *(f"{name}={_written(value)}" for name, value in values.items())])


def _written(value: Any) -> str:
    if isinstance(value, str) and _BARE.fullmatch(value) and not _TAKEN.fullmatch(value) and value.isprintable():
        return value
    return _json(value)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else json.dumps(value, separators=(",", ":"))


def _row(item: Record | Reject) -> Row:
    if isinstance(item, Record):
        row: Row = {"dataset": item.dataset, "fields": item.fields}
    else:
        row = {name: getattr(item, name) for name in item.__dataclass_fields__}
        row["raw"] = item.raw.decode("latin-1")  # every byte is one character
        row = {name: value for name, value in row.items() if value not in (None, "")}
    return orjson.loads(orjson.dumps(row))

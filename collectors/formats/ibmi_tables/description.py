"""The description of each table: `tables/<TABLE>.yaml` as typed models.

A description is the only place that states which fields a table has, their IBM type, unit and kind, and which column of
which dataset they fill. Readers of files, readers of SQL and the generator of test data all take it from here.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import Literal

from counterflow.base.strict import Strict
from counterflow.schemas.definition import load_yaml

FOLDER = Path(__file__).parent / "tables"

TIME_FIELDS = ("INTNUM", "DTETIM", "INTSEC", "DTECEN", "DTCEN", "DATETIME", "UTCTIME", "SAMPLE_TIME")
"""Columns that place a row in time, by these names in every table. SAMPLE_TIME is ours: UTC, in exports of views."""

_TIME = ("INTNUM", "DTETIM", "INTSEC", "DTECEN")

_LOCAL_TIME = dict.fromkeys(("TS", "CURRENT_TIMESTAMP", "CURRENT TIMESTAMP"), "DATETIME")
"""Names of a column that a query fills with CURRENT_TIMESTAMP, local time on IBM i."""

MEMBER = re.compile(r"QAPM[A-Z][A-Z0-9]{1,5}")
"""Name of a file of Collection Services."""

HISTORICAL = re.compile(r"QAPMH(?!DLC$|DWR$|TTPB$|TTPD$).+")
"""Name of a file of historical data: summaries, or the top contributors of an interval alone."""

TIME_LABELS = {
    **{name: name for name in TIME_FIELDS},
    "INTERVAL_NUMBER": "INTNUM",
    "DATE_TIME": "DTETIM",
    "DATE_AND_TIME": "DTETIM",
    "INTERVAL_DATE_AND_TIME": "DTETIM",
    "ELAPSED_SECONDS": "INTSEC",
    "INTERVAL_SECONDS": "INTSEC",
    "ELAPSED_INTERVAL_SECONDS": "INTSEC",
    "CENTURY_DIGIT": "DTECEN",
    "CENTURY": "DTECEN",
}
"""Headings of the columns that place a row in time, where labels and not names are exported."""
_SEPARATORS = re.compile(r"[\W_]+")

_RANGE = re.compile(r"\{(\d+)\.\.(\d+)\}")
_NUMBER = re.compile(r"(number|PD|Z|B|SMALLINT|INTEGER|BIGINT|DECIMAL|NUMERIC|DOUBLE)\b")
_WHOLE = re.compile(r"SMALLINT|INTEGER|BIGINT|B\b|.*\(\d+,0\)")
_TIME_UNITS = ("s", "ms", "µs", "hundredths of s")
_BINARY = re.compile(r"(H|X|BINCHAR|BINARY)\b")


class Described(Strict):
    """One field: its IBM type (`PD(11,0)`, `C(10)`, `BIGINT`), and for a number unit and kind.

    `number` and `text` are types that the source does not specify further.

    `overflow` is the value that stands for a figure that does not fit; it is read as null. `signed` means that values
    below 0 are valid, `dash` that a lone dash is, which elsewhere means null. `also` are other names of the same
    column. `column` is what it fills as it stands in the first of the table's `records`. `once` marks a figure that
    every path of a multipath unit repeats: it is kept for the initial path alone. `ignore` is the reason why the field
    is not kept.
    """

    type: str
    text: str = ""
    unit: str | None = None
    kind: Literal["delta", "cumulative", "gauge", "rate", "percent"] | None = None
    overflow: float | None = None
    signed: bool = False
    dash: bool = False
    also: tuple[str, ...] = ()
    column: str | None = None
    once: bool = False
    ignore: str | None = None

    @property
    def form(self) -> Literal["number", "binary", "text"]:
        """How a value of the type is read."""
        if _NUMBER.match(self.type):
            return "number"
        return "binary" if _BINARY.match(self.type) else "text"

    @property
    def whole(self) -> bool:
        """Whether its numbers have no decimals: by the type, or because it counts something."""
        counts = self.kind in ("delta", "cumulative") and self.unit is not None and self.unit not in _TIME_UNITS
        return self.form == "number" and (counts or _WHOLE.match(self.type) is not None)


class FilledRows(Strict):
    """The rows of one dataset that a row of the table becomes.

    `columns` holds for each dataset column an expression over fields (see `expression`); those of the first record are
    completed by the fields that name their `column`. With `repeat` there is one row for each number of the range,
    written `{n}`, or `{nn}` with two digits. Rows for which `when` is 0 or null are left out. Columns in `previous` are
    running counts, sent with their value at the preceding sample (`prev_…`); columns in `difference` are sent as the
    difference from it. Both need a table with one row per instance and sample.
    """

    dataset: str
    columns: dict[str, str | int | bool] = {}
    repeat: tuple[int, int] | None = None
    when: str | None = None
    previous: tuple[str, ...] = ()
    difference: tuple[str, ...] = ()


class Description(Strict):
    """One table, named as its file.

    `recognised_by` are columns that together no other table has; `instance` is the expression that identifies the
    rows of an interval and names the instance of what goes to `counter`. `time` lists its columns that place a row in
    time: where left out, those of Collection Services, or none in a view.
    `zeros: false` sends a field to `counter` only where it is not 0, `texts: false` keeps no text in `config`: for
    tables with one row per job. `fields` may be empty: then every column is introspected. `joins` names tables whose
    fields and records it has, besides its own.
    """

    table: str
    text: str
    source: str
    recognised_by: tuple[str, ...] = ()
    instance: str = "''"
    time: tuple[str, ...]
    joins: tuple[str, ...] = ()
    zeros: bool = True
    texts: bool = True
    fields: dict[str, Described] = {}
    records: tuple[FilledRows, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """The field behind each of its names; in a view without a time, also behind the names of local time."""
        local = {} if self.time else _LOCAL_TIME
        return local | {also: name for name, field in self.fields.items() for also in (*field.also, name)}

    def named(self, heading: str) -> str | None:
        """Return the field that a heading names: by one of its names, or by the label that exports show instead."""
        return _by_heading(self.table).get(label(heading)) or self.names.get(heading.strip().upper())

    def is_headed_by(self, labels: Set[str]) -> bool:
        """Return whether headings, as `label` returns them, name the columns that identify the table."""
        return bool(self.recognised_by) and all(not labels.isdisjoint(found) for found in _recognised_by(self.table))


@cache
def _recognised_by(table: str) -> list[frozenset[str]]:
    """Return the labels of each column that a table is recognised by."""
    labels = _by_heading(table)
    return [
        frozenset({label(name), *(heading for heading, field in labels.items() if field == name)})
        for name in tables()[table].recognised_by
    ]


def label(heading: str) -> str:
    """Return a heading for comparison: upper case, one underscore between words."""
    return _SEPARATORS.sub("_", heading.upper()).strip("_")


@cache
def _by_heading(table: str) -> dict[str, str]:
    """Return the fields of a table by their labels, where a label belongs to one field; names take precedence."""
    known = tables().get(table)
    if known is None:
        return TIME_LABELS
    labels: dict[str, str] = {}
    twice: set[str] = set()
    for name, field in known.fields.items():
        heading = label(field.text.split(";")[0].split(":")[0])
        if heading and labels.setdefault(heading, name) != name:
            twice.add(heading)
    names = {label(name): field for name, field in known.names.items()}
    unique = {heading: name for heading, name in labels.items() if heading not in twice}
    return {**TIME_LABELS, **unique, **names}


@cache
def tables() -> dict[str, Description]:
    return {path.stem: _load(path) for path in sorted(FOLDER.glob("*.yaml"))}


def description(name: str) -> Description | None:
    """Return the description of a table; a member of Collection Services without one has all columns introspected."""
    known = tables().get(name)
    if known or not MEMBER.fullmatch(name):
        return known
    time = ("DATETIME",) if name.startswith("QAPMSM") else _TIME
    return Description(table=name, text="Not described: every column is introspected.", source="the export", time=time)


def _load(path: Path) -> Description:
    content = load_yaml(path.read_text(encoding="utf-8"))
    content = {"table": path.stem, "time": _TIME if MEMBER.fullmatch(path.stem) else (), **content}
    content["fields"] = {
        name: field
        for names, field in content.get("fields", {}).items()
        for pattern in names.split(", ")
        for name in _expand(pattern)
    }
    found = Description.model_validate(content)
    if found.records:
        found.records[0].columns.update({field.column: name for name, field in found.fields.items() if field.column})
    return _joined(found) if found.joins else found


def _joined(table: Description) -> Description:
    """Return the table with the fields and records of those it joins; of two that fill a column the first counts."""
    parts = [table, *(_load(FOLDER / f"{name}.yaml") for name in table.joins)]
    fields = {name: field for part in reversed(parts) for name, field in part.fields.items()}
    filled = [record for part in reversed(parts) for record in part.records]
    columns = {r.dataset: {} for r in filled}  # type: dict[str, dict[str, str | int | bool]]
    for record in filled:
        columns[record.dataset] |= record.columns
    records = tuple(FilledRows(dataset=dataset, columns=found) for dataset, found in columns.items())
    return table.model_copy(update={"fields": fields, "records": records})


def _expand(pattern: str) -> list[str]:
    """Return the names that `JWCT{01..32}` stands for."""
    found = _RANGE.search(pattern)
    if found is None:
        return [pattern]
    first, last = found.groups()
    numbers = (str(n).zfill(len(first)) for n in range(int(first), int(last) + 1))
    return [name for n in numbers for name in _expand(pattern[: found.start()] + n + pattern[found.end() :])]

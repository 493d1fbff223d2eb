"""Which table an export holds: by its header, its first rows, or the name of its file.

An export names its columns only with ADDCOLNAM(*SQL).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence, Set

from counterflow.collectors.formats.ibmi_tables.description import (
    HISTORICAL,
    MEMBER,
    TIME_FIELDS,
    TIME_LABELS,
    Description,
    description,
    label,
    tables,
)
from counterflow.collectors.records import Reason, Unusable
from counterflow.collectors.text.cells import SEPARATORS, separator, split
from counterflow.collectors.text.csv_rows import first_lines

_BEGINNING = re.compile(
    r'"?\s*\d{1,5}\s*"?[,;\t]\s*"?(?:\d{12}|\d{4}-\d\d-\d\d[-T ]\d\d[.:]\d\d[.:]\d\d)'  # INTNUM and a time
    r'|"?\s{0,4}"?[,;\t]"?1 ?"?[,;\t]"?\d{7}\s*"?$'  # QAPMCONF, key 1
)

NAMES = "ADDCOLNAM(*SQL) of CPYTOIMPF, or `with column names` in ACS"
"""The export options that write the names of columns as headings."""

_UNNAMED = "name the file after its table, as QAPMTCP.csv; of a chart of iDoctor export the members behind it"
_MEMBER_ALONE = re.compile(rf"(?<![A-Z0-9]){MEMBER.pattern}(?![A-Z0-9])")


def table_of(cells: Sequence[str], file: str) -> Description | None:
    """Return the table whose header the cells are, None where it is of none, or fits several alike.

    What only one of them has decides between tables, or the name of the file. A file of historical data is never taken
    for the table whose columns it repeats: its rows are summaries, or some rows of an interval alone.
    """
    if len(cells) < 2:
        return None
    by_name = description(table_in(file) or "")
    found = [] if by_name is not None and HISTORICAL.fullmatch(by_name.table) else _headed_by(cells)
    if by_name is not None and by_name.joins and any(table.table in by_name.joins for table in found):
        return by_name
    if found:
        decided = [by_name] if by_name in found else _decided(found, cells)
        return decided[0] if len(decided) == 1 else None
    if by_name is not None and not by_name.recognised_by and _is_header(cells, 1):
        return by_name
    return None


def _headed_by(cells: Sequence[str]) -> list[Description]:
    labels = {label(cell) for cell in cells}
    return [table for table in tables().values() if table.is_headed_by(labels)]


def _decided(found: Sequence[Description], cells: Sequence[str]) -> list[Description]:
    """Return the table that has most of the columns that no other of those found has; several where they are equal.

    A table all of whose columns another one has as well is not the one.
    """
    own = {table.table: {field for cell in cells if (field := table.named(cell))} for table in found}
    largest = [table for table in found if not any(own[table.table] < other for other in own.values())]
    alone = {
        table.table: len(own[table.table].difference(*(own[o.table] for o in largest if o is not table)))
        for table in largest
    }
    most = max(alone.values())
    return [table for table in largest if alone[table.table] == most]


def without_header(cells: Sequence[str], file: str) -> Description | None:
    """Return QAPMCONF where cells are a row of it: of no other table the order of all columns was published."""
    table, name = tables()["QAPMCONF"], table_in(file)
    begins = name == table.table or (name is None and _BEGINNING.match(",".join(cells)))
    return table if begins and len(cells) == len(table.fields) else None


def no_header(cells: Sequence[str], file: str) -> Unusable:
    """Return why a file that begins with `cells` cannot be read, and the way out."""
    if len(alike := _decided(headed, cells) if (headed := _headed_by(cells)) else []) > 1:
        fits = " and ".join(table.table for table in alike)
        detail = f"the columns are those of {fits} alike: name the file after its table, as {alike[0].table}.csv"
        return Unusable(Reason.BAD_HEADER, detail)
    found = ", ".join(cells[:8])[:200]
    table = table_in(file)
    if table and HISTORICAL.fullmatch(table):
        times = ", ".join(TIME_FIELDS)
        detail = f"{table} is historical data: expected a heading of its time among {times}, found {found}"
        return Unusable(Reason.BAD_HEADER, detail)
    way_out = "export with ADDCOLNAM(*SQL), or write the names of the columns into a first line"
    if _is_header(cells):
        columns = {cell.strip().upper() for cell in cells} - set(TIME_FIELDS)
        if lacks := incomplete(columns, table, len(columns) / 2):
            return Unusable(Reason.BAD_HEADER, f"expected the columns of a table, found {lacks}")
        known = description(table or "")
        which = f", {', '.join(known.recognised_by)} among them" if known else ""
        hint = f"export with column names: {NAMES}" if table else _UNNAMED
        return Unusable(
            Reason.BAD_HEADER, f"expected the columns of {table or 'a table of IBM i'}{which}, found {found}: {hint}"
        )
    if _BEGINNING.match(",".join(cells)):
        detail = f"expected a header, found a row of {len(cells)} columns, whose order was not published: {way_out}"
        return Unusable(Reason.NO_HEADER, detail)
    return Unusable(Reason.BAD_HEADER, f"expected the names of columns of a table of IBM i, found {found!r}: {way_out}")


def incomplete(names: Set[str], table: str | None = None, least: float = 2) -> str | None:
    """Return of which table these are columns, which are missing, and the way out; None where no table has `least`.

    Of several tables it is the given one, else the one with most of these columns; fewer than two decide nothing.
    """
    counts = {known.table: len(names & known.names.keys()) for known in tables().values()}
    least = max(least, 2)
    near = table if table and counts.get(table, 0) >= least else max(counts, key=lambda name: counts[name])
    if counts[near] < least:
        return None
    known = tables()[near]
    present = {known.names.get(name, name) for name in names}
    lacks = [column for column in known.recognised_by if column not in present]
    missing = ", ".join(lacks or known.time) or "SAMPLE_TIME"
    return f"{counts[near]} columns of {near} of IBM i, without {missing}: export all columns, with column names"


def table_in(file: str) -> str | None:
    """Return the table that the name of a file contains."""
    name = file.replace("\\", "/").rsplit("/", 1)[-1].upper()
    for table in sorted(tables(), key=len, reverse=True):
        at = name.find(table)
        if at >= 0 and not name[at - 1 : at].isalnum() and not name[at + len(table) :][:1].isalnum():
            return table
    member = _MEMBER_ALONE.search(name)
    return member[0] if member else None


def recognise(head: bytes) -> bool:
    """Return whether `head` begins like an export: with a header of one of the tables, or with rows of one."""
    lines = first_lines(head)
    try:
        headers = [split(line, separator(line)) for line in lines if any(between in line for between in SEPARATORS)]
    except csv.Error:
        return False
    return _BEGINNING.match(lines[0]) is not None or any(
        len(cells) > 1 and (_headed_by(cells) or _is_header(cells)) for cells in headers
    )


def _is_header(cells: Sequence[str], least: int = 2) -> bool:
    """Return whether cells are column names, `least` of which place rows in time; in summaries (SM…) one is enough."""
    names = {TIME_LABELS.get(label(cell)) or cell.strip().upper() for cell in cells}
    least = 1 if "SAMPLE_TIME" in names or any(name.startswith("SM") for name in names) else least
    return len(names & set(TIME_FIELDS)) >= least

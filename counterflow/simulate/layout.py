"""Rows written as CPYTOIMPF writes a table: header, texts quoted and padded, CRLF.

Which fields a table has, their types and their order come from the descriptions of `collectors/formats/ibmi_tables`;
a field that is not described there is refused, so nothing is written that its reader does not know of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS, Description, tables
from counterflow.simulate.timeline import Interval

Value = str | int | Decimal
Row = dict[str, Value]

READS_FOR_UPDATE = "SIMULATED_READS_FOR_UPDATE"
"""The column of reads for update in QAPMJOBOS. Its real name is not public, and this is not it: a site names it."""

_LENGTH = re.compile(r"C\((\d+)\)")


def interval_fields(interval: Interval) -> Row:
    """Return what says when an interval of Collection Services was; local time is UTC."""
    return {
        "INTNUM": interval.number,
        "DTETIM": f"{interval.end:%y%m%d%H%M%S}",
        "INTSEC": interval.seconds,
        "DTECEN": "1",
        "DTCEN": "1",
        "UTCTIME": _timestamp(interval.end),
    }


def sample_fields(at: datetime) -> Row:
    """Return what says when a view was read."""
    return {"SAMPLE_TIME": _timestamp(at)}


def write(path: Path, table: str, rows: Sequence[Row]) -> None:
    """Write rows, which all have the same fields, as the CSV file of `table`.

    Raises
    ------
    KeyError : a field that `table` is not known to have.
    """
    description = tables()[table]
    columns = list(_columns(description, rows[0]))
    with path.open("w", encoding="ascii", newline="") as out:
        out.write(",".join(columns) + "\r\n")
        for row in rows:
            out.write(",".join(_shown(description, column, row[column]) for column in columns) + "\r\n")


def _columns(description: Description, row: Iterable[str]) -> Iterator[str]:
    """Yield the columns that `row` has in the order of the table, its times first."""
    known = [*(description.time or ["SAMPLE_TIME"]), *description.fields, READS_FOR_UPDATE]
    unknown = set(row) - set(known) - set(TIME_FIELDS)
    if unknown:
        raise KeyError(f"{description.table} is not known to have {', '.join(sorted(unknown))}")
    yield from (name for name in known if name in set(row))


def _shown(description: Description, column: str, value: Value) -> str:
    if not isinstance(value, str):
        return str(value)
    field = description.fields.get(column)
    length = _LENGTH.match(field.type) if field else None
    return f'"{value.ljust(int(length[1])) if length else value}"'


def _timestamp(at: datetime) -> str:
    return f"{at:%Y-%m-%d-%H.%M.%S.%f}"

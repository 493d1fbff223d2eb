"""Rows written as CPYTOIMPF writes a table: header, texts quoted and padded, CRLF.

The fields of a table, their types and their order come from the descriptions in `collectors/formats/ibmi_tables`; a
field that is not described there is refused, so every field written has a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS, Description, tables
from counterflow.simulate.case import SimulatedInterval

Value = str | int | Decimal
Row = dict[str, Value]

READS_FOR_UPDATE = "SIMULATED_READS_FOR_UPDATE"
"""Stand-in for the column of reads for update in QAPMJOBOS, whose real name is not public: a site configures it."""

_LENGTH = re.compile(r"C\((\d+)\)")


def interval_fields(interval: SimulatedInterval) -> Row:
    """Return the time fields of an interval of Collection Services; local time is UTC."""
    return {
        "INTNUM": interval.number,
        "DTETIM": f"{interval.end:%y%m%d%H%M%S}",
        "INTSEC": interval.seconds,
        "DTECEN": "1",
        "DTCEN": "1",
        "UTCTIME": timestamp(interval.end),
    }


def sample_fields(at: datetime) -> Row:
    """Return the time field of a sample of a view."""
    return {"SAMPLE_TIME": timestamp(at)}


def lines(table: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield rows, which all have the same fields, as the lines of the CSV file of `table`; each ends with a CR.

    Raises
    ------
    KeyError : a field that the description of `table` lacks.
    """
    description = tables()[table]
    columns = list(_columns(description, rows[0]))
    yield ",".join(columns) + "\r"
    for row in rows:
        yield ",".join(_shown(description, column, row[column]) for column in columns) + "\r"


def _columns(description: Description, row: Iterable[str]) -> Iterator[str]:
    """Yield the columns of `row` in the order of the table, its times first."""
    known = [*(description.time or ["SAMPLE_TIME"]), *description.fields, READS_FOR_UPDATE]
    unknown = set(row) - set(known) - set(TIME_FIELDS)
    if unknown:
        raise KeyError(f"the description of {description.table} lacks {', '.join(sorted(unknown))}")
    yield from (name for name in known if name in set(row))


def _shown(description: Description, column: str, value: Value) -> str:
    if not isinstance(value, str):
        return str(value)
    field = description.fields.get(column)
    length = _LENGTH.match(field.type) if field else None
    return f'"{value.ljust(int(length[1])) if length else value}"'


def timestamp(at: datetime) -> str:
    return f"{at:%Y-%m-%d-%H.%M.%S.%f}"

"""Writes rows as exports of IBM i have them, for generators of test data and simulations.

The layout of a table is that of its description; a real record has more fields, in an order that was not published for
most tables. No real export is public, so the form follows the documentation of CPYTOIMPF.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import BinaryIO

from counterflow.collectors.formats.ibmi_tables.description import Described, tables

_DECIMALS = re.compile(r"\(\d+,(\d+)\)")
_LENGTH = re.compile(r"^[CG]\((\d+)\)")
_TIMES = dict.fromkeys(("DTETIM", "DTECEN", "DTCEN", "DATETIME", "UTCTIME", "SAMPLE_TIME"), Described(type="TIMESTAMP"))
"""Columns that place a row in time, as text; the others are numbers."""


def columns(table: str) -> tuple[str, ...]:
    """Return the columns of a table as they are written: those that place a row in time, then its fields."""
    return (*tables()[table].time, *tables()[table].fields)


def write(
    out: BinaryIO,
    table: str,
    rows: Iterable[Mapping[str, object]],
    *names: str,
    separator: str = ",",
    decimal: str = ".",
) -> None:
    """Write rows of `table` as `CPYTOIMPF … ADDCOLNAM(*SQL) RCDDLM(*CRLF)` writes them.

    A field that a row does not hold is 0, or blank. `names` are the columns, else all.
    """
    chosen = names or columns(table)
    fields = {**_TIMES, **tables()[table].fields}
    forms = [(name, fields.get(name, Described(type="number"))) for name in chosen]
    out.write((separator.join(chosen) + "\r\n").encode())
    for row in rows:
        cells = (_cell(described, row.get(name), decimal) for name, described in forms)
        out.write((separator.join(cells) + "\r\n").encode())


def _cell(described: Described, value: object, decimal: str) -> str:
    if described.form == "number":
        if isinstance(value, str):
            return value
        number = 0 if value is None else value
        places = _DECIMALS.search(described.type)
        written = f"{number:.{places[1]}f}" if places else f"{number:.3f}".rstrip("0").rstrip(".")
        return written.replace(".", decimal)
    text = "" if value is None else str(value)
    length = _LENGTH.match(described.type)
    if length:
        text = text.ljust(int(length[1]))
    return '"' + text.replace('"', '""') + '"'

"""A table with the actual columns of one file or query, ready to turn its rows into columns of datasets.

Releases append columns, so the same table comes with different ones: a described column that is absent is left out, one
that is present and not described goes to `counter`, or to `config` if it holds text. Most rows of an export are JSON
but for the brackets, and are decoded as such, with the types of exactly these columns. The values of many rows are
computed together, one column after the other: a day of a busy system has 1.4 million rows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Annotated, Any

import msgspec

from counterflow.collectors.formats.ibmi_tables.description import (
    TIME_FIELDS,
    Described,
    Description,
    description,
)
from counterflow.collectors.formats.ibmi_tables.expression import Column, Columns, fields, is_known, parsed
from counterflow.collectors.formats.ibmi_tables.filling import Filling, fillings
from counterflow.collectors.formats.ibmi_tables.known import Known
from counterflow.collectors.records import Reason, Unusable
from counterflow.schemas.definition import datasets

_NULL_TEXT = re.compile(rb'" *(?:-|[Nn][Uu][Ll][Ll]) *"')
_DASH, _BACKSLASH, _U, _SMALL_U = b"-\\Uu"  # a byte is found in a fifth of the time of bytes

Row = Sequence[Any]
Picker = Callable[[Row], tuple[Any, ...]]

COUNTER = ("section", "instance", "counter", "value", "unit", "kind")
"""Columns of `counter`, in the order of its values."""


@dataclass(frozen=True)
class Layout:
    """One table with certain columns.

    `time` and `numbers` pick the values of a row; `number_places` and `text_places` are those of numbers and texts,
    `dash_places` those of texts of which a dash is a value.
    `instance` identifies a row. `filled` are the datasets, `inputs` and `texts` the places of the fields they are
    computed of. `spare` are numbers and `settings` texts that no dataset models, `unknown` columns that are not
    described: places and names. `path` picks the flags of a multipath unit (DSMU, DSIP), `ended` is the place of JBSTSF
    and `seconds` that of INTSEC in the row. `decode` reads the values of a row from a JSON array.
    """

    table: Description
    columns: tuple[str, ...]
    time_names: tuple[str, ...]
    time: Picker
    numbers: Picker
    number_names: tuple[str, ...]
    number_places: tuple[int, ...]
    described: tuple[Described, ...]
    text_places: tuple[int, ...]
    dash_places: tuple[int, ...]
    path: Picker | None
    settings: tuple[tuple[int, str], ...]
    unknown: tuple[tuple[int, str], ...]
    spare: tuple[tuple[int, str, Described], ...]
    instance: ast.expr
    filled: Mapping[str, Filling]
    inputs: Mapping[str, int]
    texts: Mapping[str, int]
    ended: int | None
    seconds: int | None
    decode: Callable[[bytes], tuple[Any, ...]]

    def typed(self, line: bytes) -> tuple[Any, ...] | None:
        """Return the values of a line, its numbers converted and in range; None where the line needs a closer look.

        A line that JSON would read differently from CSV, or not at all, needs one.
        """
        if _BACKSLASH in line or not line.isascii() or _has_null(line):
            return None
        try:
            return self.decode(b"[%b]" % line)
        except msgspec.DecodeError:
            led = _led_by_zeros(line)
            return None if led == line else self.typed(led)

    def of(self, rows: Sequence[Row], seconds: Sequence[float | None], known: Known) -> Columns:
        """Return the columns of rows whose numbers are converted, each of so many seconds."""
        values = list(zip(*rows, strict=True)) or [()] * len(self.columns)  # of no rows, empty columns
        found: dict[str, Column] = {name: values[place] for name, place in self.inputs.items()}
        for name, place in self.texts.items():
            found[name] = [text.strip() or None for text in values[place]]
        found["INTSEC"] = seconds
        return Columns(len(rows), found, known.functions())


def canonical(table: Description, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns as the description writes them; a repeated name gets `#2`."""
    found: dict[str, None] = {}
    for column in columns:
        name = table.named(column) or column.strip().upper() or "_"
        unique, times = name, 1
        while unique in found:
            times += 1
            unique = f"{name}#{times}"
        found[unique] = None
    return tuple(found)


@lru_cache(maxsize=256)
def layout(table_name: str, columns: tuple[str, ...], named: tuple[tuple[str, str], ...] = ()) -> Layout:
    """Return the table with these columns; `named` maps dataset columns to the columns that the site names.

    Raises
    ------
    Unusable : a column that names the instance is missing.
    """
    table = description(table_name)
    assert table is not None  # noqa: S101 - its header was found
    columns = canonical(table, columns)
    places = {name: place for place, name in enumerate(columns)}
    forms = {name: table.fields[name].form for name in columns if name in table.fields}
    filled = {name: c for record in table.records for name, c in datasets()[record.dataset].columns.items()}
    sites = {name: column.strip().upper() for name, column in named if name in filled}
    ignored = {name for name in forms if table.fields[name].ignore} - set(sites.values())
    of_form = {
        form: [name for name in forms if forms[name] == form and name not in ignored]
        for form in ("number", "text", "binary")
    }
    discovered = [name for name in sites.values() if name in places and name not in forms and name not in TIME_FIELDS]
    worded = {column for name, column in sites.items() if filled[name].type == "String"}
    numbers = (*of_form["number"], *(name for name in discovered if name not in worded))
    texts = (*of_form["text"], *(name for name in discovered if name not in numbers))
    present = {*texts, *of_form["binary"], *numbers, "INTSEC"}
    instance = parsed(table.instance)
    if not is_known(instance, present):
        raise Unusable(
            Reason.BAD_HEADER, f"expected the columns of {table.instance}, which distinguish the rows of {table.table}"
        )
    used = {*fields(instance), *sites.values()}
    found = fillings(table, present, sites, used)
    described = tuple(table.fields.get(name, Described(type="number")) for name in numbers)
    time = tuple(name for name in TIME_FIELDS if name in places and name != "INTSEC")
    types: dict[str, Any] = {
        **dict.fromkeys(columns, str | float),
        **dict.fromkeys(ignored, Any),
        **dict.fromkeys((*texts, *of_form["binary"], *time), str),
        **{name: _range(field) for name, field in zip(numbers, described, strict=True)},
        "INTNUM": int,
        "INTSEC": float,
    }
    return Layout(
        table=table,
        columns=columns,
        time_names=time,
        time=_picker([places[name] for name in time]),
        numbers=_picker([places[name] for name in numbers]),
        number_names=numbers,
        number_places=tuple(places[name] for name in numbers),
        described=described,
        text_places=tuple(places[name] for name in texts),
        dash_places=tuple(places[name] for name in texts if name in forms and table.fields[name].dash),
        path=_picker([places["DSMU"], places["DSIP"]]) if {"DSMU", "DSIP"} <= places.keys() else None,
        spare=tuple(
            (places[name], name, field) for name, field in zip(numbers, described, strict=True) if name not in used
        ),
        settings=tuple((places[name], name) for name in texts if name not in used and table.texts),
        unknown=tuple(
            (places[name], name)
            for name in columns
            if name not in forms and name not in TIME_FIELDS and name not in numbers and name not in texts
        ),
        instance=instance,
        filled=found,
        inputs={name: places[name] for name in (*numbers, *of_form["binary"]) if name in used},
        texts={name: places[name] for name in texts if name in used},
        ended=places.get("JBSTSF"),
        seconds=places.get("INTSEC"),
        decode=msgspec.json.Decoder(tuple[tuple(types[name] for name in columns)]).decode,  # type: ignore[misc]
    )


def _has_null(line: bytes) -> bool:
    """Return whether a text of the line is a dash or NULL; most lines are spared the search by a single letter."""
    null = (_U in line or _SMALL_U in line) and b"NULL" in line.upper()
    return (null or _DASH in line) and _NULL_TEXT.search(line) is not None


def _led_by_zeros(line: bytes) -> bytes:
    """Return the line with a 0 before every decimal point that has no digit before it."""
    parts = line.split(b'"')  # every second one stands between quotes
    parts[::2] = [part.replace(b",.", b",0.") for part in parts[::2]]
    return b'"'.join(parts)


def _range(field: Described) -> Any:
    """Return the type of a field's numbers that need no repair."""
    return Annotated[float, msgspec.Meta(ge=None if field.signed else 0, lt=field.overflow)]


def _picker(places: Sequence[int]) -> Picker:
    if not places:
        return lambda row: ()
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places)

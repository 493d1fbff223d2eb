"""A table with the columns that one file or query really has, ready to turn its rows into records at speed.

Releases append columns, so the same table comes with different ones: what is described and absent is left out, what is
there and not described goes to `counter`. Most rows of an export are JSON but for the brackets, and are read as that,
with the types of exactly these columns; the dictionary of a record is built by Python that was written for them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from types import CodeType
from typing import Annotated, Any, NamedTuple

import msgspec

from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS, Described, Description, Filled, tables
from counterflow.collectors.formats.ibmi_tables.expression import Translation
from counterflow.collectors.formats.ibmi_tables.known import Known
from counterflow.collectors.formats.ibmi_tables.values import Unusable
from counterflow.collectors.records import Record
from counterflow.schemas.definition import datasets

Row = Sequence[Any]
Picker = Callable[[Row], tuple[Any, ...]]
Convert = Callable[[Row, dict[str, Any], bool], tuple[str | None, list[Record], list[Record]]]


class Leftover(NamedTuple):
    """What no dataset models, and its place in the row."""

    place: int
    name: str


@dataclass(frozen=True)
class Layout:
    """One table with certain columns.

    `time` and `numbers` pick the values of a row; `number_places` and `text_places` say where such values are.
    `settings` are texts that no dataset models, `unknown` columns that are not described, `used` fields that fill a
    column of a dataset. `path` picks the flags of a multipath unit (DSMU, DSIP), `ended` is the place of JBSTSF and
    `seconds` that of INTSEC in the row. `decode` reads the values of a row from a JSON array.
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
    path: Picker | None
    settings: tuple[Leftover, ...]
    unknown: tuple[Leftover, ...]
    used: frozenset[str]
    required: Mapping[str, tuple[str, ...]]
    ended: int | None
    seconds: int | None
    decode: Callable[[bytes], tuple[Any, ...]]
    code: CodeType

    def typed(self, line: bytes) -> tuple[Any, ...] | None:
        """Return the values of a line, its numbers converted and in range; None where it is to be looked at closely.

        So is every line that JSON would read otherwise than CSV does, or not at all.
        """
        if b"\\" in line or not line.isascii():
            return None
        try:
            return self.decode(b"[%b]" % line)
        except msgspec.DecodeError:
            led = _led_by_zeros(line)
            return None if led == line else self.typed(led)

    def bind(self, known: Known) -> Convert:
        """Return the function from a row to its instance, its records, and those of what no dataset models.

        It takes a row whose numbers are converted, the envelope, and whether it is of a further path of a multipath
        unit.
        """
        namespace: dict[str, Any] = {**known.functions(), "new": tuple.__new__, "Record": Record}
        exec(self.code, namespace)  # noqa: S102 - written below, from descriptions of ours
        convert: Convert = namespace["convert"]
        return convert


def canonical(table: Description, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns as the description writes them; a name that stands twice gets `#2`."""
    names = table.names
    found: dict[str, None] = {}
    for column in columns:
        name = column.strip().upper()
        name = names.get(name, name) or "_"
        unique, times = name, 1
        while unique in found:
            times += 1
            unique = f"{name}#{times}"
        found[unique] = None
    return tuple(found)


@lru_cache(maxsize=256)
def layout(table_name: str, columns: tuple[str, ...], named: tuple[tuple[str, str], ...] = ()) -> Layout:
    """Return the table with these columns; `named` are dataset columns that the site says which column fills.

    Raises
    ------
    Unusable : a column that names the instance is missing.
    """
    table = tables()[table_name]
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
    variables = {
        name: f"{'t' if name in texts else 'c'}{places[name]}" for name in (*texts, *of_form["binary"], *numbers)
    }
    variables["INTSEC"] = "seconds"
    translation = Translation(variables.get, Known({}).functions())
    body, required = _body(table, translation, sites)
    described = tuple(table.fields.get(name, Described(type="number")) for name in numbers)
    used = {*translation.used, *sites.values()}
    spare = {name for name in (*numbers, *texts) if name not in used}
    leftovers = "".join(
        _counter(variables[name], name, field, zeros=table.zeros)
        for name, field in zip(numbers, described, strict=True)
        if name in spare
    )
    stripped = "".join(
        f"    {variables[name]} = c{places[name]}.strip() or None\n" for name in texts if name not in spare
    )
    source = (
        f"def convert(row, base, further):\n    ({''.join(f'c{i}, ' for i in range(len(columns)))}) = row\n{stripped}"
        f"    seconds = base.get('interval_s')\n{body}"
        f"    common = {{**base, 'section': {table.table!r}, 'instance': instance}}\n    counters = []\n{leftovers}"
        "    return instance, records, counters\n"
    )
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
        path=_picker([places["DSMU"], places["DSIP"]]) if {"DSMU", "DSIP"} <= places.keys() else None,
        settings=tuple(Leftover(places[name], name) for name in texts if name in spare and table.texts),
        unknown=tuple(
            Leftover(places[name], name)
            for name in columns
            if name not in forms and name not in TIME_FIELDS and name not in numbers and name not in texts
        ),
        used=frozenset(used),
        required=required,
        ended=places.get("JBSTSF"),
        seconds=places.get("INTSEC"),
        decode=msgspec.json.Decoder(tuple[tuple(types[name] for name in columns)]).decode,  # type: ignore[misc]
        code=compile(source, f"<{table_name}>", "exec"),
    )


def _body(
    table: Description, translation: Translation, sites: Mapping[str, str]
) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return the statements after the unpacking, and by dataset the columns that a record must have."""
    instance = translation.value(table.instance)
    before = list(translation.statements)
    translation.statements.clear()
    if instance is None:
        raise Unusable(f"expected the columns of {table.instance}, which tell the rows of {table.table} apart")
    translation.remembered[ast.unparse(ast.parse(table.instance.strip(), mode="eval").body)] = "instance"
    lines, required = [], {}
    for filled in table.records:
        definition = datasets()[filled.dataset]
        needed = tuple(name for name, column in definition.columns.items() if column.null_when is None)
        required[filled.dataset] = needed
        for n in range(filled.repeat[0], filled.repeat[1] + 1) if filled.repeat else (0,):
            lines += _record(filled, n, translation, sites, needed)
    statements = [*before, f"instance = {instance}", *translation.statements, "records = []", *lines]
    return "".join(f"    {line}\n" for line in statements), required


def _record(
    filled: Filled, n: int, translation: Translation, sites: Mapping[str, str], needed: tuple[str, ...]
) -> list[str]:
    translation.remember = filled.repeat is None
    columns = {name: _numbered(str(expression), n) for name, expression in filled.columns.items()}
    values = {name: translation.value(expression) for name, expression in columns.items()}
    values |= {
        name: translation.variable(column)  # not through an expression: a name may hold #, $ and @
        for name, column in sites.items()
        if name in datasets()[filled.dataset].columns and translation.variable(column)
    }
    if any(values.get(name) is None for name in needed):
        return []  # the columns of this dataset came with a later release
    lines = [
        "columns = base.copy()",  # and set one by one: in half the time of a display
        *(
            f"if (value := {code}) is not None: columns[{name!r}] = value"
            for name, code in values.items()
            if code is not None
        ),
        f"records.append(new(Record, ({filled.dataset!r}, columns)))",
    ]
    if filled.when is None:
        return lines
    condition = translation.value(_numbered(filled.when, n))
    return [f"if {condition}:", *(f"    {line}" for line in lines)]


def _counter(variable: str, name: str, field: Described, *, zeros: bool) -> str:
    """Return the statement that adds a record of `counter`."""
    condition = f"{variable} is not None" if zeros else variable
    once = " and not further" if field.once else ""
    facts = {"counter": repr(name), "value": variable}
    facts |= {key: repr(fact) for key, fact in (("unit", field.unit), ("kind", field.kind)) if fact is not None}
    set_ = "".join(f"fields[{key!r}] = {code}; " for key, code in facts.items())
    record = "counters.append(new(Record, ('counter', fields)))"
    return f"    if {condition}{once}: fields = common.copy(); {set_}{record}\n"


def _led_by_zeros(line: bytes) -> bytes:
    """Return the line with a 0 before every decimal point that has no digit before it."""
    parts = line.split(b'"')  # every second one stands between quotes
    parts[::2] = [part.replace(b",.", b",0.") for part in parts[::2]]
    return b'"'.join(parts)


def _range(field: Described) -> Any:
    """Return the type of the numbers that a field holds as they are."""
    return Annotated[float, msgspec.Meta(ge=None if field.signed else 0, lt=field.overflow)]


def _numbered(expression: str, n: int) -> str:
    return expression.replace("{nn}", f"{n:02}").replace("{n}", str(n))


def _picker(places: Sequence[int]) -> Picker:
    if not places:
        return lambda row: ()
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places)

"""A table with the columns that one file or query really has, ready to turn its rows into records at speed.

Releases append columns, so the same table comes with different ones: what is described and absent is left out, what is
there and not described goes to `counter`. Numbers of a row are converted all at once, and the dictionary of a record
is built by Python that was written for exactly these columns.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from types import CodeType
from typing import Any, NamedTuple

from counterflow.collectors.formats.ibmi_tables.description import TIME_FIELDS, Described, Description, Filled, tables
from counterflow.collectors.formats.ibmi_tables.expression import Translation
from counterflow.collectors.formats.ibmi_tables.known import Known
from counterflow.collectors.formats.ibmi_tables.values import Unusable
from counterflow.collectors.records import Record
from counterflow.schemas.definition import datasets

Row = Sequence[Any]
Picker = Callable[[Row], tuple[Any, ...]]
Convert = Callable[
    [Sequence[str | None], Sequence[object], Sequence[float | None], dict[str, Any], bool],
    tuple[str | None, list[Record], list[Record]],
]


class Leftover(NamedTuple):
    """What no dataset models: its place among the texts, or in the row where it is not described."""

    place: int
    name: str


@dataclass(frozen=True)
class Layout:
    """One table with certain columns.

    `numbers`, `texts`, `binaries` and `time` pick the values of a row. `settings` are texts that no dataset models,
    `unknown` columns that are not described, `used` fields that fill a column of a dataset. `path` picks the flags of
    a multipath unit (DSMU, DSIP), `ended` is the place of JBSTSF and `seconds` that of INTSEC in the row.
    """

    table: Description
    columns: tuple[str, ...]
    time_names: tuple[str, ...]
    time: Picker
    numbers: Picker
    number_names: tuple[str, ...]
    described: tuple[Described, ...]
    texts: Picker
    binaries: Picker
    path: Picker | None
    settings: tuple[Leftover, ...]
    unknown: tuple[Leftover, ...]
    used: frozenset[str]
    required: Mapping[str, tuple[str, ...]]
    ended: int | None
    seconds: int | None
    code: CodeType

    def bind(self, known: Known) -> Convert:
        """Return the function from a row to its instance, its records, and those of what no dataset models.

        It takes texts, binaries, numbers, the envelope, and whether the row is of a further path of a multipath unit.
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
        **{name: f"t{i}" for i, name in enumerate(texts)},
        **{name: f"b{i}" for i, name in enumerate(of_form["binary"])},
        **{name: f"n{i}" for i, name in enumerate(numbers)},
    }
    variables["INTSEC"] = "seconds"
    translation = Translation(variables.get, set(texts).__contains__, Known({}).functions())
    body, required = _body(table, translation, sites)
    described = tuple(table.fields.get(name, Described(type="number")) for name in numbers)
    used = {*translation.used, *sites.values()}
    spare = {name for name in (*numbers, *texts) if name not in used}
    leftovers = "".join(
        _counter(f"n{i}", name, field, zeros=table.zeros)
        for i, (name, field) in enumerate(zip(numbers, described, strict=True))
        if name in spare
    )
    unpacked = "".join(
        f"    {''.join(f'{letter}{i}, ' for i in range(count))} = {letter}\n"
        for letter, count in (("t", len(texts)), ("b", len(of_form["binary"])), ("n", len(numbers)))
        if count
    )
    source = (
        f"def convert(t, b, n, base, further):\n{unpacked}    seconds = base.get('interval_s')\n{body}"
        f"    common = {{**base, 'section': {table.table!r}, 'instance': instance}}\n    counters = []\n{leftovers}"
        "    return instance, records, counters\n"
    )
    time = tuple(name for name in TIME_FIELDS if name in places and name != "INTSEC")
    return Layout(
        table=table,
        columns=columns,
        time_names=time,
        time=_picker([places[name] for name in time]),
        numbers=_picker([places[name] for name in numbers]),
        number_names=numbers,
        described=described,
        texts=_picker([places[name] for name in texts]),
        binaries=_picker([places[name] for name in of_form["binary"]]),
        path=_picker([places["DSMU"], places["DSIP"]]) if {"DSMU", "DSIP"} <= places.keys() else None,
        settings=tuple(Leftover(i, name) for i, name in enumerate(texts) if name in spare and table.texts),
        unknown=tuple(
            Leftover(places[name], name)
            for name in columns
            if name not in forms and name not in TIME_FIELDS and name not in numbers and name not in texts
        ),
        used=frozenset(used),
        required=required,
        ended=places.get("JBSTSF"),
        seconds=places.get("INTSEC"),
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
    known = {name: code for name, code in values.items() if code is not None}
    fields = {**columns, **sites}
    blank = {name: code for name, code in known.items() if translation.is_text(fields[name]) and name not in needed}
    shown = ", ".join(f"{name!r}: {code}" for name, code in known.items() if name not in blank)
    lines = [
        f"columns = {{**base, {shown}}}",
        *(f"if {code}: columns[{name!r}] = {code}" for name, code in blank.items()),
        f"records.append(new(Record, ({filled.dataset!r}, columns)))",
    ]
    if filled.when is None:
        return lines
    condition = translation.value(_numbered(filled.when, n))
    return [f"if {condition}:", *(f"    {line}" for line in lines)]


def _counter(variable: str, name: str, field: Described, *, zeros: bool) -> str:
    """Return the statement that adds a record of `counter`."""
    facts = {"unit": field.unit, "kind": field.kind}
    shown = "".join(f", {key!r}: {value!r}" for key, value in facts.items() if value is not None)
    condition = f"{variable} is not None" if zeros else variable
    once = " and not further" if field.once else ""
    fields = f"{{**common, 'counter': {name!r}, 'value': {variable}{shown}}}"
    return f"    if {condition}{once}: counters.append(new(Record, ('counter', {fields})))\n"


def _numbered(expression: str, n: int) -> str:
    return expression.replace("{nn}", f"{n:02}").replace("{n}", str(n))


def _picker(places: Sequence[int]) -> Picker:
    if not places:
        return lambda row: ()
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places)

"""An answer with what a reader needs to trust it: formulas, units, what is incomplete, and why a figure is null."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import orjson

from counterflow.analysis.queries import BEGINNING, END, queries, run_stored
from counterflow.base.clickhouse import ClickHouse, Settings, lines
from counterflow.connection import Connection
from counterflow.dashboards.definition import tables_of
from counterflow.schemas.definition import Column, datasets

_ROWS: Settings = {"default_format": "JSONCompactEachRowWithNames", "output_format_json_quote_64bit_integers": 0}
_STATISTIC = re.compile(r"_(avg|max|min|p\d+|total|share)$")
_OF_NAME = 3
"""Words at the end of a name that may state a unit, as `mb_s` does."""


def answered(
    connection: Connection,
    statement: str,
    settings: Settings,
    most: int,
    systems: Collection[str] = (),
    since: str = BEGINNING,
    until: str = END,
) -> dict[str, Any]:
    """Return the answer of a statement.

    Parameters
    ----------
    most : rows that are returned; `more_rows` is whether there are others.
    systems, since, until : for which `completeness` is stated.

    Returns
    -------
    `sql`; `columns`, each with its formula, its unit, the number of nulls and why a figure may be null; `rows`;
    `more_rows`; `inputs`, the counters and results that the formulas name; `completeness`.
    """
    with connection.stream(statement, {**_ROWS, **settings}) as (_, pieces):
        found = lines(pieces)
        names: list[str] = orjson.loads(next(found, b"[]"))
        rows = [orjson.loads(line) for line in islice(found, most)]
        more = next(found, None) is not None
    tables = tables_of(statement)
    inputs = {table: _named(statement, table) for table in sorted(tables & datasets().keys())}
    with connection.refusals():
        whole = completeness(connection.client, tables, systems, since, until)
    return {
        "sql": statement,
        "columns": [_column(name, at, rows, statement, inputs) for at, name in enumerate(names)],
        "rows": rows,
        "more_rows": more,
        "inputs": [_described(table, name, column) for table, of in inputs.items() for name, column in of.items()],
        "completeness": whole,
    }


def completeness(
    client: ClickHouse, tables: Iterable[str], systems: Collection[str], since: str, until: str
) -> dict[str, Any]:
    """Return which results behind `tables` wait for input, and where their counters have gaps.

    `complete` is None where no table is one of counters or results.
    """
    behind = set(tables) & datasets().keys()
    while more := {name for table in behind for name in datasets()[table].reads} - behind:
        behind |= more
    if not behind:
        return {"complete": None, "why": "the statement reads no table of counters or results"}
    found = {
        name: [row for row in run_stored(client, queries()[name], systems, since, until) if row["dataset"] in behind]
        for name in ("provisional_results", "data_gaps")
    }
    return {"complete": not any(found.values()), **found}


def _named(statement: str, table: str) -> dict[str, Column]:
    """Return the columns of a table that a statement names."""
    words = set(re.findall(r"\w+", statement))
    return {name: column for name, column in datasets()[table].all_columns.items() if name in words}


def _column(
    name: str, at: int, rows: Sequence[Sequence[Any]], statement: str, inputs: Mapping[str, Mapping[str, Column]]
) -> dict[str, Any]:
    formula = expression(statement, name) or name
    words = set(re.findall(r"\w+", formula))
    of = {
        f"{table}.{word}": column
        for table, columns in inputs.items()
        for word, column in columns.items()
        if word in words
    }
    nulls = sum(row[at] is None for row in rows)
    reasons = {place: column.null_when for place, column in of.items() if column.null_when}
    return {"name": name, "formula": formula, "unit": unit_of(name), "nulls": nulls, "null_when": reasons}


def _described(table: str, name: str, column: Column) -> dict[str, Any]:
    return {
        "table": table,
        "column": name,
        "meaning": column.text,
        "unit": column.unit,
        "kind": column.kind,
        "null_when": column.null_when,
    }


def expression(statement: str, name: str) -> str | None:
    """Return the expression that a statement calls `name`, the outermost if there are several; None without any."""
    ends = [found.start() for found in re.finditer(rf"\s+AS\s+`?{re.escape(name)}`?\b", statement)]
    return min((_before(statement, end) for end in ends), key=lambda found: found[0])[1] if ends else None


def _before(statement: str, end: int) -> tuple[int, str]:
    """Return the depth of parentheses at `end`, and the text from the comma or keyword before it that is as deep."""
    depth = statement.count("(", 0, end) - statement.count(")", 0, end)
    inside, start = 0, end
    while start > 0:
        letter = statement[start - 1]
        if inside == 0 and (letter in ",(" or re.search(r"\b(SELECT|DISTINCT|WITH)\s$", statement[:start])):
            break
        inside += (letter == ")") - (letter == "(")
        start -= 1
    return depth, " ".join(statement[start:end].split())


def unit_of(name: str) -> str | None:
    """Return the unit that the end of a name states; None where columns that end so have several units, or none."""
    words = _STATISTIC.sub("", name).split("_")
    endings = ("_".join(words[-count:]) for count in range(min(_OF_NAME, len(words)), 0, -1))
    units = next((_units()[ending] for ending in endings if ending in _units()), set())
    return next(iter(units)) if len(units) == 1 else None


@cache
def _units() -> dict[str, set[str]]:
    """Return the units of the columns that end with each words."""
    found = defaultdict(set)
    for dataset in datasets().values():
        for name, column in dataset.all_columns.items():
            words = name.split("_")
            for count in range(1, min(_OF_NAME, len(words)) + 1):
                if column.unit:
                    found["_".join(words[-count:])].add(column.unit)
    return dict(found)

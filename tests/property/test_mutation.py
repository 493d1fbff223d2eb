"""A figure of any golden input with a digit more, a sign or a wrap is never silently beyond what it can be, or lost."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.collectors.formats import formats
from counterflow.collectors.records import Record
from counterflow.schemas.definition import Column, datasets
from tests.golden.cases import Case, Row, cases
from tests.unit.test_plausible import judged

FIGURE = re.compile(rb"(?<![\w.:/+&-])(?<!FOR )(?:(?<!\d,)|(?!\d+\s))\d+(?:\.\d+)?(?![\w:/=-])(?!\.\d)")
"""Digits that no letter, date or label continues, and no decimals behind a comma."""
WRAPS = [2**32 - 8, 2**32 - 60_000, 2**64 - 8, 2**64 - 2**50]
SLACK = 1.01
"""What rounding and clocks beside the counters explain."""


def mutants(figure: bytes) -> Iterator[bytes]:
    """Yield a figure with digits more, with a sign, and as counters that wrapped would have it.

    No sign before 0 and 1: recorders write -1 and -0.0 for what they did not measure.
    """
    whole, point, decimals = figure.partition(b".")
    for digits in (b"9", b"99", b"9" * 6, b"9" * 12, b"9" * 19, b"9" * 400):
        yield whole + digits + point + decimals
    if float(figure) not in (0.0, 1.0):
        yield b"-" + figure
    yield from (str(wrapped).encode() for wrapped in WRAPS)


def beyond(column: Column, value: float, row: Row) -> bool:
    """Return whether a figure is beyond the limits of its column, as its definition states them."""
    unit_is_stated = column.signed and "kind" in row
    if value < 0 and not column.signed:
        return True
    for limit in column.limits:
        factors = [row.get(name) for name in limit.per]
        if all(factors) and value > SLACK * limit.most * math.prod(factors):
            return True
    kind = row.get("kind") if unit_is_stated else column.kind
    wrapped = kind == "delta" and 0 < 2.0**32 - value * column.counts < 2**15
    return abs(value) >= 2.0**63 or wrapped


def impossible(row: dict[str, Any]) -> list[str]:
    """Return the figures of a record that cannot be."""
    columns, fields = datasets()[row["dataset"]].all_columns, row["fields"]
    return [
        name
        for name, value in fields.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and beyond(columns[name], value, fields)
    ]


def records(rows: list[Row]) -> list[Row]:
    return [row for row in rows if "fields" in row]


def rejects(rows: list[Row]) -> list[Row]:
    return [row for row in rows if "fields" not in row]


def lost(before: list[Row], after: list[Row]) -> list[str]:
    """Return figures that rows of the same key had before and lack now; none where a key changed."""
    now = {_key(row): row["fields"] for row in records(after)}
    if now.keys() != {_key(row) for row in records(before)}:
        return []
    return [
        f"{row['dataset']}.{name}"
        for row in records(before)
        for name, value in row["fields"].items()
        if isinstance(value, int | float) and name not in now[_key(row)]
    ]


def _key(row: Row) -> tuple[Any, ...]:
    fields = row["fields"]
    return (row["dataset"], *(fields.get(name) for name in (*datasets()[row["dataset"]].key, "source")))


def mutated(case: Case, at: int, mutant: int) -> tuple[Case, bytes]:
    """Return a case with one figure replaced, and by what; columns of fixed width stay where they are.

    What does not fit into its column is not printed there: the case is then unchanged.
    """
    found = list(FIGURE.finditer(case.input))
    figure = found[at % len(found)]
    each = list(mutants(figure[0]))
    put = each[mutant % len(each)]
    before = case.input[: figure.start()]
    blanks, longer = len(before) - len(before.rstrip(b" ")) - 1, len(put) - len(figure[0])
    if blanks > 0:
        if longer > blanks:
            return case, figure[0]
        before = before[: len(before) - longer]
    content = before + put + case.input[figure.end() :]
    return replace(case, files={**case.files, case.input_name: content}), put


JOINED = {"ibmi_tables"}
"""Formats with files whose numbers of intervals join them: a mutated number finds no row, which is no figure lost."""
WITH_FIGURES = {
    name: [case for case in cases(name) if FIGURE.search(case.input) and (len(case.files) == 1 or name not in JOINED)]
    for name in formats()
}
"""Cases by format."""


def bounded(name: str) -> dict[tuple[str, str], Row]:
    """Return each figure with a bound that a format yields, by dataset and column: a row of the golden cases."""
    found: dict[tuple[str, str], Row] = {}
    for row in (row for case in cases(name) for row in records(case.found())):
        for column, definition in datasets()[row["dataset"]].all_columns.items():
            if definition.limits and isinstance(row["fields"].get(column), float):
                found.setdefault((row["dataset"], column), row)
    return found


@pytest.mark.parametrize("name", formats())
def test_each_figure_with_a_bound_is_refused_beyond_it(name: str) -> None:
    for (dataset, column), row in bounded(name).items():
        definition = datasets()[dataset].all_columns[column]
        bounds = [
            limit.most * math.prod([row["fields"][factor] for factor in limit.per])
            for limit in definition.limits
            if all(row["fields"].get(factor) for factor in limit.per)
        ]
        for value in (*(bound * SLACK * SLACK for bound in bounds), *([] if definition.signed else [-1.0])):
            kept, refused = judged(Record(dataset, {**row["fields"], column: value}))
            assert all(column not in item.fields for item in kept), (dataset, column)
            assert any(column in item.detail for item in refused), (dataset, column)


@pytest.mark.parametrize("name", WITH_FIGURES)
@given(data=st.data())
def test_a_mutated_figure_is_never_silent(name: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(WITH_FIGURES[name]))
    changed, put = mutated(case, data.draw(st.integers(0, 10_000)), data.draw(st.integers(0, 100)))
    before, after = case.found(), changed.found()
    assert [(row["dataset"], bad) for row in records(after) if (bad := impossible(row))] == [], put
    # openmetrics: a gauge below 0, such as an unknown speed, fills no column, and is kept as it is
    kept = {row["fields"]["value"] for row in records(after) if row["dataset"] == "counter"}
    if rejects(before) == rejects(after) and float(put) not in kept:
        assert lost(before, after) == [], put

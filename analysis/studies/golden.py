"""Recomputes published figures from the document's own numbers with the formulas of this product.

The facts are beside this module, one YAML file per document, and in the tables from which `simulate` makes counters. A
check names a function and its arguments: a number, a cell, or another function. The computed side never uses the
expected value.
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, StrictStr, model_validator

from counterflow.analysis.studies import formulas, mirror
from counterflow.base.strict import Strict
from counterflow.schemas.definition import load_yaml
from counterflow.simulate.published import Row, table

PUBLISHED = Path(__file__).parent / "published"

Kind = Literal["reproduced", "cut", "source_error", "counter_check"]

FORMULAS: dict[str, Callable[..., Any]] = {
    **{name: formula for name, formula in vars(formulas).items() if inspect.isfunction(formula)},
    "distance_us": mirror.distance_us,
    "row_bytes_per_s": mirror.row_bytes_per_s,
}

# a number, a cell, or one formula with its arguments
Expression = float | StrictStr | Annotated[dict[str, Any], Field(min_length=1, max_length=1)]
Cells = Mapping[str, str]

_DUST = 1e-9
"""Tolerance for binary fractions of decimals that lie on a limit."""


class PublishedFigure(Strict):
    """A published figure, or one per row of `each`.

    Parameters
    ----------
    each : tables whose joined rows have the cells; rows that lack one are left out.
    computed : expression that computes it.
    published : as printed, or the cell where it is printed; exact to half of its last digit, or to `tolerance`.
    range : from and to, where nothing or only a rough figure is printed; `ranges` has those of the rows, by name.
    expect : `cut`: printed truncated, not rounded; `source_error`: the document errs, and its own numbers give another
        figure; `counter_check`: a formula that must not match.
    """

    id: str
    what: str
    place: str
    each: tuple[str, ...] = ()
    computed: Expression
    published: StrictStr | None = None
    range: tuple[float, float] | None = None
    ranges: dict[str, tuple[float, float]] = {}
    tolerance: float | None = None
    unit: str = "%"
    expect: Kind = "reproduced"
    note: str = ""

    @model_validator(mode="after")
    def _has_one_limit(self) -> PublishedFigure:
        if (self.published is None) == (not (self.range or self.ranges)):
            raise ValueError(f"{self.id}: expected either `published` or `range`")
        if self.range and self.expect != "reproduced":
            raise ValueError(f"{self.id}: a range can only be `reproduced`")
        return self


class Document(Strict):
    document: str
    checks: tuple[PublishedFigure, ...]


class Recomputed(NamedTuple):
    """A published figure and its recomputation.

    `ok`: it is as expected, which for an error of the document means that it differs.
    """

    document: str
    id: str
    what: str
    place: str
    unit: str
    computed: float | None
    published: str | None
    range: tuple[float, float] | None
    expect: Kind
    ok: bool
    note: str


@cache
def documents() -> tuple[Document, ...]:
    """Return the facts of all documents, in order of their file names."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(PUBLISHED.glob("*.yaml")))
    return tuple(_document(load_yaml(text)) for text in texts)


def _document(content: dict[str, Any]) -> Document:
    """Return the facts of a file; `changes` are checks of what two rows of a table have in the same column."""
    checks = list(content["checks"])
    for changes in content.get("changes", ()):
        for figure in changes["figures"]:
            [formula] = figure.keys() & {"change_pct", "reduction_pct"}
            column = figure.pop(formula)
            rows = {end: f"{changes[end]}/{column}" for end in ("before", "after")}
            what = f"{figure['what']}, {changes['of']}"
            checks.append({**figure, "what": what, "computed": {formula: rows}})
    return Document.model_validate({"document": content["document"], "checks": checks})


def outcomes(facts: Iterable[Document]) -> Iterator[Recomputed]:
    for document in facts:
        for check in document.checks:
            if not check.each:
                yield _outcome(document.document, check, check.id, {})
                continue
            for rows in zip(*map(_rows, check.each), strict=True):
                cells = ChainMap(*rows)
                name = _row_name(rows[0])
                if _wanted(check) <= cells.keys():
                    of_row = check.model_copy(update={"range": check.ranges[name]}) if check.ranges else check
                    yield _outcome(document.document, of_row, f"{check.id}/{name}", cells)


def totals(found: Iterable[Recomputed]) -> dict[str, Any]:
    """Return the count of each kind; an unexpected outcome counts only in `failed`."""
    every = list(found)
    kinds = [outcome.expect for outcome in every if outcome.ok]
    return {
        "checks": len(every),
        "reproduced": kinds.count("reproduced") + kinds.count("cut"),
        "source_errors": kinds.count("source_error"),
        "counter_checks": kinds.count("counter_check"),
        "failed": [outcome.id for outcome in every if not outcome.ok],
    }


def _outcome(document: str, check: PublishedFigure, name: str, cells: Cells) -> Recomputed:
    computed = evaluated(check.computed, cells)
    printed = check.published
    if printed is not None and not _is_number(printed):
        printed = _cell(printed, cells)
    ok = computed is not None and _as_expected(check, computed, printed)
    known = (check.what, check.place, check.unit, computed, printed, check.range, check.expect, ok, check.note)
    return Recomputed(document, name, *known)


def _as_expected(check: PublishedFigure, computed: float, printed: str | None) -> bool:
    if printed is None:
        low, high = check.range or (computed, computed)
        return low <= computed <= high
    digit = Decimal(1).scaleb(int(Decimal(printed).as_tuple().exponent))
    if check.expect == "cut":
        return Decimal(repr(computed)).quantize(digit, ROUND_DOWN) == Decimal(printed)
    tolerance = float(digit) / 2 if check.tolerance is None else check.tolerance
    near = abs(computed - float(printed)) <= tolerance + _DUST
    return near == (check.expect == "reproduced")


def evaluated(expression: Expression, cells: Cells) -> float | None:
    """Evaluate an expression over the cells of a row.

    Raises
    ------
    LookupError : names a formula or cell that does not exist.
    """
    if isinstance(expression, str):
        return float(_cell(expression, cells))
    if not isinstance(expression, dict):
        return float(expression)
    ((name, arguments),) = expression.items()
    if name not in FORMULAS:
        raise LookupError(f"there is no formula `{name}`")
    if isinstance(arguments, dict):
        named = {key: evaluated(value, cells) for key, value in arguments.items()}
        result = FORMULAS[name](**named)
    else:
        result = FORMULAS[name](*(evaluated(value, cells) for value in arguments))
    return None if result is None else float(result)


def _is_number(text: str) -> bool:
    try:
        Decimal(text)
    except InvalidOperation:
        return False
    return True


def _cell(reference: str, cells: Cells) -> str:
    """Return a cell: a column of the row, or `table/first cells of the row/column`."""
    if "/" not in reference:
        if reference not in cells:
            raise LookupError(f"there is no cell `{reference}` in the row")
        return cells[reference]
    name, *first, column = reference.split("/")
    found = [row[column] for row in _rows(name) if list(row.values())[: len(first)] == first and column in row]
    if len(found) != 1:
        raise LookupError(f"`{reference}` names {len(found)} cells, expected one")
    return found[0]


def _wanted(check: PublishedFigure) -> set[str]:
    """Return the columns that a row must have."""
    wanted = set(_references(check.computed))
    return wanted if check.published is None or _is_number(check.published) else wanted | {check.published}


def _references(expression: Any) -> Iterator[str]:
    if isinstance(expression, str):
        yield expression
    elif isinstance(expression, dict):
        for value in expression.values():
            yield from _references(value)
    elif isinstance(expression, list):
        for value in expression:
            yield from _references(value)


@cache
def _rows(name: str) -> list[Row]:
    return table(name)


def _row_name(row: Cells) -> str:
    """Return the unique name of a row: its run and node, its scenario, or capacity and threads in table 7-4."""
    if "run" in row:
        return "-".join(row[name] for name in ("run", "node") if name in row)
    return row.get("scenario") or f"{row['capacity_pct']}-{row['threads']}"

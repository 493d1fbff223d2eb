"""Recomputes published figures from the document's own numbers with the formulas of the product.

The facts are in `published/`, one YAML file per document, and in the tables from which `simulate` makes counters. A
check names a function and its arguments: a number, a cell, or another function. The computed side never uses the
expected value. The functions are those of `counterflow.analysis.studies` and, of what documents alone compute, those at
the end of this module.
"""

from __future__ import annotations

import inspect
import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import ROUND_DOWN, Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, StrictStr, model_validator

from counterflow.analysis.studies import formulas, mirror
from counterflow.analysis.studies.formulas import Number, change_pct, per, total
from counterflow.base.strict import Strict
from counterflow.schemas.definition import load_yaml
from counterflow.simulate.published import Row, table

PUBLISHED = Path(__file__).parent / "published"

Kind = Literal["reproduced", "cut", "source_error", "counter_check"]

CI_BYTES = 4096
"""A control interval of Db2's active log."""

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
    if name not in _formulas():
        raise LookupError(f"there is no formula `{name}`")
    formula = _formulas()[name]
    if isinstance(arguments, dict):
        result = formula(**{key: evaluated(value, cells) for key, value in arguments.items()})
    else:
        result = formula(*(evaluated(value, cells) for value in arguments))
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


@cache
def _formulas() -> dict[str, Callable[..., Any]]:
    own = (
        *(reduction_pct, cores_of_work, mb_of_work, of_millions_per_hour, cores_needed, performance_per_price_gain_pct),
        *(log_bytes_per_s, raid10_bytes, pcie_gb_per_s, bytes_of_gibits, bytes_per_message),
        *(mirror.distance_us, row_bytes_per_s),
        *filter(inspect.isfunction, vars(formulas).values()),
    )
    return {formula.__name__: formula for formula in own}


def reduction_pct(before: Number, after: Number) -> Number:
    """Return the fall in percent of `before`: the negative of change_pct."""
    grown = change_pct(before, after)
    return None if grown is None else -grown


def cores_of_work(ms_a_unit: Number, units_per_s: Number) -> Number:
    """Return the busy processors at this rate of work: the inverse of `ms_per_unit`."""
    return None if ms_a_unit is None or units_per_s is None else ms_a_unit * units_per_s / 1000


def mb_of_work(bytes_a_unit: Number, units_per_s: Number) -> Number:
    """Return MB/s at this rate of work: the inverse of `bytes_per_unit`."""
    return None if bytes_a_unit is None or units_per_s is None else bytes_a_unit * units_per_s / 1e6


def of_millions_per_hour(millions: Number) -> Number:
    """Return a rate of millions an hour as a rate a second."""
    return None if millions is None else millions * 1e6 / 3600


def cores_needed(cores: float, rate_now: float, rate_wanted: float) -> int:
    """Return the whole processors for another rate, each with its current throughput."""
    return math.ceil(cores * rate_wanted / rate_now)


def performance_per_price_gain_pct(throughput_ratio: float, price_ratio: float) -> float:
    """Return the gain in performance for the same money, %: the other usual definition; `price_ratio` is old / new.

    It has no upper bound, while the saving ends at 100 %; the studies here do not print it.
    """
    return 100 * (throughput_ratio * price_ratio - 1)


def log_bytes_per_s(cis_per_s: Number, copies: Number) -> Number:
    """Return the bytes a second of one log copy from the CIs written to all copies (QJSTCIWR)."""
    each = per(cis_per_s, copies)
    return None if each is None else each * CI_BYTES


def raid10_bytes(drives: int, drive_bytes: float) -> float:
    """Return the capacity of mirrored pairs: half of that of the drives."""
    return drives / 2 * drive_bytes


def pcie_gb_per_s(gigatransfers_per_s: float, lanes: int) -> float:
    """Return GB/s each way of a PCIe link of generation 3 or later: 128 bits in 130 carry data."""
    return gigatransfers_per_s * lanes * 128 / 130 / 8


def bytes_of_gibits(gibits: Number) -> Number:
    """Return Gb of 2³⁰ bits, the unit of the Db2 Mirror document, as bytes."""
    return None if gibits is None else gibits * 2**30 / 8


def bytes_per_message(out_bytes: Number, in_bytes: Number, messages: Number) -> Number:
    """Return the mean size of a message, of both directions together."""
    return per(total(out_bytes, in_bytes), messages)


def row_bytes_per_s(rows_per_s: float, row_bytes: float = mirror.MEASURED_ROW_BYTES) -> float:
    """Return the bytes of changed rows a second; the rows of table 7-4 are a byte longer than 7.5.1 states."""
    return rows_per_s * row_bytes

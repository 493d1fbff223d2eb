"""Compares runs: a baseline, scenarios and their differences, computed from unrounded values.

Incomparable figures are shown with a warning, except figures in different units, which have no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from counterflow.analysis.studies.figures import Figure, Key, MeasuredRun
from counterflow.analysis.studies.formulas import Number, change_pct, difference, per, price_performance_pct

TABLES = ("throughput", "response", "cpu", "log", "io", "parts", "components", "replication", "price")

LENGTHS_DIFFER_PCT = 10.0
LOAD_DIFFERS_PCT = 5.0
"""Of users, and of log bytes per unit of work: beyond it, the workload is a different one."""

ABSENT = "not in this run"


class Difference(NamedTuple):
    """Difference of a scenario to the baseline, in the unit of the figure and in percent of the baseline."""

    value: Number
    pct: Number
    reason: str | None = None


class ComparedFigure(NamedTuple):
    """One figure of all runs, the baseline first, and one difference per scenario."""

    key: Key
    unit: str
    figures: tuple[Figure, ...]
    differences: tuple[Difference, ...]


class Comparison(NamedTuple):
    """Compared runs; `warnings` list where they are not comparable, `formulas` how prices were computed."""

    runs: tuple[MeasuredRun, ...]
    rows: tuple[ComparedFigure, ...]
    warnings: tuple[str, ...]
    formulas: tuple[str, ...]


def compare(runs: Sequence[MeasuredRun]) -> Comparison:
    """Compare scenarios with the baseline, which is the first run."""
    one_system = all(len(_systems(run)) <= 1 for run in runs)
    by_run = [_aligned(run, one_system) for run in runs]
    prices, formulas = _prices(runs)
    for figures, priced in zip(by_run, prices, strict=True):
        figures.update(priced)
    keys = dict.fromkeys(key for figures in by_run for key in figures)
    ordered = sorted(keys, key=lambda key: (TABLES.index(key.table), key.system, key.of))  # names keep their order
    rows = []
    for key in ordered:
        some = [figures.get(key) for figures in by_run]
        unit = next(figure.unit for figure in some if figure)
        cells = tuple(figure or Figure(None, unit, reason=ABSENT) for figure in some)
        rows.append(ComparedFigure(key, unit, cells, tuple(_difference(cells[0], cell) for cell in cells[1:])))
    return Comparison(tuple(runs), tuple(rows), tuple(_warnings(runs, one_system)), tuple(formulas))


def largest(rows: Sequence[ComparedFigure], top: int) -> list[ComparedFigure]:
    """Return the rows of each system's `top` components by processor use in any run."""
    most: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.key.name == "cores":
            most[row.key.system, row.key.of] = max((f.value or 0.0 for f in row.figures), default=0.0)
    kept: set[tuple[str, str]] = set()
    for system in {system for system, _ in most}:
        kept.update(sorted((of for of in most if of[0] == system), key=lambda of: -most[of])[:top])
    return [row for row in rows if (row.key.system, row.key.of) in kept]


def _systems(run: MeasuredRun) -> set[str]:
    return {key.system for key in run.figures if key.system}


def _aligned(run: MeasuredRun, one_system: bool) -> dict[Key, Figure]:
    """Return the figures by key; where each run has one system, without its name."""
    return {key._replace(system="") if one_system else key: figure for key, figure in run.figures.items()}


def _difference(before: Figure, after: Figure) -> Difference:
    if before.value is None or after.value is None:
        return Difference(None, None, before.reason or after.reason)
    if before.unit != after.unit:
        return Difference(None, None, f"units differ: {before.unit}, {after.unit}")
    return Difference(difference(before.value, after.value), change_pct(before.value, after.value))


def _prices(runs: Sequence[MeasuredRun]) -> tuple[list[dict[Key, Figure]], list[str]]:
    if all(run.run.cost is None for run in runs):
        return [{} for _ in runs], []
    base = runs[0]
    found: list[dict[Key, Figure]] = []
    formulas = []
    for run in runs:
        cost, currency = run.run.cost, run.run.currency or ""
        no_price = None if cost is not None else f"no price of {run.run.name} in the list `prices`"
        figures = {Key("price", "", "", "cost"): Figure(cost, currency, reason=no_price)}
        if run is not base:
            reason = no_price or _not_priced(base, run)
            costs = per(cost, base.run.cost)
            throughputs = per(run.work.units_per_s, base.work.units_per_s)
            advantage = None if reason else price_performance_pct(costs, throughputs)
            reason = reason or (None if advantage is not None else "a throughput or a price of 0")
            figures[Key("price", "", "", "price_performance_pct")] = Figure(advantage, "%", reason=reason)
            if advantage is not None:
                formulas.append(
                    f"{run.run.name}: 1 - ({cost:g} / {base.run.cost:g}) / "
                    f"({run.work.units_per_s:.6g} / {base.work.units_per_s:.6g}) = {advantage:.4g} %"
                )
        found.append(figures)
    return found, formulas


def _not_priced(base: MeasuredRun, run: MeasuredRun) -> str | None:
    if base.run.cost is None:
        return f"no price of {base.run.name} in the list `prices`"
    if base.run.currency != run.run.currency:
        return f"currencies differ: {base.run.currency}, {run.run.currency}"
    if base.work.unit != run.work.unit:
        return f"units of work differ: {base.work.unit or 'none'}, {run.work.unit or 'none'}"
    return base.work.reason or run.work.reason


def _warnings(runs: Sequence[MeasuredRun], one_system: bool) -> Iterator[str]:
    for run in runs:
        yield from run.notes
        if run.work.reason:
            yield f"{run.run.name}: nothing for a unit of work: {run.work.reason}"
    for a, b in combinations(runs, 2):
        if set(a.run.systems) & set(b.run.systems) and a.run.begin_s < b.run.end_s and b.run.begin_s < a.run.end_s:
            yield f"{a.run.name} and {b.run.name} overlap in time on the same system"
    base = runs[0]
    for run in runs[1:]:
        both = f"{base.run.name} and {run.run.name}"
        if base.work.unit != run.work.unit and base.work.unit and run.work.unit:
            yield f"{both}: units of work differ: {base.work.unit}, {run.work.unit}; nothing for a unit compares"
        if _apart(base.run.seconds, run.run.seconds, LENGTHS_DIFFER_PCT):
            yield (
                f"{both}: lengths differ: {base.run.seconds:.0f} s, {run.run.seconds:.0f} s; compare rates, not totals"
            )
        if _apart(base.users, run.users, LOAD_DIFFERS_PCT):
            yield f"{both}: load differs: {base.users:g} users, {run.users:g} users"
        yield from _engines_differ(both, base, run, one_system)
        yield from _log_differs(both, base, run, one_system)


def _apart(a: Number, b: Number, limit_pct: float) -> bool:
    change = change_pct(a, b)
    return change is not None and abs(change) > limit_pct


def _engines_differ(both: str, base: MeasuredRun, run: MeasuredRun, one_system: bool) -> Iterator[str]:
    before, after = _aligned(base, one_system), _aligned(run, one_system)
    for key in sorted(before.keys() & after.keys()):
        a, b = before[key].value, after[key].value
        if (key.table, key.name) == ("cpu", "engines") and a is not None and b is not None and _apart(a, b, 1.0):
            where = f" of {key.system}" if key.system else ""
            yield f"{both}: engines ({key.of}){where} differ: {a:g}, {b:g}; compare cores, not %"


def _log_differs(both: str, base: MeasuredRun, run: MeasuredRun, one_system: bool) -> Iterator[str]:
    before, after = _aligned(base, one_system), _aligned(run, one_system)
    kinds = [sorted({k.name for k in of if k.table == "log" and k.name.endswith("_mb_s")}) for of in (before, after)]
    if all(kinds) and kinds[0] != kinds[1]:
        yield f"{both}: rates of the log are {' and '.join(map(', '.join, kinds))}: bytes a unit do not compare"
    for key in before.keys() & after.keys():
        a, b = before[key].value, after[key].value
        if key.name == "log_bytes_per_unit" and a is not None and b is not None and _apart(a, b, LOAD_DIFFERS_PCT):
            yield f"{both}: log bytes a unit of work differ: {a:,.0f}, {b:,.0f}; the workload is another one"

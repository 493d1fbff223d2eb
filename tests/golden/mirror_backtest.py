"""Predicts each mirrored run of tables 7-1 to 7-5 from its own baseline and compares it with the printed figures.

A constant is fitted to the other runs, never to the run that it predicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from counterflow.analysis.studies import fitted, sizing
from counterflow.analysis.studies.fitted import MirroredRun
from counterflow.analysis.studies.formulas import change_pct
from counterflow.analysis.studies.sizing import Estimate, corners, exact, spread
from counterflow.schemas.definition import load_yaml
from counterflow.simulate.published import table

LINE_BITS = 100e9
"""Rate of the port of case study 5, bit/s (7.5.2)."""

HALF_DIGIT = {
    ("7-1", "response"): 0.5,
    ("7-2", "response"): 0.005,
    ("7-3", "response"): 0.05,
    ("", "source CPU"): 0.05,
    ("", "target CPU"): 0.05,
    ("7-5", "OUT"): 0.005,
}
"""Half of the last printed digit, by table and figure."""


@cache
def outside() -> dict[str, str]:
    """Return the figures that are known to lie outside their interval, each with the reason (`mirror_outside.yaml`)."""
    known = load_yaml(Path(__file__).with_name("mirror_outside.yaml").read_text(encoding="utf-8"))
    return {figure: one["reason"] for one in known for figure in one["figures"]}


class Prediction(NamedTuple):
    """A printed figure and its prediction; `ok`: it lies within the interval, or `outside` has the reason why not.

    `high` is None where nothing limits it.
    """

    id: str
    place: str
    what: str
    unit: str
    published: float
    predicted: float
    low: float
    high: float | None
    error_pct: float | None
    inside: bool
    ok: bool
    note: str


@cache
def predictions() -> tuple[Prediction, ...]:
    """Return the predictions of all mirrored runs, in the order of the tables."""
    return (*(p for run in fitted.mirrored_runs() for p in _of_run(run)), *_of_port())


class Constants(NamedTuple):
    """What mirroring adds to a unit: processors of both nodes relative to the baseline's, and time, s."""

    growth: Estimate
    target: Estimate
    added_s: Estimate


def constants(of: MirroredRun) -> Constants:
    """Return the constants for a run, fitted to the other active-passive runs of its pool.

    The wait of an active-active run is fitted to all others: both nodes' memory counts there (7.3.6).
    """
    others = [run for run in fitted.mirrored_runs() if run.pool == of.pool and run != of]
    passive = [run for run in others if not run.active_active]
    waits = map(_added_s, others if of.active_active else passive)
    return Constants(
        spread([run.growth for run in passive]),
        spread([run.target for run in passive]),
        spread([wait for wait in waits if wait is not None]),
    )


def _added_s(run: MirroredRun) -> float | None:
    """Return the wait of a unit that the queue for processors does not explain, s; None where all were busy."""
    before = run.before
    grown = sizing.queueing(run.source_busy, run.source_cores) / sizing.queueing(before.busy, before.cores)
    return None if math.isinf(grown) else max(0.0, run.response_s - before.response_s * grown)


def _of_run(run: MirroredRun) -> Iterator[Prediction]:
    of = constants(run)
    nodes = 2 if run.active_active else 1
    think = _think(run)

    def figures(growth: float, target: float, added_s: float, think: float) -> tuple[float, ...]:
        load = growth + target if run.active_active else growth
        jobs = run.jobs / run.jobs_before / nodes
        found = sizing.sized(run.before, think, load, added_s, run.source_cores, jobs=jobs)
        applied = found.busy if run.active_active else run.before.busy / run.before.rate * found.rate * target
        busy = (100 * found.busy / run.source_cores, min(100.0, 100 * applied / run.target_cores))
        return found.rate * nodes, found.response_s, *busy

    rate, response, source, target = corners(figures, *of, think)
    minutes, unit = (60.0, "units/min") if run.kind == fitted.USERS else (1.0, "TPS")
    yield _compared(run.table, run.name, "throughput", unit, minutes * run.rate, rate.times(minutes))
    yield _compared(run.table, run.name, "response", "ms", 1000 * run.response_s, response.times(1000))
    yield _compared(run.table, run.name, "source CPU", "%", 100 * run.source_busy / run.source_cores, source)
    yield _compared(run.table, run.name, "target CPU", "%", 100 * run.target_busy / run.target_cores, target)
    if run.kind == fitted.SQL:
        yield from _to_hold(run, think)


def _to_hold(run: MirroredRun, think: Estimate) -> Iterator[Prediction]:
    """Predict the job sets that do the printed rate."""
    of = constants(run)
    nodes = 2 if run.active_active else 1

    def sets(growth: float, target: float, added_s: float, think: float) -> tuple[float]:
        load = growth + target if run.active_active else growth
        jobs = nodes * sizing.jobs_to_hold(run.before, think, run.rate / nodes, load, added_s, run.source_cores)
        return (run.jobs_before * jobs / run.before.rate / (think + run.before.response_s),)

    [job_sets] = corners(sets, *of, think)
    yield _compared(run.table, run.name, "job sets", "sets", run.jobs, job_sets)


def _think(run: MirroredRun) -> Estimate:
    """Return the time between two units of a job: exact for users, else from none to that of a set of whole jobs."""
    a_set = math.ceil(run.before.rate * run.before.response_s / run.jobs_before)
    think = sizing.think_s(run.before, a_set * run.jobs_before)
    return exact(think) if run.kind == fitted.USERS else Estimate(think / 2, 0.0, think)


def _of_port() -> Iterator[Prediction]:
    printed = {fitted.name(a): {**a, **b} for a, b in zip(table("table_7_4"), table("table_7_5"), strict=True)}
    free = {key: row for key, row in printed.items() if not fitted.capped(row)}
    sizes, messages, held = fitted.row_bytes(), fitted.row_messages(), fitted.enforcements()
    rates = {key: float(row["rows_s"]) for key, row in free.items()}
    for key, row in printed.items():
        base, capacity = f"{row['capacity_pct']}-8", float(row["capacity_pct"])
        if key == base:
            continue
        size, a_row = _around(base, key, sizes), _around(base, key, messages)
        if key in held:
            part = spread([value for other, value in held.items() if other != key])
            out = part.times(capacity / 100 * LINE_BITS / 1e9)
            rows = corners(partial(_held, capacity), part, size)[0]
        else:
            rows = _around(base, key, rates)
            out = corners(_gbits, rows, size)[0]
        run = f"{capacity:g} %, {row['threads']} threads"
        sent = corners(lambda rate, count: (rate * count,), rows, a_row)[0]
        yield _compared("7-4", run, "rows", "rows/s", float(row["rows_s"]), rows)
        yield _compared("7-5", run, "OUT", "Gb/s", float(row["own_out_gb_s"]), out)
        yield _compared("7-5", run, "messages", "messages/s", float(row["own_msgs_s"]), sent)


def _held(capacity_pct: float, enforcement: float, size: float) -> tuple[float]:
    return (capacity_pct / 100 * enforcement * LINE_BITS / 8 / size,)


def _gbits(rows: float, size: float) -> tuple[float]:
    return (rows * size * 8 / 1e9,)


def _around(base: str, predicted: str, of: dict[str, float]) -> Estimate:
    """Return the baseline's figure between the extremes of all uncapped runs other than the predicted one."""
    others = [value for key, value in of.items() if key != predicted]
    return Estimate(of[base], min(others), max(others))


def _compared(number: str, run: str, what: str, unit: str, printed: float, of: Estimate) -> Prediction:
    name = f"{number}/{run}/{what}"
    half = HALF_DIGIT.get((number, what), HALF_DIGIT.get(("", what), 0.0))
    inside = of.low - half <= printed <= of.high + half
    note = outside().get(name, "")
    high = None if math.isinf(of.high) else of.high
    error = change_pct(printed, of.value)
    known = (printed, of.value, of.low, high, error, inside, inside != bool(note), note)
    return Prediction(name, f"table {number}", what, unit, *known)

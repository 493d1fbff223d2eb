"""Estimates the cost of Db2 Mirror: exposure of each workload, distance, RoCE bandwidth and the share of a port.

Figures of the study IBM Db2 Mirror for i: Performance Considerations (June 2022) applied to measured mixes of logical
database I/O. docs/whatif.md has the model of response, throughput and processors; `backtest` tests it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import fmean, quantiles
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from counterflow.analysis.studies import fitted, sizing
from counterflow.analysis.studies.sizing import Estimate, exact
from counterflow.schemas.definition import load_yaml
from counterflow.schemas.thresholds import threshold

US_PER_KM_ROUND_TRIP = 10.0
"""Light takes 5 µs a km one way (3.4)."""

MEASURED_ROW_BYTES = 1301
"""Length of the rows of table 7-4."""
MEASURED = "3-8"
"""The run of tables 7-4 and 7-5 that a line is sized by: 3 % and 8 threads, uncapped. OUT is the sum of both nodes."""

SLOWDOWN_PCT, TUNED_SLOWDOWN_PCT = 62.0, 25.0
"""Longer run of a batch: as it was, and with best practices of the application and the journal cache (7.6.4)."""

COPY_SPEEDUP = (3.0, 4.0)
"""Copied rows a second with blocks of 256 KB / with blocks of 8 KB, without mirroring, by record length (7.6.5)."""

_Amount = Annotated[float, Field(ge=0, le=1e18)]
_Utc = Annotated[datetime, AfterValidator(lambda ts: ts if ts.tzinfo else ts.replace(tzinfo=UTC))]


class Mix(BaseModel):
    """Logical database I/O of a group of jobs over one interval: a row of `io_mix`; its other columns are ignored."""

    model_config = ConfigDict(frozen=True)

    ts: _Utc
    interval_s: Annotated[float, Field(gt=0, le=1e9)] | None = None
    system: str
    grouping: str
    name: str
    reads: _Amount | None = None
    read_for_update: _Amount | None = None
    inserts: _Amount | None = None
    other: _Amount | None = None
    commits: _Amount | None = None
    rollbacks: _Amount | None = None
    exposure_pct: Annotated[float, Field(ge=0, le=100)] | None = None
    modify_basis: str | None = None

    @property
    def logical_io(self) -> float | None:
        """All logical I/O; None where a part is unknown."""
        parts = (self.reads, self.inserts, self.other)
        return None if None in parts else math.fsum(part for part in parts if part is not None)

    @property
    def row_operations(self) -> float | None:
        """Logical I/O without commits and rollbacks, with them where `counts_commits`."""
        if self.logical_io is None or self.counts_commits:
            return self.logical_io
        return self.logical_io - (self.commits or 0.0) - (self.rollbacks or 0.0)

    @property
    def counts_commits(self) -> bool:
        """Whether commits and rollbacks are among the operations on rows: they are not known, or exceed other."""
        if self.commits is None or self.rollbacks is None or self.modify_basis == "with_commits":
            return True
        return self.commits + self.rollbacks > (self.other or 0.0)

    @property
    def exposed(self) -> float | None:
        """Operations on rows that mirroring affects; `_bound` has what it is where a part is unknown."""
        if self.row_operations is None:
            return None
        if self.read_for_update is None and self.exposure_pct is not None:
            return self.row_operations * self.exposure_pct / 100
        return self.row_operations - (self.reads or 0.0) + (self.read_for_update or 0.0)

    @property
    def row_changes_per_s(self) -> float | None:
        """Inserts, updates and deletes a second; an upper bound: the others include force end of data and releases."""
        if self.logical_io is None or self.interval_s is None:
            return None
        return ((self.row_operations or 0.0) - (self.reads or 0.0)) / self.interval_s


class Plan(NamedTuple):
    """Assumptions about the pair of nodes.

    Parameters
    ----------
    km : length of the line between the nodes; None is unknown.
    round_trips : per row change, 2 or more (3.4).
    row_bytes : mean length of a changed row.
    line_gbits : rate of the RoCE port each way, Gb/s of 10⁹ bits; None is unknown.
    headroom_pct : reserve above the peak.
    enforcement : part of a port's nominal capacity that a capped partition got: 0.62 to 0.74 in the study.
    units_per_s, response_ms, busy_pct, cores, jobs : the partition as measured without mirroring; None is unknown.
    like : `native` or `sql`, the published runs whose processor time the partition resembles.
    capacity : capacity of a processor of the other machine / of the measured one, by CPW or rPerf; `rating` names it.
    """

    km: float | None = None
    round_trips: float = 2.0
    row_bytes: float = MEASURED_ROW_BYTES
    line_gbits: float | None = None
    headroom_pct: float = 20.0
    enforcement: float = 0.62
    units_per_s: float | None = None
    response_ms: float | None = None
    busy_pct: float | None = None
    cores: float | None = None
    jobs: float | None = None
    like: str | None = None
    capacity: float = 1.0
    rating: str | None = None


class MirrorFigure(NamedTuple):
    """A number with its assumption and source; `reason` explains why there is none.

    A prediction has limits and their `origin`; `high` is None where nothing limits it.
    """

    value: float | None
    unit: str
    assumption: str
    source: str
    note: str | None = None
    reason: str | None = None
    low: float | None = None
    high: float | None = None
    origin: str | None = None


@cache
def _stated() -> dict[str, dict[str, dict[str, str]]]:
    """Return unit, assumption and source of each figure, by question and name (`mirror.yaml`)."""
    text = Path(__file__).with_name("mirror.yaml").read_text(encoding="utf-8")
    stated = load_yaml(text)
    sources = stated.pop("sources")
    return {
        question: {name: {"source": sources.get(question), **figure} for name, figure in figures.items()}
        for question, figures in stated.items()
    }


def figures_of(question: str) -> tuple[str, ...]:
    """Return the names of the figures that answer a question: of `workloads`, of the `line`, or of both `nodes`."""
    return tuple(_stated()[question])


def _figure(
    name: str, value: float | None, note: str | None = None, reason: str | None = None, **filled: Any
) -> MirrorFigure:
    """Return a figure with what is stated beside it; `filled` replaces what is in braces."""
    [stated] = [figures[name] for figures in _stated().values() if name in figures]
    unit, assumption, source = (stated[part].format(**filled) for part in ("unit", "assumption", "source"))
    return MirrorFigure(value, unit, assumption, source, note, reason)


class Workload(NamedTuple):
    """The figures of one group of jobs over all its intervals."""

    system: str
    grouping: str
    name: str
    intervals: int
    figures: dict[str, MirrorFigure]


def study(mixes: Iterable[Mix], plan: Plan) -> list[Workload]:
    """Return the workloads, those with the most row changes first.

    The partition (`*`) also has the figures of the line; without a row of the partition, its row changes are the sum
    of its groups.
    """
    groups: dict[tuple[str, str, str], list[Mix]] = defaultdict(list)
    for mix in mixes:
        groups[mix.system, mix.grouping, mix.name].append(mix)
    whole = {system for system, grouping, _ in groups if grouping == "partition"}
    found = []
    for (system, grouping, name), rows in groups.items():
        rates = [rate for row in rows if (rate := row.row_changes_per_s) is not None]
        figures = _exposure(rows) | _changes(rows, rates) | _distance(_mean_rate(rows), plan) | _waiting(rows, plan)
        figures |= _levers(rows, plan)
        if grouping == "partition":
            figures |= _line(max(rates, default=None), plan) | _predicted(rows, plan)
        found.append(Workload(system, grouping, name, len(rows), figures))
    for system, grouping in sorted({(s, g) for s, g, _ in groups if s not in whole}):
        rows = [row for key, some in groups.items() if key[:2] == (system, grouping) for row in some]
        found.append(Workload(system, grouping, "*", len({row.ts for row in rows}), _line(_peak_of_sums(rows), plan)))
    return sorted(found, key=lambda w: (w.system, w.name != "*", -_order(w), w.grouping, w.name))


def _order(workload: Workload) -> float:
    figure = workload.figures.get("row_changes_per_s")
    return (figure.value or 0.0) if figure else 0.0


def _exposure(rows: Sequence[Mix]) -> dict[str, MirrorFigure]:
    known = [row for row in rows if row.row_operations is not None]
    total = math.fsum(row.row_operations or 0.0 for row in known)
    exposed = math.fsum(row.exposed or 0.0 for row in known)
    none = "no operations on rows in the intervals whose logical I/O is known" if known else "no logical I/O is known"
    if not total:
        return {"exposure_pct": _figure("exposure_pct", None, reason=none)}
    return {"exposure_pct": _figure("exposure_pct", 100 * exposed / total, _bound(known))}


def _bound(rows: Sequence[Mix]) -> str | None:
    """Return which bound the exposure of rows is, and why; None where it is exact."""
    reads_unknown = any(row.read_for_update is None for row in rows)
    if any(row.counts_commits for row in rows):
        commits = "commits and rollbacks, which are not counted separately, are taken for changes"
        kind, more = ("no", ", and reads for update are not counted") if reads_unknown else ("upper", "")
        return f"{kind} bound: {commits}{more}"
    return "lower bound: reads for update are not counted separately" if reads_unknown else None


def _changes(rows: Sequence[Mix], rates: Sequence[float]) -> dict[str, MirrorFigure]:
    note = "upper bound: force end of data and releases are in other"
    if any(row.counts_commits for row in rows):
        note += ", and commits and rollbacks, which are not known for all intervals"
    beside = (note, None) if rates else (None, "no interval with its length and its logical I/O")
    values = {"row_changes_per_s": _mean_rate(rows), "row_changes_peak_per_s": max(rates, default=None)}
    return {name: _figure(name, value, *beside) for name, value in values.items()}


def _mean_rate(rows: Sequence[Mix]) -> float | None:
    known = [(rate, row.interval_s or 0.0) for row in rows if (rate := row.row_changes_per_s) is not None]
    return fmean([rate for rate, _ in known], [s for _, s in known]) if known else None


def _peak_of_sums(rows: Iterable[Mix]) -> float | None:
    sums: dict[datetime, float] = defaultdict(float)
    for row in rows:
        if (rate := row.row_changes_per_s) is not None:
            sums[row.ts] += rate
    return max(sums.values(), default=None)


def _distance(rate: float | None, plan: Plan) -> dict[str, MirrorFigure]:
    delay_us = None if plan.km is None else distance_us(plan.km, plan.round_trips)
    reason = "the length of the line is not given (--km)" if plan.km is None else None
    wait = None if delay_us is None or rate is None else rate * delay_us / 1e6
    trips = {"us_per_km": US_PER_KM_ROUND_TRIP, "round_trips": plan.round_trips}
    return {
        "distance_us": _figure("distance_us", delay_us, "2 or more round trips", reason, **trips),
        "distance_wait": _figure(
            "distance_wait",
            wait,
            "without the locks of reads for update, whose round trips the study does not count",
            reason or ("the row changes are not known" if rate is None else None),
        ),
    }


def _mirrored(rows: Sequence[Mix]) -> Estimate | None:
    """Return the mirrored operations a second: the mean, and the tenth and ninetieth percentile of the intervals.

    None where they are not known, for which `_not_mirrored` has the reason.
    """
    if _locks_unknown(rows):
        return None
    known = [
        (row.exposed / row.interval_s, row.interval_s) for row in rows if row.exposed is not None and row.interval_s
    ]
    if not known:
        return None
    rates = [rate for rate, _ in known]
    mean = fmean(rates, [s for _, s in known])
    if len(known) == 1:
        return exact(mean)
    tenths = quantiles(rates, n=10, method="inclusive")
    return Estimate(mean, min(mean, tenths[0]), max(mean, tenths[-1]))


def _wait(rows: Sequence[Mix], plan: Plan) -> Estimate | None:
    """Return the wait that mirroring adds to all jobs together, s a second; None where an input is unknown."""
    operations, changes = _mirrored(rows), _mean_rate(rows)
    if operations is None or changes is None or plan.km is None:
        return None
    locks = max(0.0, operations.value - changes)
    applied = sizing.apply_time(operations.value, changes, locks, fitted.pair_us())
    trips = sorted((plan.round_trips, max(plan.round_trips, fitted.round_trips())))
    near, far = (changes * distance_us(plan.km, trip) / 1e6 for trip in trips)
    return Estimate(applied.value + (near + far) / 2, applied.low + near, applied.high + far)


def _locks_unknown(rows: Sequence[Mix]) -> bool:
    return any(row.read_for_update is None and row.exposed is not None for row in rows)


def _not_mirrored(rows: Sequence[Mix]) -> str:
    if _locks_unknown(rows):
        return "reads for update are not counted separately"
    return "no interval with its length and its logical I/O"


def _no_wait(rows: Sequence[Mix], plan: Plan) -> str:
    return "the length of the line is not given (--km)" if plan.km is None else _not_mirrored(rows)


def _predict(name: str, of: Estimate | None, origin: str, reason: str, **filled: Any) -> MirrorFigure:
    if of is None:
        return _figure(name, None, reason=reason, **filled)
    if math.isinf(of.value):
        return _figure(name, None, reason="the processors cannot do these units/s with mirroring", **filled)
    high = None if math.isinf(of.high) else of.high
    return _figure(name, of.value, **filled)._replace(low=of.low, high=high, origin=origin)


def _waiting(rows: Sequence[Mix], plan: Plan) -> dict[str, MirrorFigure]:
    of_intervals, of_constants = (
        "tenth to ninetieth percentile of the measured intervals",
        "spread of the published constants",
    )
    return {
        "mirrored_per_s": _predict("mirrored_per_s", _mirrored(rows), of_intervals, _not_mirrored(rows)),
        "mirror_wait": _predict(
            "mirror_wait", _wait(rows, plan), of_constants, _no_wait(rows, plan), pair=fitted.pair_us()
        ),
    }


def _levers(rows: Sequence[Mix], plan: Plan) -> dict[str, MirrorFigure]:
    """Return what changes of the application would leave; formulas 17 and 18 of docs/whatif.md."""
    wait = _wait(rows, plan)
    known = [row for row in rows if row.row_operations is not None]
    columns = ("reads", "inserts", "row_operations")
    reads, inserts, done = (math.fsum(getattr(row, name) or 0.0 for row in known) for name in columns)
    deviation = threshold("copy_deviation_pct", "limit") / 100
    is_like = abs(inserts - reads) <= deviation * reads
    is_copy = inserts > 0 and is_like and done - reads - inserts <= deviation * inserts
    slow, fast = COPY_SPEEDUP
    left = TUNED_SLOWDOWN_PCT / SLOWDOWN_PCT  # where the changes are made already, none of the wait goes
    no_copy = "no copy: it does not insert about as much as it reads, or it updates or deletes"
    return {
        "mirror_wait_tuned": _predict(
            "mirror_wait_tuned",
            None if wait is None else Estimate(wait.value * left, wait.low * left, wait.high),
            "a batch 62 % longer became 25 % longer with all of them, not measured one by one; high: none helps",
            _no_wait(rows, plan),
        ),
        "copy_time_pct": _predict(
            "copy_time_pct",
            Estimate(100 / ((slow + fast) / 2), 100 / fast, 100 / slow) if is_copy else None,
            "3 to 4 times the rows a second by record length, measured without mirroring",
            no_copy if known else "no logical I/O is known",
        ),
    }


def _predicted(rows: Sequence[Mix], plan: Plan) -> dict[str, MirrorFigure]:
    """Return response, throughput and processors of the pair; formulas 5, 7 to 10 and 19 to 21 of docs/whatif.md."""
    measured = {
        "--units-per-s": plan.units_per_s,
        "--response-ms": plan.response_ms,
        "--busy-pct": plan.busy_pct,
        "--cores": plan.cores,
        "--jobs": plan.jobs,
        "--like": plan.like,
    }
    missing = [option for option, value in measured.items() if value is None]
    wait = _wait(rows, plan)
    reason = f"not given: {', '.join(missing)}" if missing else _no_wait(rows, plan)
    found: list[Estimate | None] = [None] * len(figures_of("nodes"))
    where = ""
    exposed, done = (math.fsum(getattr(r, n) or 0.0 for r in rows) for n in ("exposed", "row_operations"))
    if wait is not None and not done:
        wait, reason = None, "no operations on rows"
    if wait is not None and not missing:
        units, cores = plan.units_per_s or 0.0, plan.cores or 0.0
        before = sizing.UnmirroredNode(
            units, (plan.response_ms or 0.0) / 1e3, (plan.busy_pct or 0.0) / 100 * cores, cores
        )
        growth, target, where = fitted.processors(plan.like or "")
        share = exposed / done if plan.like == "native" else 1.0
        think = sizing.think_s(before, plan.jobs or 0.0)
        if think < 0:
            reason = "more units at a time than --jobs: units/s * response is larger"
        else:
            added = (growth.times(share), target.times(share), wait.times(1 / units))
            found = [*_pair(before, think, *added, plan), *sizing.held(before, think, *added, plan.capacity)]
    filled = {
        "like": f"like {plan.like} runs" if plan.like else "like native or sql runs, --like is not given",
        "rated": f"; the other machine by {plan.rating}, Capabilities Reference Appendix C" if plan.rating else "",
        "rating": "; Power Systems Performance Capabilities Reference C" if plan.rating else "",
    }
    origin = f"published constants: apply time of table 7-4; processors, {where}"
    return {
        name: _predict(name, of, origin, reason, **filled) for name, of in zip(figures_of("nodes"), found, strict=True)
    }


def _pair(
    before: sizing.UnmirroredNode, think: float, growth: Estimate, target: Estimate, added_s: Estimate, plan: Plan
) -> list[Estimate]:
    def figures(growth: float, target: float, added_s: float) -> tuple[float, ...]:
        at = sizing.sized(before, think, growth, added_s, before.cores, capacity=plan.capacity)
        applied = at.rate * before.busy / before.rate * target
        busy_pct = (100 * busy / before.cores / plan.capacity for busy in (at.busy, applied))
        return 1e3 * at.response_s, at.rate, at.busy, applied, *busy_pct

    return sizing.corners(figures, growth, target, added_s)


def distance_us(km: float, round_trips: float) -> float:
    """Return the delay that the line adds to a row change, µs."""
    return US_PER_KM_ROUND_TRIP * km * round_trips


def _line(peak: float | None, plan: Plan) -> dict[str, MirrorFigure]:
    # Bytes on the line for each changed row: measured for rows of 1,301 bytes, the overhead taken as equal for others.
    sizes = {run: measured - MEASURED_ROW_BYTES + plan.row_bytes for run, measured in fitted.row_bytes().items()}
    size = sizes[MEASURED]
    gbits = None if peak is None else peak * size * 8 / 1e9
    unknown = "the row changes are not known" if peak is None else None
    no_line = unknown or ("the rate of the line is not given (--line-gbits)" if plan.line_gbits is None else None)
    share = None if gbits is None or plan.line_gbits is None else 100 * gbits / plan.line_gbits
    parts = (max(fitted.enforcements().values()), plan.enforcement)

    def needed(bytes_a_row: float, part: float) -> float | None:
        if share is None:
            return None
        return math.ceil(share * (bytes_a_row / size) * (1 + plan.headroom_pct / 100) / part)

    need = needed(size, plan.enforcement)
    other_size = "" if plan.row_bytes == MEASURED_ROW_BYTES else f"; for {plan.row_bytes:g} bytes inferred from it"
    messages = fitted.row_messages()[MEASURED]
    return {
        "line_gbits": _figure(
            "line_gbits",
            gbits,
            "1,315 to 1,715 in the runs nothing capped",
            unknown,
            size=size,
            measured=fitted.row_bytes()[MEASURED],
            other_size=other_size,
        ),
        "line_messages_per_s": _figure(
            "line_messages_per_s",
            None if peak is None else peak * messages,
            "the hypervisor caps bytes, not messages",
            unknown,
            messages=messages,
        ),
        "line_pct": _figure("line_pct", share, None, no_line),
        "capacity_pct": _figure(
            "capacity_pct",
            need,
            "more than one port has" if need is not None and need > 100 else "caps act only while the adapter is full",
            no_line,
            plan=plan,
        )._replace(
            low=needed(min(sizes.values()), max(parts)),
            high=needed(max(sizes.values()), min(parts)),
            origin=None if need is None else "spread of bytes a row change and of enforcement, tables 7-4 and 7-5",
        ),
    }


def as_dict(workload: Workload) -> dict[str, Any]:
    """Return a workload as a dictionary for JSON."""
    return {**workload._asdict(), "figures": {name: f._asdict() for name, f in workload.figures.items()}}

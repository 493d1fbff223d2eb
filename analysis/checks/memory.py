"""Memory pools: sizes, faulting, activity levels, expert cache."""

from __future__ import annotations

from typing import Literal

from counterflow.analysis.checks import CAPABILITIES, MIRROR
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Positive, check
from counterflow.schemas.thresholds import threshold

LITTLE_GAIN_PCT, LARGE_GAIN_PCT = (threshold("pool_faulting_pct", level) for level in ("watch", "limit"))


@check(
    "pool",
    bound="at least",
    unit="MB",
    only={"machine_pool": True},
    source=f"{CAPABILITIES} 17.5",
    advice="Enlarge the machine pool: WRKSHRPOOL, or let QPFRADJ 2 or 3 do it.",
)
def machine_pool_size(size_mb: NonNegative, reserved_mb: NonNegative) -> CheckFigure:
    """The machine pool is at least twice its reserved size."""
    return CheckFigure(size_mb, 2 * reserved_mb, f"{reserved_mb:,.0f} MB reserved at the worst")


@check(
    "pool",
    bound="at most",
    unit="transitions/s",
    source=f"{CAPABILITIES} 19.1",
    advice="Raise the activity level of the pool: CHGSHRPOOL ACTLVL; limit work by the subsystem's MAXJOBS instead.",
)
def activity_level(active_to_ineligible_per_s: NonNegative) -> CheckFigure:
    """No thread goes from active to ineligible: the pool's activity level (MAXACT) lets all of them run."""
    return CheckFigure(active_to_ineligible_per_s, 0.0, "in the worst interval")


@check(
    "pool",
    bound="below",
    unit="% of response time",
    only={"interactive": True},
    source=f"{CAPABILITIES} 19.6",
    advice="Storage added to the pool may help: move it here and measure again.",
)
def interactive_faulting(
    faults_per_s: NonNegative,
    disk_response_ms: NonNegative,
    transactions_per_s: Positive,
    response_s: Positive,
    paging: str | None = None,
) -> CheckFigure:
    """Page faults take less than a quarter of the response time of interactive work:
    disk response * faults / transactions / response.
    """
    share = 100 * disk_response_ms / 1000 * faults_per_s / transactions_per_s / response_s
    return CheckFigure(share, LARGE_GAIN_PCT, _gain(share, paging))


@check(
    "pool",
    bound="below",
    unit="% of run time",
    only={"batch": True},
    source=f"{CAPABILITIES} 19.6",
    advice="Move main storage into the pool and measure again.",
)
def batch_faulting(
    faults_per_s: NonNegative,
    disk_response_ms: NonNegative,
    batch_jobs: Positive,
    batch_cpu_pct: NonNegative | None = None,
    paging: str | None = None,
) -> CheckFigure:
    """Page faults take less than a quarter of the time of batch work: disk response * faults / concurrent jobs,
    as a share of that and the CPU together where the CPU is known.
    """
    share = 100 * disk_response_ms / 1000 * faults_per_s / batch_jobs
    if batch_cpu_pct is None or share + batch_cpu_pct == 0:
        return CheckFigure(share, LARGE_GAIN_PCT, _gain(share, paging))
    corrected = 100 * share / (share + batch_cpu_pct)
    return CheckFigure(corrected, LARGE_GAIN_PCT, f"{share:.1f} % before the wait for CPU; " + _gain(corrected, paging))


@check(
    "pool",
    bound="at most",
    unit="faults/s",
    only={"java": True},
    source=f"{CAPABILITIES} 14.4",
    advice="Enlarge the pool, or lower the collection threshold (-Xms) so that the heap does not grow as large.",
)
def java_faulting(nondb_faults_per_s: NonNegative) -> CheckFigure:
    """A pool of Java work has no more than 20 to 30 non-database faults a second."""
    return CheckFigure(nondb_faults_per_s, 30.0)


@check(
    "pool",
    bound="at most",
    unit="MB",
    only={"java": True},
    source=f"{CAPABILITIES} 14.4",
    advice="Enlarge the pool or limit the heap (-Xmx).",
)
def java_heap(java_heap_mb: NonNegative, smallest_mb: NonNegative) -> CheckFigure:
    """The Java heap fits into the memory of its pool."""
    return CheckFigure(java_heap_mb, smallest_mb, "the limit is the smallest size of the pool")


@check(
    "pool",
    bound="below",
    unit="% CPU",
    only={"paging": "*CALC"},
    source=f"{CAPABILITIES} 10.3",
    advice="Expert cache has no benefit while CPU is short: add CPU, or CHGSHRPOOL PAGING(*FIXED) and compare.",
)
def expert_cache(cpu_busy_pct: NonNegative) -> CheckFigure:
    """Where expert cache is on, processor utilisation is below 60 %."""
    return CheckFigure(cpu_busy_pct, 60.0, "helps only work that waits for disks")


@check(
    source=f"{CAPABILITIES} 19.4",
    advice="CHGSYSVAL QPFRADJ('2') suits most; 3 does not adjust at IPL, 0 never adjusts the pools.",
)
def pool_adjustment(performance_adjustment: Literal[0, 1, 2, 3]) -> CheckFigure:
    """QPFRADJ is not 1, which sizes the pools at IPL and never again."""
    return CheckFigure(performance_adjustment != 1, True, f"QPFRADJ is {performance_adjustment}")


@check(
    "pool",
    only={"holds_objects": True},
    source=f"{CAPABILITIES} 19.5, of SETOBJACC in 10.3; {MIRROR} 7.6.2",
    advice="Bring the objects into a private pool: no job runs in theirs, so QPFRADJ takes memory from a shared one.",
)
def object_pool(performance_adjustment: Literal[0, 1, 2, 3], shared_pool: bool) -> CheckFigure:
    """Where QPFRADJ is 2 or 3, a pool that SETOBJACC fills is private: shared pools are adjusted at run time."""
    kind = "shared" if shared_pool else "private"
    note = f"a {kind} pool, QPFRADJ is {performance_adjustment}"
    return CheckFigure(not shared_pool or performance_adjustment not in (2, 3), True, note)


def _gain(share_pct: float, paging: str | None) -> str:
    if share_pct < LITTLE_GAIN_PCT:
        text = "below 10 % more storage gains little"
    elif share_pct < LARGE_GAIN_PCT:
        text = "between 10 and 25 % the reference leaves it open"
    else:
        text = "from 25 % on more storage may help"
    return text + ("; of limited value with expert cache" if paging == "*CALC" else "")

"""Is Db2's active log at the ceiling of its path, or has the path fallen back from zHyperLink?

A plateau alone may also be steady demand. The criterion is a rate near a configured ceiling while threads wait for the
log and the processors have room. pipelines/jobs/log_ceiling/README.md has the rule in words, its parameters and their
sources.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC
from math import dist, sqrt
from statistics import median
from typing import Annotated, Any, NamedTuple

from counterflow.pipelines.rules import Evidence, Rule, Verdict, columns, parameter
from counterflow.pipelines.rules.learned import Learned, Limit
from counterflow.pipelines.rules.series import Newest, changed, judged, least, left

CHOSEN = "chosen"


@dataclass(frozen=True)
class Parameters:
    """What a site may set. Names with `pct` are percentages, all others ratios, counts or milliseconds."""

    near_ratio: float = parameter(0.95, "Rate / ceiling of at least this is near the ceiling.", CHOSEN)
    plateau_ratio: float = parameter(
        0.85, "Rate / ceiling of at least this may be a plateau below a ceiling set too high.", CHOSEN
    )
    leave_ratio: float = parameter(0.90, "Below this rate / ceiling CRITICAL may be left.", CHOSEN)
    flat_cv: float = parameter(0.03, "A coefficient of variation of the last rates of at most this is flat.", CHOSEN)
    flat_window: int = parameter(3, "Rates, this interval's the last, that are flat or not.", CHOSEN)
    waits_over: float = parameter(
        0.0, "More waits for an unavailable log output buffer (QJSTWTB) than this are pressure.", CHOSEN
    )
    waiting_share: float = parameter(
        0.20, "Threads waiting for the log of at least this x active threads are pressure.", CHOSEN
    )
    latency_factor: float = parameter(
        2.0, "Without both of these, a log write of at least this x its quiet median is pressure.", CHOSEN
    )
    latency_below: float = parameter(0.70, "Intervals below this rate / ceiling are quiet.", CHOSEN)
    latency_window: int = parameter(60, "Quiet intervals whose median counts; fewer where there are no more.", CHOSEN)
    gcp_free_pct: float = parameter(85.0, "General processors of at most this have room.", CHOSEN)
    ziip_free_pct: float = parameter(85.0, "zIIPs of at most this have room: a zHyperLink write spins on them.", CHOSEN)
    sync_pct: float = parameter(90.0, "Below this share of synchronous writes zHyperLink has fallen back.", CHOSEN)
    raise_after: int = parameter(3, "Consecutive intervals near the ceiling that CRITICAL needs.", CHOSEN)
    warn_least: int = parameter(3, "Intervals near the ceiling, of the last `warn_window`, that warn.", CHOSEN)
    warn_window: int = parameter(5, "Intervals among which `warn_least` are counted.", CHOSEN)
    clear_after: int = parameter(5, "Consecutive intervals with a condition for leaving that clear a state.", CHOSEN)
    stale_after: int = parameter(5, "Consecutive intervals without a verdict that make STALE.", CHOSEN)
    gap_factor: float = parameter(2.0, "An interval longer than this x the nominal one has no verdict.", CHOSEN)
    forget_after_s: float = parameter(
        3600.0, "More seconds than this without a usable interval begin the state anew.", CHOSEN
    )
    learn_least: int = parameter(30, "Intervals under pressure from which a learned ceiling judges.", CHOSEN)
    learn_spread: float = parameter(0.10, "(99.5th percentile - median) / it of at most this lets it judge.", CHOSEN)


STATES = {
    "OK": "OK",
    "PATH_DEGRADED": "path degraded",
    "WARNING": "near its ceiling",
    "CRITICAL": "at its ceiling",
    "UNKNOWN": "not judged",
    "STALE": "no newer data",
}
"""Signals of one interval, which are also the states of a subsystem, with words for people."""
OK, PATH_DEGRADED, WARNING, CRITICAL, UNKNOWN, STALE = STATES
WORSE = {OK: 0, UNKNOWN: 0, STALE: 0, PATH_DEGRADED: 1, WARNING: 2, CRITICAL: 3}
ZHPF, ZHL = PATHS = ("zhpf", "zhl")


class LogInterval(NamedTuple):
    """One interval of the log of a Db2 subsystem; None is unknown. The page of the job has the meaning of each."""

    ts: columns.Time
    interval_s: columns.Figure
    path: Annotated[str | None, columns.OneOf(PATHS)]
    rate_mb_s: columns.Difference
    ceiling_mb_s: columns.Figure
    waits_delta: columns.Difference
    waiting_threads: columns.Difference
    active_threads: columns.Figure
    log_write_ms: columns.Difference
    gcp_pct: columns.Figure
    ziip_pct: columns.Figure
    zhl_sync_pct: columns.Figure
    reset: columns.Mark
    ceiling_since: columns.TimeOrNone = None


class LogState(NamedTuple):
    """State of one subsystem, carried from interval to interval.

    Parameters
    ----------
    state : as shown where an interval has a ceiling.
    clearing : number of intervals for which a raised state could have been left.
    stale : number of intervals without a verdict.
    near_in_a_row : number of newest consecutive intervals near the ceiling.
    near : whether each of the newest intervals was near, oldest first.
    rates : of the newest intervals, MB/s, oldest first.
    quiet_ms : log write of the newest quiet intervals, oldest first.
    configuration : path and ceiling in MB/s of the newest interval, as last known.
    learned : rates, MB/s, of all intervals with pressure and free processors on this path and configuration.
    """

    state: str = UNKNOWN
    clearing: int = 0
    stale: int = 0
    near_in_a_row: int = 0
    near: tuple[bool, ...] = ()
    rates: tuple[float, ...] = ()
    quiet_ms: tuple[float, ...] = ()
    newest: Newest = Newest()
    configuration: tuple[str | None, float | None] = (None, None)
    learned: Learned = Learned()


class _Figures(NamedTuple):
    """Figures of an interval and those before it; None where an input is unknown."""

    ratio: float
    near_in_a_row: int
    near_of_window: int
    variation: float | None
    waiting_share: float | None
    quiet_log_write_ms: float | None
    pressure: bool | None
    cpu_free: bool | None


OF_THE_SERIES = ("stale_after", "gap_factor", "forget_after_s")
"""Parameters compared for an interval without a verdict; one with a verdict is compared with all others."""
OF_THE_INTERVAL = tuple(f.name for f in fields(Parameters) if f.name not in OF_THE_SERIES)
NO_CEILING = "no ceiling is configured"


def judge(parameters: Parameters, state: LogState, interval: LogInterval) -> tuple[LogState, Verdict]:
    """Return the next state and the verdict of `interval`, which follows those that made `state`."""
    p, i = parameters, interval
    if state.newest.precedes(i):
        state = _begun_anew(p, state, i)
    why, rate = _restarted(i) or state.newest.no_verdict(i, p.gap_factor), i.rate_mb_s
    if why or rate is None:
        return _stale(p, state, i, why or "rate unknown")

    limit = None if i.ceiling_mb_s else learned(p, state)
    pressure, waiting, usual_ms, pressed = _pressure(p, state.quiet_ms, i)
    cpu_free = _cpu_free(p, i)
    # only a log that threads wait for, while processors are free, shows the most that its path can do
    path, _ = state.configuration
    shows_most = pressure and cpu_free and path is not None and not _fallen_back(p, i)
    ceiling = i.ceiling_mb_s or (limit.value if limit and limit.usable else None)
    ratio = rate / ceiling if ceiling else None
    near = ratio is not None and ratio >= p.near_ratio
    # kept with and without a ceiling
    state = state._replace(
        stale=0,
        near_in_a_row=state.near_in_a_row + 1 if near else 0,
        near=(*state.near, near)[-p.warn_window :],
        rates=(*state.rates, rate)[-p.flat_window :],
        newest=judged(i),
        learned=state.learned.plus(rate) if shows_most else state.learned,
    )
    if ratio is None:
        why = NO_CEILING if limit is None else f"{NO_CEILING}; {_learning(p, limit)}"
        evidence = Evidence(p, OF_THE_SERIES, i, None, _counts(0, 0, limit))
        return state._replace(state=UNKNOWN, clearing=0), Verdict(UNKNOWN, UNKNOWN, False, why, evidence)

    variation = _variation(state.rates) if len(state.rates) == p.flat_window else None
    figures = _Figures(ratio, state.near_in_a_row, sum(state.near), variation, waiting, usual_ms, pressure, cpu_free)
    signal, rule = _signal(p, i, figures)
    reason = _reason(p, i, figures, len(state.near), pressed)
    if limit is not None:
        signal, rule = (WARNING, "log_ceiling_learned") if signal == CRITICAL else (signal, rule)
        reason = f"{reason}; {NO_CEILING}: learned {_in_words(limit)}, which warns at most"

    before, shown, clearing = state.state, signal, 0
    if WORSE[signal] < WORSE[before]:
        shown, clearing, words = left(before, signal, _leave(p, before, i, figures), state.clearing, p.clear_after)
        reason = f"{reason}{words}"

    quiet_ms = state.quiet_ms
    # on a degraded path a low rate does not mean a quiet log
    if i.log_write_ms is not None and ratio < p.latency_below and shown != PATH_DEGRADED:
        quiet_ms = (*quiet_ms, i.log_write_ms)[-p.latency_window :]
    evidence = Evidence(p, OF_THE_INTERVAL, i, rule, figures._asdict() | _counts(clearing, 0, limit))
    state = state._replace(state=shown, clearing=clearing if shown == before else 0, quiet_ms=quiet_ms)
    return state, Verdict(shown, signal, False, reason, evidence)


def learned(parameters: Parameters, state: LogState) -> Limit | None:
    """Return the ceiling in MB/s of one copy that was learned for the state's path and configuration, if any."""
    return state.learned.highest(parameters.learn_least, parameters.learn_spread)


def _learning(p: Parameters, limit: Limit) -> str:
    if limit.intervals < p.learn_least:
        return f"learned from {limit.intervals} of {p.learn_least} intervals under pressure"
    return f"learned {_in_words(limit)}, of which {p.learn_spread:g} would do"


def _in_words(limit: Limit) -> str:
    return (
        f"{limit.value:.4g} MB/s from {limit.intervals} intervals under pressure, "
        f"spread {limit.spread:.2g}, confidence {limit.confidence}"
    )


def _begun_anew(p: Parameters, state: LogState, i: LogInterval) -> LogState:
    """Forget state, counts, rates and medians after a long silence and a change of path or ceiling."""
    known, other = changed(state.configuration, (i.path, i.ceiling_mb_s or None))
    kept = LogState() if other or state.newest.silent_for(p.forget_after_s, i) else state
    since = None if i.ceiling_since is None else i.ceiling_since.astimezone(UTC).isoformat()
    return kept._replace(configuration=known, learned=state.learned.under((known[0], since)))


def _stale(p: Parameters, state: LogState, i: LogInterval, why: str) -> tuple[LogState, Verdict]:
    """Keep state and counts; an interval of the past changes nothing at all."""
    if state.newest.precedes(i):
        stale = state.stale + 1
        kept = STALE if stale >= p.stale_after else state.state
        state = state._replace(state=kept, stale=stale, newest=state.newest.passed(i))
        why = f"{why}; {stale} of {p.stale_after} intervals without a verdict"
    shown = UNKNOWN if state.state == OK else state.state
    if not i.ceiling_mb_s:
        shown, why = UNKNOWN, f"{NO_CEILING}; {why}"
    figures = _counts(state.clearing, state.stale, None)
    return state, Verdict(shown, None, True, why, Evidence(p, OF_THE_SERIES, i, None, figures))


def _counts(clearing: int, stale: int, limit: Limit | None) -> dict[str, Any]:
    counts = {"clearing": clearing, "stale_intervals": stale}
    return counts if limit is None else counts | limit.as_json("learned_mb_s")


def _restarted(i: LogInterval) -> str | None:
    differences = (i.rate_mb_s, i.waits_delta, i.waiting_threads, i.log_write_ms)
    if any((value or 0) < 0 for value in differences):
        return "the counters restarted: a difference is negative"
    return None


def _variation(rates: tuple[float, ...]) -> float | None:
    """Return population standard deviation / mean of the rates."""
    count = len(rates)
    mean = sum(rates) / count
    return dist(rates, (mean,) * count) / sqrt(count) / mean if mean else None


def _pressure(
    p: Parameters, quiet_ms: tuple[float, ...], i: LogInterval
) -> tuple[bool | None, float | None, float | None, str]:
    """Return whether threads wait for the log, their share, the median used for it, and the finding in words."""
    waits, waiting, active = i.waits_delta, i.waiting_threads, i.active_threads
    share = waiting / active if waiting is not None and active else None
    if waits is None and share is None:
        return _slow(p, quiet_ms, i.log_write_ms)
    waited = waits is not None and waits > p.waits_over
    many = share is not None and share >= p.waiting_share
    words = "" if waits is None else f"{waits:g} waits for a log buffer"
    if waited:
        # waits alone cannot distinguish the two causes
        words = f"{words} (at the ceiling, or OUTBUFF is too small)"
    if share is not None:
        threads = f"{share:.4g} of the active threads wait for the log, {least(many)} {p.waiting_share:g}"
        words = f"{words}; {threads}" if words else threads
    return waited or many, share, None, words


def _slow(
    p: Parameters, quiet_ms: tuple[float, ...], log_write_ms: float | None
) -> tuple[bool | None, None, float | None, str]:
    """Infer pressure from log write latency where waits and waiting threads are unknown."""
    if log_write_ms is None:
        return None, None, None, "pressure unknown: waits, share of waiting threads and log writes are"
    if not quiet_ms:
        return None, None, None, "pressure unknown: no quiet interval to compare log writes with yet"
    usual_ms = median(quiet_ms)
    if not usual_ms:
        return None, None, usual_ms, "pressure unknown: log writes took no time when quiet"
    holds = log_write_ms >= p.latency_factor * usual_ms
    words = f"log writes of {log_write_ms:.4g} ms, {least(holds)} {p.latency_factor:g} x {usual_ms:.4g} ms when quiet"
    return holds, None, usual_ms, words


def _cpu_free(p: Parameters, i: LogInterval) -> bool | None:
    """Return whether both general processors and zIIPs have room; one known to be busy decides."""
    if i.gcp_pct is not None and i.gcp_pct > p.gcp_free_pct:
        return False
    if i.ziip_pct is not None and i.ziip_pct > p.ziip_free_pct:
        return False
    return None if i.gcp_pct is None or i.ziip_pct is None else True


def _signal(p: Parameters, i: LogInterval, f: _Figures) -> tuple[str, str | None]:
    """Return the worst state whose condition holds, and the condition's name; an unknown condition does not hold."""
    waited_for = f.pressure and f.cpu_free
    if waited_for and f.near_in_a_row >= p.raise_after:
        return CRITICAL, "log_ceiling_hit"
    if f.near_of_window >= p.warn_least:
        return WARNING, "log_ceiling_near"
    flat = f.variation is not None and f.variation <= p.flat_cv
    if waited_for and flat and f.ratio >= p.plateau_ratio:
        return WARNING, "log_plateau"
    if f.pressure and flat and _fallen_back(p, i):
        return PATH_DEGRADED, "log_path_degraded"
    return OK, None


def _fallen_back(p: Parameters, i: LogInterval) -> bool:
    return i.path == ZHL and i.zhl_sync_pct is not None and i.zhl_sync_pct < p.sync_pct


def _leave(p: Parameters, before: str, i: LogInterval, f: _Figures) -> str | None:
    """Return the condition by which a raised state could be left for a lesser one, if any."""
    if before == WARNING:
        return "neither near nor on a plateau"
    if not f.pressure:
        return "no pressure"
    if before == CRITICAL:
        return f"rate less than {p.leave_ratio:g} of the ceiling" if f.ratio < p.leave_ratio else None
    synchronous = i.zhl_sync_pct is not None and i.zhl_sync_pct >= p.sync_pct
    return f"at least {p.sync_pct:g} % synchronous" if synchronous else None


def _reason(p: Parameters, i: LogInterval, f: _Figures, intervals: int, pressed: str) -> str:
    """Format the figures compared with the conditions."""
    words = f"rate {f.ratio:.4g} of the ceiling"
    if f.near_of_window:
        words = f"{words}, near in {f.near_of_window} of {intervals}, {f.near_in_a_row} in a row"
    if f.pressure and f.variation is not None:
        words = f"{words}, varying by {100 * f.variation:.3g} %"
    words = f"{words}; {pressed}"
    if f.ratio >= p.plateau_ratio:
        words = f"{words}; GCP {_percent(i.gcp_pct)}, zIIP {_percent(i.ziip_pct)}"
    if _fallen_back(p, i):
        words = f"{words}; {_percent(i.zhl_sync_pct)} of the writes synchronous, less than {p.sync_pct:g} %"
    return words


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g} %"


RULE = Rule(
    name="log_ceiling",
    question="Is Db2's active log at the ceiling of its path?",
    dataset="log_load",
    entity=("system", "subsystem"),
    kind=None,
    alarms=(CRITICAL,),
    parameters=Parameters,
    made=LogInterval,
    states=STATES,
    start=LogState(),
    judge=judge,
)

"""Is the hypervisor capping a RoCE (SR-IOV) link?

A capped port never reaches its nominal share, so "rate >= capacity x line" stays silent. The criterion is the own share
of a full adapter's bytes against the capacity, with a drop against the link's own past while the neighbours grow.
pipelines/jobs/roce_cap/README.md has the rule in words, its parameters and their sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from counterflow.pipelines.rules import Evidence, Rule, Verdict, columns, parameter
from counterflow.pipelines.rules.learned import Learned, Limit
from counterflow.pipelines.rules.series import Newest, changed, judged, least, left

TABLES = "Db2 Mirror, tables 7-4 and 7-5"
CHOSEN = "chosen"


@dataclass(frozen=True)
class Parameters:
    """What a site may set. Shares are ratios, not percentages."""

    util_threshold: float = parameter(0.85, "A physical port below this share of its line rate caps nobody.", TABLES)
    util_leave: float = parameter(0.80, "Below this share of the line rate a raised state may be left.", CHOSEN)
    share_low: float = parameter(
        0.55, "Own share of the physical bytes / capacity; below it the link is below what it is guaranteed.", TABLES
    )
    share_high: float = parameter(0.81, "Above it the link borrows freely: no cap.", TABLES)
    share_leave: float = parameter(0.87, "Above it a raised state may be left.", TABLES)
    drop_ratio: float = parameter(0.90, "Own bytes and own messages of at most this x baseline are a drop.", TABLES)
    others_risen: float = parameter(1.005, "Others' bytes of at least this x baseline have risen.", TABLES)
    recover_ratio: float = parameter(0.95, "With own bytes of at least this x baseline a state may be left.", TABLES)
    message_tolerance: float = parameter(
        0.10, "Bytes a message this near its baseline (as a ratio) are the same work.", TABLES
    )
    backlog_kept: float = parameter(1.0, "Jobs of at least this x baseline are not lower: the demand is there.", CHOSEN)
    drops_over_s: float = parameter(0.0, "More dropped packets a second than this are growing drops.", CHOSEN)
    rnr_nak_over_s: float = parameter(0.0, "More RNR NAKs a second than this are growing RNR NAKs.", CHOSEN)
    baseline_window: int = parameter(
        10, "Intervals whose median is the baseline; fewer where there are no more.", CHOSEN
    )
    freeze_max_s: float = parameter(3600.0, "Seconds a drop freezes the baseline for, at most.", CHOSEN)
    raise_after: int = parameter(3, "Consecutive intervals of one signal that raise CAPPED or SUSPECTED.", CHOSEN)
    clear_after: int = parameter(5, "Consecutive intervals with a condition for leaving that clear it.", CHOSEN)
    gap_factor: float = parameter(2.0, "An interval longer than this x the nominal one has no verdict.", CHOSEN)
    forget_after_s: float = parameter(
        3600.0, "More seconds than this without a usable interval begin the state anew.", CHOSEN
    )
    learn_least: int = parameter(30, "Capped intervals from which the learned share of the capacity counts.", CHOSEN)
    learn_spread: float = parameter(
        0.10, "Half the 10th to 90th percentile / median of at most this lets it count.", CHOSEN
    )


STATES = {
    "OK": "OK",
    "DEMAND_LIMITED": "limited by demand",
    "LIKELY": "probably capped",
    "SUSPECTED": "cap suspected",
    "CAPPED": "capped",
    "UNKNOWN": "not judged",
}
"""Signals of one interval, which are also the states of a link, with words for people."""
OK, DEMAND_LIMITED, LIKELY, SUSPECTED, CAPPED, UNKNOWN = STATES
RAISED = (SUSPECTED, CAPPED)


class LinkInterval(NamedTuple):
    """One interval of one link; None is unknown. The page of the job has the meaning of each field."""

    ts: columns.Time
    interval_s: columns.Positive
    own_out_bytes_s: columns.Figure
    own_in_bytes_s: columns.Figure
    own_msgs_s: columns.Figure
    phys_out_bytes_s: columns.Figure = None
    phys_in_bytes_s: columns.Figure = None
    line_bits_s: columns.Positive = None
    capacity_pct: columns.Positive = None
    link_count: columns.Figure = None
    load_balance_count: columns.Figure = None
    backlog_jobs: columns.Figure = None
    rows_s: columns.Figure = None
    drops_s: columns.Figure = None
    rnr_nak_s: columns.Figure = None
    reset: columns.Mark = False
    failover: columns.Mark = False


class Usual(NamedTuple):
    """Figures of an interval that has a verdict, or the baseline: the median of each; None where it is unknown."""

    own_bytes_s: float | None = None
    own_msgs_s: float | None = None
    others_bytes_s: float | None = None
    bytes_per_message: float | None = None
    backlog_jobs: float | None = None


class LinkState(NamedTuple):
    """State of one link, carried from interval to interval.

    Parameters
    ----------
    state : as shown.
    pending, raising : the signal about to be raised, and the number of intervals for which it has held.
    clearing : number of intervals for which a raised state could have been left.
    history : the newest intervals of the baseline, each as `Usual`, oldest first.
    dropped_since_s : beginning of the current drop, seconds since 1970.
    learned : own share of the capacity x util, which is own bytes / nominal capacity where both directions carry the
        same, of all intervals whose signal was CAPPED. Its configuration is capacity %, link count and load-balance
        count.
    """

    state: str = UNKNOWN
    pending: str | None = None
    raising: int = 0
    clearing: int = 0
    history: tuple[tuple[float | None, ...], ...] = ()
    dropped_since_s: float | None = None
    newest: Newest = Newest()
    learned: Learned = Learned()


class _Load(NamedTuple):
    """Figures derived from one interval's inputs; None where an input is unknown."""

    own_bytes_s: float
    own_msgs_s: float
    phys_bytes_s: float | None
    others_bytes_s: float | None
    util: float | None
    share: float | None
    bytes_per_message: float | None


# the parameters that each numbered rule compares with
COMPARED: tuple[tuple[str, ...], ...] = (
    (),
    ("util_threshold",),
    ("util_threshold", "share_low"),
    ("util_threshold", "share_low", "share_high"),
    ("util_threshold", "share_low", "share_high"),
    ("util_threshold", "share_low", "share_high", "drop_ratio", "others_risen"),
    ("util_threshold", "drop_ratio", "message_tolerance", "backlog_kept", "drops_over_s", "rnr_nak_over_s"),
)
TO_LEAVE = ("util_leave", "share_low", "share_leave", "recover_ratio", "clear_after")


def judge(parameters: Parameters, state: LinkState, interval: LinkInterval) -> tuple[LinkState, Verdict]:
    """Return the next state and the verdict of `interval`, which follows those that made `state`."""
    p, now = parameters, interval.ts.timestamp()
    if state.newest.precedes(interval):
        state = _begun_anew(p, state, interval)
    load = _load(interval)
    why = state.newest.no_verdict(interval, p.gap_factor)
    if load is None or why or interval.interval_s is None:
        shown = state.state if state.state in RAISED else UNKNOWN
        figures = {} if load is None else load._asdict()
        evidence = Evidence(p, ("gap_factor",), interval, 0, figures | _counts(state, state.raising, state.clearing))
        state = state._replace(newest=state.newest.passed(interval))
        return state, Verdict(shown, None, True, why or "own rates unknown", evidence)

    usual = _baseline(state.history)
    dropped, drop = _drop(p, load, usual)
    signal, rule, reason = _signalled(p, interval, load, usual, dropped, drop)
    compared = COMPARED[rule]
    before = shown = state.state
    pending, raising, clearing = None, 0, 0
    if signal in RAISED:
        pending, raising = signal, state.raising + 1 if signal == state.pending else 1
        compared += ("raise_after",)
        # SUSPECTED never replaces CAPPED: an unknown physical load takes nothing back
        if before not in (signal, CAPPED):
            reason = f"{reason}; {raising} of {p.raise_after} intervals to raise {signal}"
            # SUSPECTED lacks the inputs by which the state before was judged
            until_raised = UNKNOWN if signal == SUSPECTED else before
            shown = signal if raising >= p.raise_after else until_raised
    elif before not in RAISED:
        shown = signal
    else:
        shown, clearing, words = left(before, signal, _leave(p, load, usual), state.clearing, p.clear_after)
        reason = f"{reason}{words}"
    if before in RAISED:
        compared += TO_LEAVE

    since = None
    if dropped:
        since = now - interval.interval_s if state.dropped_since_s is None else state.dropped_since_s
    history = state.history
    if signal in (OK, UNKNOWN) and shown not in RAISED and (since is None or now - since > p.freeze_max_s):
        figures_now = (load.own_bytes_s, load.own_msgs_s, load.others_bytes_s, load.bytes_per_message)
        history = (*history, (*figures_now, interval.backlog_jobs))[-p.baseline_window :]

    figures = load._asdict() | {f"baseline_{name}": value for name, value in usual._asdict().items()}
    figures |= _counts(state, raising, clearing)
    if (limit := learned(p, state)) is not None:
        figures |= limit.as_json("learned_of_nominal")
    held = load.share * load.util if signal == CAPPED and load.share and load.util else 0.0
    learnt = state.learned.plus(held)
    kept = clearing if shown in RAISED else 0
    state = LinkState(shown, pending, raising, kept, history, since, judged(interval), learnt)
    return state, Verdict(shown, signal, False, reason, Evidence(p, compared, interval, rule, figures))


def learned(parameters: Parameters, state: LinkState) -> Limit | None:
    """Return the share of its nominal capacity (a ratio) at which the hypervisor held the link, if it ever did.

    It was 0.62 to 0.74 of nominal in Db2 Mirror, tables 7-4 and 7-5; each site has its own.
    """
    return state.learned.middle(parameters.learn_least, parameters.learn_spread)


def _begun_anew(p: Parameters, state: LinkState, interval: LinkInterval) -> LinkState:
    """Forget history, counts and state after a long silence and a change of configuration; a failover is one too."""
    if state.newest.silent_for(p.forget_after_s, interval):
        state = LinkState(learned=state.learned)
    configuration = (interval.capacity_pct, interval.link_count, interval.load_balance_count)
    known, other = changed(state.learned.configuration, configuration)
    if other or interval.failover:
        return LinkState(newest=state.newest._replace(judged_s=None), learned=Learned(known))
    return state._replace(learned=state.learned.under(known))


def _counts(state: LinkState, raising: int, clearing: int) -> dict[str, int]:
    return {"baseline_intervals": len(state.history), "raising": raising, "clearing": clearing}


def _load(i: LinkInterval) -> _Load | None:
    """Derive figures from the inputs; None where the own rates are unknown."""
    if i.own_out_bytes_s is None or i.own_in_bytes_s is None or i.own_msgs_s is None:
        return None
    own = i.own_out_bytes_s + i.own_in_bytes_s
    message = own / i.own_msgs_s if i.own_msgs_s else None
    if i.phys_out_bytes_s is None or i.phys_in_bytes_s is None:
        return _Load(own, i.own_msgs_s, None, None, None, None, message)
    physical = i.phys_out_bytes_s + i.phys_in_bytes_s
    util = None if i.line_bits_s is None else max(i.phys_out_bytes_s, i.phys_in_bytes_s) * 8 / i.line_bits_s
    share = None if i.capacity_pct is None or not physical else (own / physical) / (i.capacity_pct / 100)
    return _Load(own, i.own_msgs_s, physical, physical - own, util, share, message)


def _signalled(
    p: Parameters, i: LinkInterval, load: _Load, usual: Usual, dropped: bool, drop: str
) -> tuple[str, int, str]:
    """Return the signal of one interval by itself, the number of the rule that decided, and the reason."""
    util, share = load.util, load.share
    if util is not None and util < p.util_threshold:
        return OK, 1, f"physical port at {util:.4g} of its line rate, less than {p.util_threshold:g}"
    if util is None or share is None:
        holds, why = _suspected(p, i, load, usual, dropped, drop)
        return SUSPECTED if holds else UNKNOWN, 6, why
    if share < p.share_low:
        return DEMAND_LIMITED, 2, f"own share {share:.4g} of the capacity, less than {p.share_low:g}"
    if share > p.share_high:
        return OK, 3, f"own share {share:.4g} of the capacity, more than {p.share_high:g}"
    why = f"own share {share:.4g} of the capacity, from {p.share_low:g} to {p.share_high:g}"
    if usual.own_bytes_s is None:
        return LIKELY, 4, f"{why}; no baseline yet"
    if not dropped:
        return OK, 5, f"{why}; {drop}"
    if load.others_bytes_s is None or usual.others_bytes_s is None:
        return CAPPED, 5, f"{why}; {drop}; others unknown in the baseline count as risen"
    risen = load.others_bytes_s >= p.others_risen * usual.others_bytes_s
    others = f"others at {_of(load.others_bytes_s, usual.others_bytes_s)} of theirs, {least(risen)} {p.others_risen:g}"
    return CAPPED if risen else OK, 5, f"{why}; {drop}; {others}"


def _drop(p: Parameters, load: _Load, usual: Usual) -> tuple[bool, str]:
    """Return whether own bytes and own messages are down, and both in words; a baseline of 0 cannot be undercut."""
    why = f"own bytes at {_of(load.own_bytes_s, usual.own_bytes_s)}"
    dropped = bool(usual.own_bytes_s) and load.own_bytes_s <= p.drop_ratio * (usual.own_bytes_s or 0)
    if dropped:
        why = f"{why} and messages at {_of(load.own_msgs_s, usual.own_msgs_s)}"
        dropped = usual.own_msgs_s is not None and load.own_msgs_s <= p.drop_ratio * usual.own_msgs_s
    return dropped, f"{why} of the baseline, {'' if dropped else 'not '}at most {p.drop_ratio:g}"


def _suspected(p: Parameters, i: LinkInterval, load: _Load, usual: Usual, dropped: bool, drop: str) -> tuple[bool, str]:
    """Apply rule 6: the share is unknown, the link fell, and its work is the same and still waiting.

    That nothing fell is no proof that nothing is capped: a link without a share is never OK.
    """
    inputs = {"physical load": load.phys_bytes_s, "line rate": i.line_bits_s, "capacity": i.capacity_pct}
    missing = [name for name, value in inputs.items() if value is None] or ["own share of an idle port"]
    lacking = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
    if usual.own_bytes_s is None:
        return False, f"{lacking} unknown; no baseline yet"
    why = f"{lacking} unknown; {drop}"
    if not dropped:
        return False, why
    message = load.bytes_per_message
    if message is None or not usual.bytes_per_message:
        return False, f"{why}; bytes a message unknown"
    alike = abs(message / usual.bytes_per_message - 1) <= p.message_tolerance
    within = f"{'' if alike else 'not '}within {p.message_tolerance:g}"
    why = f"{why}; bytes a message at {_of(message, usual.bytes_per_message)} of theirs, {within} of it"
    if not alike:
        return False, why
    if i.backlog_jobs is not None and usual.backlog_jobs is not None:
        kept = i.backlog_jobs >= p.backlog_kept * usual.backlog_jobs
        return kept, f"{why}; {i.backlog_jobs:g} jobs, {least(kept)} {p.backlog_kept:g} x {usual.backlog_jobs:g}"
    growing = [
        f"{name} grow by {rate:.4g}/s"
        for name, rate, over in (("drops", i.drops_s, p.drops_over_s), ("RNR NAKs", i.rnr_nak_s, p.rnr_nak_over_s))
        if rate is not None and rate > over
    ]
    evidence = " and ".join(growing) or "neither drops nor RNR NAKs are known to grow"
    return bool(growing), f"{why}; backlog unknown, {evidence}"


def _leave(p: Parameters, load: _Load, usual: Usual) -> str | None:
    """Return the condition by which a raised state could be left, if any."""
    own, util, share = usual.own_bytes_s, load.util, load.share
    if share is not None and share > p.share_leave:
        return f"own share more than {p.share_leave:g}"
    if own is not None and load.own_bytes_s >= p.recover_ratio * own:
        return f"own bytes at {_of(load.own_bytes_s, own)} of the baseline, at least {p.recover_ratio:g}"
    if util is not None and util < p.util_leave:
        return f"physical port less than {p.util_leave:g} of its line rate"
    if share is not None and share < p.share_low:
        return f"own share less than {p.share_low:g}"
    return None


def _baseline(history: tuple[tuple[float | None, ...], ...]) -> Usual:
    """Return the median of each figure over the intervals in which it is known."""
    known = ([value for value in values if value is not None] for values in zip(*history, strict=True))
    return Usual(*[median(values) if values else None for values in known])


def _of(value: float, usual: float | None) -> str:
    return f"{value / usual:.4g}" if usual else "?"


RULE = Rule(
    name="roce_cap",
    question="Does the hypervisor cap a RoCE (SR-IOV) link?",
    dataset="link_load",
    entity=("system", "link"),
    kind="link_type",
    alarms=(CAPPED,),
    parameters=Parameters,
    made=LinkInterval,
    states=STATES,
    start=LinkState(),
    judge=judge,
)

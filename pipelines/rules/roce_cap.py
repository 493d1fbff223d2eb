"""Is the hypervisor capping a RoCE (SR-IOV) link?

A capped port never reaches its nominal share, so "rate >= capacity x line" stays silent. The criterion is the own share
of a full adapter's bytes against the capacity, with a drop against the link's own past while the neighbours grow.
pipelines/jobs/roce_cap/README.md has the rule in words, its parameters and their sources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import median
from typing import Any, NamedTuple, Self

from counterflow.pipelines.rules import Rule, Verdict, _row, parameter
from counterflow.pipelines.rules.learned import Learned, Limit

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


class Signal(StrEnum):
    """Signal of one interval; also the state of a link."""

    OK = "OK"
    DEMAND_LIMITED = "DEMAND_LIMITED"
    LIKELY = "LIKELY"
    SUSPECTED = "SUSPECTED"
    CAPPED = "CAPPED"
    UNKNOWN = "UNKNOWN"


OK, DEMAND_LIMITED, LIKELY, SUSPECTED, CAPPED, UNKNOWN = Signal
RAISED = (SUSPECTED, CAPPED)


class LinkInterval(NamedTuple):
    """One interval of one link; None is unknown.

    Parameters
    ----------
    ts : its end.
    interval_s : its length, nominal where the sampling is regular.
    own_* : rates of the link itself, out and in.
    phys_* : rates of all logical ports of the same physical port together.
    line_bits_s, capacity_pct : line rate of the physical port, and the share of it guaranteed to the logical port.
    link_count, load_balance_count : links of the group, and those that share the load.
    backlog_jobs : jobs active or waiting for the link.
    rows_s : rows changed; kept with the evidence.
    drops_s, rnr_nak_s : packets dropped and RNR NAKs.
    reset : the counters restarted in the interval.
    failover : the group changed to another link in the interval.
    """

    ts: datetime
    interval_s: float | None
    own_out_bytes_s: float | None
    own_in_bytes_s: float | None
    own_msgs_s: float | None
    phys_out_bytes_s: float | None = None
    phys_in_bytes_s: float | None = None
    line_bits_s: float | None = None
    capacity_pct: float | None = None
    link_count: float | None = None
    load_balance_count: float | None = None
    backlog_jobs: float | None = None
    rows_s: float | None = None
    drops_s: float | None = None
    rnr_nak_s: float | None = None
    reset: bool = False
    failover: bool = False


COLUMNS: dict[str, _row.Column] = {
    "ts": _row.moment,
    "interval_s": _row.positive,
    "own_out_bytes_s": _row.number,
    "own_in_bytes_s": _row.number,
    "own_msgs_s": _row.number,
    "phys_out_bytes_s": _row.number,
    "phys_in_bytes_s": _row.number,
    "line_bits_s": _row.positive,
    "capacity_pct": _row.positive,
    "link_count": _row.number,
    "load_balance_count": _row.number,
    "backlog_jobs": _row.number,
    "rows_s": _row.number,
    "drops_s": _row.number,
    "rnr_nak_s": _row.number,
    "reset": _row.flag,
    "failover": _row.flag,
}
"""Columns of `link_load`, or of a replayed file, with the fields of an interval, and the reader of each."""

Medians = dict[str, float | None]
# own bytes/s, own messages/s, others' bytes/s, bytes a message, backlog jobs
Sample = tuple[float, float, float | None, float | None, float | None]
OWN_BYTES, OWN_MSGS, OTHERS, MESSAGE, BACKLOG = range(5)


class LinkState(NamedTuple):
    """State of one link, carried from interval to interval.

    Parameters
    ----------
    state : as shown.
    pending, raising : the signal about to be raised, and the number of intervals for which it has held.
    clearing : number of intervals for which a raised state could have been left.
    history : the newest intervals of the baseline, oldest first.
    dropped_since_s : beginning of the current drop, seconds since 1970.
    newest_s, newest_interval_s : end and length of the newest interval.
    usable_s : end of the newest interval that had a verdict.
    configuration : capacity %, link count and load-balance count as last known.
    learned : own share of the capacity x util, which is own bytes / nominal capacity where both directions carry the
        same, of all intervals whose signal was CAPPED.
    """

    state: str = UNKNOWN
    pending: str | None = None
    raising: int = 0
    clearing: int = 0
    history: tuple[Sample, ...] = ()
    dropped_since_s: float | None = None
    newest_s: float | None = None
    newest_interval_s: float | None = None
    usable_s: float | None = None
    configuration: tuple[float | None, ...] = (None, None, None)
    learned: Learned = Learned()

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "learned": tuple(self.learned)}

    @classmethod
    def of_json(cls, fields: Mapping[str, Any]) -> Self:
        """Return the state from the output of `as_json`."""
        history = tuple(tuple(sample) for sample in fields["history"])
        configuration, learned = tuple(fields["configuration"]), Learned.of_json(fields["learned"])
        return cls(**{**fields, "history": history, "configuration": configuration, "learned": learned})


class _Load(NamedTuple):
    """Figures derived from one interval's inputs; None where an input is unknown."""

    own_bytes_s: float
    own_msgs_s: float
    phys_bytes_s: float | None
    others_bytes_s: float | None
    util: float | None
    share: float | None
    bytes_per_message: float | None


class _Signalled(NamedTuple):
    """Signal of one interval by itself, the numbered rule behind it, and the medians that it was compared with."""

    signal: Signal
    rule: int
    reason: str
    dropped: bool
    baseline: Medians


class Evidence(NamedTuple):
    parameters: Parameters
    interval: LinkInterval
    rule: int = 0
    compared: tuple[str, ...] = ("gap_factor",)
    load: _Load | None = None
    baseline: Medians | None = None
    counts: tuple[int, int, int] = (0, 0, 0)
    learned: Limit | None = None

    def as_json(self) -> dict[str, Any]:
        """Return inputs, derived figures and compared parameters, by name; rule 0 is no verdict."""
        inputs = self.interval._asdict()
        del inputs["ts"]
        figures = {} if self.load is None else self.load._asdict()
        figures |= {f"baseline_{name}": value for name, value in (self.baseline or {}).items()}
        figures |= zip(("baseline_intervals", "raising", "clearing"), self.counts, strict=True)
        if self.learned is not None:
            figures |= self.learned.as_json("learned_of_nominal")
        thresholds = {name: getattr(self.parameters, name) for name in self.compared}
        return {"rule": self.rule, "inputs": inputs, "figures": figures, "thresholds": thresholds}


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
    load = _load(interval)
    why = _no_verdict(p, state, interval, now)
    if state.newest_s is None or now > state.newest_s:
        state = _rebaselined(p, state, interval, now)
        why = _no_verdict(p, state, interval, now)
        if load is None or why:
            length = interval.interval_s or state.newest_interval_s
            state = state._replace(newest_s=now, newest_interval_s=length)
    if load is None or why or interval.interval_s is None:
        counts = (len(state.history), state.raising, state.clearing)
        evidence = Evidence(p, interval, load=load, counts=counts)
        shown = state.state if state.state in RAISED else UNKNOWN
        return state, Verdict(shown, None, True, why or "own rates unknown", evidence)

    signal, rule, reason, dropped, baseline = _signalled(p, state.history, interval, load)
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
    elif condition := _leave(p, load, baseline):
        clearing = state.clearing + 1
        reason = f"{reason}; {condition}: {clearing} of {p.clear_after} intervals to leave {before}"
        shown = signal if clearing >= p.clear_after else before
    if before in RAISED:
        compared += TO_LEAVE

    since = None
    if dropped:
        since = now - interval.interval_s if state.dropped_since_s is None else state.dropped_since_s
    history = state.history
    if signal in (OK, UNKNOWN) and shown not in RAISED and (since is None or now - since > p.freeze_max_s):
        sample = (load.own_bytes_s, load.own_msgs_s, load.others_bytes_s, load.bytes_per_message, interval.backlog_jobs)
        history = (*history, sample)[-p.baseline_window :]

    held = load.share * load.util if signal == CAPPED and load.share and load.util else 0.0
    learnt = state.learned.plus(held)
    counts, limit = (len(state.history), raising, clearing), learned(p, state)
    evidence = Evidence(p, interval, rule, compared, load, baseline, counts, limit)
    counts_kept = clearing if shown in RAISED else 0
    state = LinkState(
        shown,
        pending,
        raising,
        counts_kept,
        history,
        since,
        now,
        interval.interval_s,
        now,
        state.configuration,
        learnt,
    )
    return state, Verdict(shown, signal, False, reason, evidence)


def learned(parameters: Parameters, state: LinkState) -> Limit | None:
    """Return the share of its nominal capacity (a ratio) at which the hypervisor held the link, if it ever did.

    It was 0.62 to 0.74 of nominal in Db2 Mirror, tables 7-4 and 7-5; each site has its own.
    """
    return state.learned.middle(parameters.learn_least, parameters.learn_spread)


def _rebaselined(p: Parameters, state: LinkState, interval: LinkInterval, now: float) -> LinkState:
    """Forget history, counts and state after a long silence and a change of configuration; unknown is not a change."""
    if state.usable_s is not None and now - (interval.interval_s or 0) - state.usable_s > p.forget_after_s:
        state = LinkState(configuration=state.configuration, learned=state.learned)
    before = state.configuration
    after = (interval.capacity_pct, interval.link_count, interval.load_balance_count)
    if after == before and not interval.failover:
        return state
    known = tuple([old if new is None else new for new, old in zip(after, before, strict=True)])
    changed = any(old is not None and new != old for new, old in zip(known, before, strict=True))
    if changed or interval.failover:
        state = LinkState(newest_s=state.newest_s, newest_interval_s=state.newest_interval_s)
    return state._replace(configuration=known, learned=state.learned.under(known))


def _no_verdict(p: Parameters, state: LinkState, interval: LinkInterval, now: float) -> str | None:
    """Return why the interval's place in the series allows no verdict, if so."""
    if interval.reset:
        return "the counters restarted"
    if interval.interval_s is None:
        return "length of the interval unknown"
    if state.newest_s is None or state.newest_interval_s is None:
        return None
    if now <= state.newest_s:
        return "not after the newest interval of this link"
    nominal = min(interval.interval_s, state.newest_interval_s)
    length = max(now - state.newest_s, interval.interval_s)
    if length > p.gap_factor * nominal:
        return f"{length:.6g} s since the preceding interval, more than {p.gap_factor:g} x {nominal:.6g} s"
    return None


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


def _signalled(p: Parameters, history: tuple[Sample, ...], i: LinkInterval, load: _Load) -> _Signalled:
    """Apply the numbered rules to one interval."""
    baseline: Medians = {}
    dropped = _dropped(p, history, load, baseline)
    util, share = load.util, load.share
    if util is not None and util < p.util_threshold:
        why = f"physical port at {util:.4g} of its line rate, less than {p.util_threshold:g}"
        return _Signalled(OK, 1, why, dropped, baseline)
    if util is None or share is None:
        holds, why = _suspected(p, history, i, load, dropped, baseline)
        return _Signalled(SUSPECTED if holds else UNKNOWN, 6, why, dropped, baseline)
    if share < p.share_low:
        why = f"own share {share:.4g} of the capacity, less than {p.share_low:g}"
        return _Signalled(DEMAND_LIMITED, 2, why, dropped, baseline)
    if share > p.share_high:
        why = f"own share {share:.4g} of the capacity, more than {p.share_high:g}"
        return _Signalled(OK, 3, why, dropped, baseline)
    why = f"own share {share:.4g} of the capacity, from {p.share_low:g} to {p.share_high:g}"
    if not history:
        return _Signalled(LIKELY, 4, f"{why}; no baseline yet", dropped, baseline)
    holds, comparison = _capped(p, history, load, dropped, baseline)
    return _Signalled(CAPPED if holds else OK, 5, f"{why}; {comparison}", dropped, baseline)


def _dropped(p: Parameters, history: tuple[Sample, ...], load: _Load, baseline: Medians) -> bool:
    """Return whether own bytes and own messages are down; a baseline of 0 cannot be undercut."""
    own = baseline["own_bytes_s"] = _median(history, OWN_BYTES)
    if not own or load.own_bytes_s > p.drop_ratio * own:
        return False
    msgs = baseline["own_msgs_s"] = _median(history, OWN_MSGS)
    return msgs is not None and load.own_msgs_s <= p.drop_ratio * msgs


def _drop(p: Parameters, load: _Load, dropped: bool, baseline: Medians) -> str:
    why = f"own bytes at {_of(load.own_bytes_s, baseline['own_bytes_s'])}"
    if "own_msgs_s" in baseline:
        why = f"{why} and messages at {_of(load.own_msgs_s, baseline['own_msgs_s'])}"
    return f"{why} of the baseline, {'' if dropped else 'not '}at most {p.drop_ratio:g}"


def _capped(
    p: Parameters, history: tuple[Sample, ...], load: _Load, dropped: bool, baseline: Medians
) -> tuple[bool, str]:
    """Apply rule 5: the link fell while the others rose."""
    why = _drop(p, load, dropped, baseline)
    if not dropped:
        return False, why
    others, usual = load.others_bytes_s, _median(history, OTHERS)
    baseline["others_bytes_s"] = usual
    if others is None or usual is None:
        return True, f"{why}; others unknown in the baseline count as risen"
    risen = others >= p.others_risen * usual
    return risen, f"{why}; others at {_of(others, usual)} of theirs, {_least(risen)} {p.others_risen:g}"


def _suspected(
    p: Parameters, history: tuple[Sample, ...], i: LinkInterval, load: _Load, dropped: bool, baseline: Medians
) -> tuple[bool, str]:
    """Apply rule 6: the share is unknown, the link fell, and its work is the same and still waiting.

    That nothing fell is no proof that nothing is capped: a link without a share is never OK.
    """
    inputs = {"physical load": load.phys_bytes_s, "line rate": i.line_bits_s, "capacity": i.capacity_pct}
    missing = [name for name, value in inputs.items() if value is None] or ["own share of an idle port"]
    lacking = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
    if not history:
        return False, f"{lacking} unknown; no baseline yet"
    why = f"{lacking} unknown; {_drop(p, load, dropped, baseline)}"
    if not dropped:
        return False, why
    message, usual = load.bytes_per_message, _median(history, MESSAGE)
    baseline["bytes_per_message"] = usual
    if message is None or not usual:
        return False, f"{why}; bytes a message unknown"
    alike = abs(message / usual - 1) <= p.message_tolerance
    within = f"{'' if alike else 'not '}within {p.message_tolerance:g}"
    why = f"{why}; bytes a message at {_of(message, usual)} of theirs, {within} of it"
    if not alike:
        return False, why
    jobs, usual = i.backlog_jobs, _median(history, BACKLOG)
    baseline["backlog_jobs"] = usual
    if jobs is not None and usual is not None:
        kept = jobs >= p.backlog_kept * usual
        return kept, f"{why}; {jobs:g} jobs, {_least(kept)} {p.backlog_kept:g} x {usual:g}"
    growing = [
        f"{name} grow by {rate:.4g}/s"
        for name, rate, over in (("drops", i.drops_s, p.drops_over_s), ("RNR NAKs", i.rnr_nak_s, p.rnr_nak_over_s))
        if rate is not None and rate > over
    ]
    evidence = " and ".join(growing) or "neither drops nor RNR NAKs are known to grow"
    return bool(growing), f"{why}; backlog unknown, {evidence}"


def _leave(p: Parameters, load: _Load, baseline: Medians) -> str | None:
    """Return the condition by which a raised state could be left, if any."""
    own, util, share = baseline["own_bytes_s"], load.util, load.share
    if share is not None and share > p.share_leave:
        return f"own share more than {p.share_leave:g}"
    if own is not None and load.own_bytes_s >= p.recover_ratio * own:
        return f"own bytes at {_of(load.own_bytes_s, own)} of the baseline, at least {p.recover_ratio:g}"
    if util is not None and util < p.util_leave:
        return f"physical port less than {p.util_leave:g} of its line rate"
    if share is not None and share < p.share_low:
        return f"own share less than {p.share_low:g}"
    return None


def _median(history: tuple[Sample, ...], column: int) -> float | None:
    known = [value for sample in history if (value := sample[column]) is not None]
    return median(known) if known else None


def _of(value: float, usual: float | None) -> str:
    return f"{value / usual:.4g}" if usual else "?"


def _least(holds: bool) -> str:
    return "at least" if holds else "less than"


RULE = Rule(
    name="roce_cap",
    question="Does the hypervisor cap a RoCE (SR-IOV) link?",
    dataset="link_load",
    entity=("system", "link"),
    kind="link_type",
    alarms=(CAPPED,),
    parameters=Parameters,
    columns=COLUMNS,
    made=LinkInterval,
    states=tuple(str(signal) for signal in Signal),
    start=LinkState(),
    judge=judge,
)

"""Notices beside the cap verdict: each is a stateless function of one interval and raises no alert by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from counterflow.pipelines.rules import parameter
from counterflow.pipelines.rules.learned import Limit
from counterflow.pipelines.rules.roce_cap import RAISED, LinkInterval


@dataclass(frozen=True)
class Parameters:
    """What a site may set."""

    full_adapter: float = parameter(
        0.85, "Headroom is a warning where the physical port carries this share of its line rate.", "roce_cap"
    )
    drops_over_s: float = parameter(0.0, "More dropped packets a second than this are growing drops.", "chosen")
    rnr_nak_over_s: float = parameter(0.0, "More RNR NAKs a second than this are growing RNR NAKs.", "chosen")
    skew_tolerance: float = parameter(
        0.20, "OUT of a node and IN of the other may differ by this share of the larger.", "Db2 Mirror, table 7-5"
    )


DEFAULTS = Parameters()


class Notice(NamedTuple):
    """One notice: `severity` is `info` or `warning`, `evidence` the figures and parameters that decided."""

    name: str
    severity: str
    reason: str
    evidence: dict[str, Any]


def cap_headroom(
    interval: LinkInterval, state: str, parameters: Parameters = DEFAULTS, learned: Limit | None = None
) -> Notice | None:
    """Notice an uncapped link above its capacity: the hypervisor caps it as soon as its neighbours grow.

    Own bytes are the mean of OUT and IN, since line rate and capacity are of one direction (Db2 Mirror, case study 5).
    Also None where an input is unknown.

    Parameters
    ----------
    state : of `roce_cap` in the same interval.
    learned : share of the nominal capacity at which the hypervisor held this link; all of it while that is not known.
    """
    own_out, own_in = interval.own_out_bytes_s, interval.own_in_bytes_s
    if own_out is None or own_in is None or interval.line_bits_s is None or interval.capacity_pct is None:
        return None
    own, nominal = (own_out + own_in) / 2, interval.line_bits_s / 8 * interval.capacity_pct / 100
    reached = learned.value if learned and learned.usable else 1.0
    if state in RAISED or own <= nominal * reached:
        return None
    phys_out, phys_in = interval.phys_out_bytes_s, interval.phys_in_bytes_s
    util = None if phys_out is None or phys_in is None else max(phys_out, phys_in) * 8 / interval.line_bits_s
    full = util is not None and util >= parameters.full_adapter
    reason = f"own bytes at {own / nominal:.4g} of the nominal capacity, physical port at "
    reason += "an unknown share of its line rate" if util is None else f"{util:.4g} of its line rate"
    if reached != 1.0:
        reason += f"; the cap held it at {reached:.4g} before"
    evidence = {
        "own_bytes_s": own,
        "nominal_bytes_s": nominal,
        "learned_of_nominal": reached,
        "util": util,
        "full_adapter": parameters.full_adapter,
    }
    return Notice("cap_headroom", "warning" if full else "info", reason, evidence)


def congestion(interval: LinkInterval, parameters: Parameters = DEFAULTS) -> Notice | None:
    """Notice growing packet drops or RNR NAKs; also None where both are unknown."""
    rates = {
        "dropped packets": (interval.drops_s, parameters.drops_over_s),
        "RNR NAKs": (interval.rnr_nak_s, parameters.rnr_nak_over_s),
    }
    growing = [f"{rate:.4g} {name}/s" for name, (rate, over) in rates.items() if rate is not None and rate > over]
    if not growing:
        return None
    evidence = {
        "drops_s": interval.drops_s,
        "rnr_nak_s": interval.rnr_nak_s,
        "drops_over_s": parameters.drops_over_s,
        "rnr_nak_over_s": parameters.rnr_nak_over_s,
    }
    return Notice("congestion", "warning", " and ".join(growing), evidence)


def skew(out_bytes_s: float | None, in_bytes_s: float | None, parameters: Parameters = DEFAULTS) -> Notice | None:
    """Notice that OUT of one node and IN of the other, the same bytes, differ; None where one is unknown."""
    if out_bytes_s is None or in_bytes_s is None or out_bytes_s == in_bytes_s:
        return None
    difference = abs(out_bytes_s - in_bytes_s) / max(out_bytes_s, in_bytes_s)
    if difference <= parameters.skew_tolerance:
        return None
    reason = f"OUT of one node and IN of the other differ by {difference:.4g}, more than {parameters.skew_tolerance:g}"
    evidence = {
        "out_bytes_s": out_bytes_s,
        "in_bytes_s": in_bytes_s,
        "difference": difference,
        "skew_tolerance": parameters.skew_tolerance,
    }
    return Notice("skew", "info", reason, evidence)

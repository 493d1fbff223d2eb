"""Disks and auxiliary storage pools."""

from __future__ import annotations

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Text, check
from counterflow.schemas.thresholds import threshold


@check(
    "asp",
    bound="at most",
    unit="%",
    source=f"PM for Power Systems graph reference; {CAPABILITIES} 4.1 compares at 40 %",
    advice="Spread the data or add arms. A unit of a SAN may be busy and still fast: see disk_response.",
)
def disk_busy(busy_max_pct: NonNegative, busiest_disk: Text) -> CheckFigure:
    """No disk arm is busy more than <disk_busy_pct.watch> % of an interval: critical above, marginal from 30 %, good
    below 10 %.
    """
    return CheckFigure(busy_max_pct, threshold("disk_busy_pct", "watch"), f"unit {busiest_disk}")


@check(
    "asp",
    bound="at most",
    unit="ms",
    source="the site's own goal: the references print none",
    advice="See `counterflow sql busiest_disks`, and whether the wait or the service is long.",
)
def disk_response(response_max_ms: NonNegative, disk_response_goal_ms: NonNegative) -> CheckFigure:
    """The mean response of the pool's disks meets the site's goal in every interval."""
    return CheckFigure(response_max_ms, disk_response_goal_ms, "worst interval, service and wait")


@check(
    source=f"{CAPABILITIES} 6.2.2 (7)",
    advice="Keep the receivers in a separate ASP, on separate physical devices.",
)
def journal_asp(journal_receivers_apart: bool) -> CheckFigure:
    """Journal receivers are in a different ASP than their files."""
    return CheckFigure(journal_receivers_apart, True)

"""Processors of the partition."""

from __future__ import annotations

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, check
from counterflow.schemas.thresholds import thresholds


@check(
    "system",
    bound="at most",
    unit="%",
    only={"partitioned": True},
    source=f"{CAPABILITIES} 7.4",
    advice="Stagger the peaks of the partitions, batch windows above all, or leave more CPU.",
)
def partition_peak(cpu_busy_max_pct: NonNegative) -> CheckFigure:
    """The peak leaves the 10 % of capacity that a partition loses when all partitions peak together."""
    return CheckFigure(cpu_busy_max_pct, thresholds()["processors_busy_pct"].at("limit"), "busiest interval")

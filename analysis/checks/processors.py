"""Processors of the partition."""

from __future__ import annotations

from typing import Literal

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, check
from counterflow.schemas.thresholds import threshold


@check(
    bound="at most",
    unit="%",
    only={"partitioned": True},
    source=f"{CAPABILITIES} 7.4",
    advice="Stagger the peaks of the partitions, batch windows above all, or leave more CPU.",
)
def partition_peak(cpu_busy_max_pct: NonNegative) -> CheckFigure:
    """The peak leaves the 10 % of capacity that a partition loses when all partitions peak together."""
    return CheckFigure(cpu_busy_max_pct, threshold("processors_busy_pct", "limit"), "busiest interval")


@check(
    source=f"{CAPABILITIES} 14.7",
    advice="CHGSYSVAL QPRCMLTTSK('1') for work of many threads, Java above all; it holds from the next IPL.",
)
def multithreading(multitasking: Literal[0, 1, 2]) -> CheckFigure:
    """Simultaneous multithreading is not off: QPRCMLTTSK is 1 (on) or 2 (the system decides)."""
    return CheckFigure(multitasking != 0, True, f"QPRCMLTTSK is {multitasking}; 0 is right where no core supports it")

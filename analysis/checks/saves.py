"""Save and restore rates."""

from __future__ import annotations

from typing import Literal

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Positive, check

DeviceClass = Literal["low", "medium", "ultra"]
Data = Literal["large_file", "user_mix", "source_file"]

KEPT = {
    "low": {"large_file": 0.95, "user_mix": 0.55, "source_file": 0.25},
    "medium": {"large_file": 0.95, "user_mix": 0.65, "source_file": 0.25},
    "ultra": {"large_file": 0.95, "user_mix": 0.50, "source_file": 0.05},
}
"""Share of the device's speed that remains, by class of device and data; the tables call it "amount of loss"."""
SHORTFALL = 0.8


@check(
    "save",
    bound="at least",
    unit="GB/h",
    source=f"{CAPABILITIES} 9.4 to 9.7",
    advice="Look at USEOPTBLK(*YES), what shares the IOA, the disks below, and several devices at once (9.8).",
)
def save_rate(
    gb_per_h: NonNegative,
    device_mb_per_s: Positive,
    device_class: DeviceClass,
    data: Data,
    compaction: Positive,
) -> CheckFigure:
    """A save or restore reaches 80 % of the estimated rate: device speed * remaining share of its data * compaction."""
    rate = expected_gb_per_h(device_mb_per_s, device_class, data, compaction)
    return CheckFigure(gb_per_h, SHORTFALL * rate, f"estimate {rate:,.1f} GB/h; the 80 % are our own allowance")


def expected_gb_per_h(device_mb_per_s: float, device_class: str, data: str, compaction: float) -> float:
    """Return the rate in GB/h: MB/s * remaining share * compaction * 3600 / 1000."""
    return device_mb_per_s * KEPT[device_class][data] * compaction * 3600 / 1000

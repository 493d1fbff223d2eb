"""Save and restore rates."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator

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


class Device(NamedTuple):
    """A row of table 9.1; `device_class` is the heading of 9.5 to 9.7 that names the device, None where none does."""

    device_mb_per_s: float
    compaction: float
    device_class: DeviceClass | None = None


DEVICES = {
    "DVD-RAM 6331-014": Device(2.5, 2.8, "low"),
    "RDX USB": Device(5.5, 2.8),
    "RDX SAS": Device(26, 2.8),
    "SLR60": Device(4, 2, "medium"),
    "SLR100": Device(5, 2, "medium"),
    "VXA-2": Device(6, 2, "medium"),
    "6279 VXA-320": Device(12, 2, "medium"),
    "6258 4MM": Device(6, 2),
    "5755 half high Ultrium 2": Device(18, 2.8),
    "3580 Ultrium 2": Device(35, 2.8, "ultra"),
    "3592-J1A Fibre Channel": Device(40, 2.8, "ultra"),
    "3580 Ultrium 3 Fibre Channel": Device(80, 2, "ultra"),
    "5746 half high Ultrium 4": Device(120, 2),
    "3580 Ultrium 4 Fibre Channel": Device(120, 2),
    "3592-E05 Fibre Channel": Device(100, 2.5),
    "3580 Ultrium 4 SAS": Device(120, 2),
    "3580 Ultrium 5 SAS": Device(120, 2),
    "3592-E07 Fibre Channel": Device(250, 2.2),
    "3580 005 Fibre Channel": Device(140, 2.8),
    "3580 006 Fibre Channel": Device(160, 2.9),
    "3580 006 half high Fibre Channel": Device(160, 3),
    "3580 half high 3 Gb SAS": Device(160, 1.5),
}
"""The devices of table 9.1 by name. Its factors are of database files made to compact 2.8 to 1."""


def _known(device: str) -> str:
    if device not in DEVICES:
        near = get_close_matches(device, DEVICES, 1)
        raise ValueError(f"`{device}` is not in table 9.1; " + (f"did you mean `{near[0]}`?" if near else _WAY_OUT))
    return device


_WAY_OUT = "leave it out, and state device_mb_per_s, device_class and compaction"
DeviceName = Annotated[str, AfterValidator(_known)]
"""A name of `DEVICES`."""


@check(
    "save",
    bound="at least",
    unit="GB/h",
    source=f"{CAPABILITIES} 9.1 and 9.4 to 9.7",
    advice="Look at USEOPTBLK(*YES), what shares the IOA, the disks below, and several devices at once (9.8).",
)
def save_rate(
    gb_per_h: NonNegative,
    device_mb_per_s: Positive,
    device_class: DeviceClass,
    data: Data,
    compaction: Positive,
    device: DeviceName | None = None,
) -> CheckFigure:
    """A save or restore reaches 80 % of the estimated rate: device speed * remaining share of its data * compaction."""
    rate = expected_gb_per_h(device_mb_per_s, device_class, data, compaction)
    note = f"estimate {rate:,.1f} GB/h; the 80 % are our own allowance"
    return CheckFigure(gb_per_h, SHORTFALL * rate, f"{device}: {note}" if device else note)


def expected_gb_per_h(device_mb_per_s: float, device_class: str, data: str, compaction: float) -> float:
    """Return the rate in GB/h: MB/s * remaining share * compaction * 3600 / 1000."""
    return device_mb_per_s * KEPT[device_class][data] * compaction * 3600 / 1000

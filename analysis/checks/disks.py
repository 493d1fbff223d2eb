"""Disks, the paths to them, and auxiliary storage pools."""

from __future__ import annotations

from functools import partial

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Text, check
from counterflow.schemas.thresholds import threshold

# A unit with one path cannot be told from an internal disk: the rules are about units that have several.
check_of_paths = partial(check, "asp", only={"multipath": True}, source=f"{CAPABILITIES} 5.2")


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


@check_of_paths(
    bound="at least",
    unit="paths",
    advice="Map the LUN to more ports; multipath needs two adapters or more.",
)
def lun_paths(fewest_paths: NonNegative, fewest_paths_unit: Text) -> CheckFigure:
    """Each LUN with several paths has four or more."""
    return CheckFigure(fewest_paths, 4.0, f"unit {fewest_paths_unit}")


@check_of_paths(
    bound="at least",
    unit="paths",
    advice="Attach the host group through more Fibre Channel ports.",
)
def fc_paths(fc_paths: NonNegative) -> CheckFigure:
    """A host group of the storage has six Fibre Channel paths or more."""
    return CheckFigure(fc_paths, 6.0, "measured on a DS5300 attached to IBM i itself")


@check_of_paths(
    bound="at most",
    unit="units",
    advice="Give each unit as many active paths as passive ones: STRSST, Display Disk Path Status.",
)
def path_balance(uneven_units: NonNegative) -> CheckFigure:
    """Each unit works through half of its paths, the others being passive, or through all of them."""
    return CheckFigure(uneven_units, 0.0, "a path counts as active where it carried operations in the time")

"""Paths to the units of external storage."""

from __future__ import annotations

from functools import partial

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Text, check

# A unit with one path cannot be told from an internal disk: the rules are about units that have several.
check_of_paths = partial(check, "asp", only={"multipath": True}, source=f"{CAPABILITIES} 5.2")


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

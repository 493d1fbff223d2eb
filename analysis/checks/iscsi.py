"""Integrated servers attached by iSCSI."""

from __future__ import annotations

from typing import Literal

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, check

POOL_MB = 512.0
CPW_PER_1000_OPS = {"hardware": 230, "software": 275}


@check(
    bound="at least",
    unit="MB",
    only={"iscsi": True},
    source=f"{CAPABILITIES} 17.4.2, 17.5",
    advice="CHGSHRPOOL POOL(*SHRPOOLnn) ACTLVL(*DATA) SIZE(524288), and CHGNWSD with that pool.",
)
def iscsi_pool_size(iscsi_pool_mb: NonNegative) -> CheckFigure:
    """iSCSI attached servers have a dedicated shared data pool of at least 512 MB."""
    return CheckFigure(iscsi_pool_mb, POOL_MB)


@check(
    bound="at least",
    unit="MB",
    only={"iscsi": True},
    source=f"{CAPABILITIES} 17.5",
    advice="Enlarge the machine pool by 21 MB a target and 1 MB a NWSD, the base pool by 1 MB and 0.5 MB.",
)
def iscsi_memory(iscsi_added_mb: NonNegative, iscsi_targets: NonNegative, iscsi_nwsds: NonNegative) -> CheckFigure:
    """Machine and base pool have additional 22 MB per iSCSI target and 1.5 MB per network server description."""
    return CheckFigure(iscsi_added_mb, 22 * iscsi_targets + 1.5 * iscsi_nwsds, "beside the shared data pool")


@check(
    bound="at most",
    unit="CPW",
    only={"iscsi": True},
    source=f"{CAPABILITIES} 17.6",
    advice="Size the partition for the disk operations of its integrated servers.",
)
def iscsi_cpu(
    iscsi_ops_per_s: NonNegative, iscsi_target: Literal["hardware", "software"], iscsi_cpw: NonNegative
) -> CheckFigure:
    """The disk operations of integrated servers fit in the CPW reserved for them:
    230 (hardware target) or 275 (software target) for 1,000 operations/s.
    """
    return CheckFigure(CPW_PER_1000_OPS[iscsi_target] * iscsi_ops_per_s / 1000, iscsi_cpw)


@check(
    only={"iscsi": True, "iscsi_target": "software"},
    source=f"{CAPABILITIES} 17.6 (note 5)",
    advice="Switch the digests off and use jumbo frames; otherwise an operation may cost much more CPU.",
)
def iscsi_frames(iscsi_digests: bool, iscsi_jumbo_frames: bool) -> CheckFigure:
    """A software target runs without digests and with jumbo frames."""
    return CheckFigure(iscsi_jumbo_frames and not iscsi_digests, True)

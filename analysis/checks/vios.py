"""Disks through a Virtual I/O Server or a hosting IBM i partition."""

from __future__ import annotations

from functools import partial

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Positive, check

check_of_vios = partial(check, only={"vios": True})
"""A check where disks are attached through a Virtual I/O Server."""

ALIKE_PCT = 90
"""Disks of one size may differ a little: formatting and protection take their share."""


@check_of_vios(
    bound="at least",
    unit="processors",
    source=f"{CAPABILITIES} 6.2.2 (11)",
    advice="Give the VIOS more processors; the ratio varies with the application.",
)
def vios_processors(vios_processors: NonNegative, processors: NonNegative) -> CheckFigure:
    """The VIOS has one processor for every three of IBM i."""
    return CheckFigure(vios_processors, processors / 3, f"{processors:g} processors of IBM i")


@check_of_vios(
    source=f"{CAPABILITIES} 6.2.3 (4)",
    advice="Try dedicated processors for the VIOS and compare.",
)
def vios_dedicated(vios_dedicated_processors: bool, processors: NonNegative) -> CheckFigure:
    """The VIOS of a partition with three processors or more has dedicated ones."""
    return CheckFigure(vios_dedicated_processors or processors < 3, True, f"{processors:g} processors of IBM i")


@check_of_vios(
    bound="at least",
    unit="MB",
    source=f"{CAPABILITIES} 6.2.3 (5)",
    advice="Give the VIOS 1 to 2 GB, more with substantial virtual LAN.",
)
def vios_memory(vios_memory_mb: NonNegative) -> CheckFigure:
    """The VIOS has 1 GB of memory or more."""
    return CheckFigure(vios_memory_mb, 1024.0, "1 to 2 GB suffice unless there is substantial virtual LAN")


@check_of_vios(
    "asp",
    bound="at least",
    unit="disks",
    source=f"{CAPABILITIES} 6.2.2 (8)",
    advice="Create more and smaller virtual disks of equal size, not more than there are physical ones.",
)
def virtual_disks(disks: NonNegative) -> CheckFigure:
    """An ASP has at least six virtual disks."""
    return CheckFigure(disks, 6.0)


@check_of_vios(
    "asp",
    bound="at least",
    unit="%",
    source=f"{CAPABILITIES} 6.2.2 (8, 9)",
    advice="Make the virtual disks of the pool of one size: a larger one gets more data, and more operations.",
)
def virtual_disk_sizes(smallest_disk_mb: NonNegative, largest_disk_mb: Positive) -> CheckFigure:
    """The virtual disks of an ASP are of one size: the smallest has 90 % of the largest or more."""
    note = f"{smallest_disk_mb:,.0f} to {largest_disk_mb:,.0f} MB; the 90 % are our own allowance"
    return CheckFigure(100 * smallest_disk_mb / largest_disk_mb, float(ALIKE_PCT), note)


@check_of_vios(
    "asp",
    source=f"{CAPABILITIES} 6.2.2 (9)",
    advice="Configure an even number of virtual disks, balanced over adapters, buses and RAID sets.",
)
def virtual_disk_symmetry(disks: NonNegative) -> CheckFigure:
    """An ASP has an even number of virtual disks, so that they divide evenly among what they share."""
    return CheckFigure(disks % 2 == 0, True, f"{disks:g} disks")


@check_of_vios(
    bound="at most",
    unit="disks",
    source=f"{CAPABILITIES} 6.2.3 (3)",
    advice="Configure another virtual SCSI adapter.",
)
def virtual_disks_per_adapter(vios_disks_per_adapter: NonNegative) -> CheckFigure:
    """No virtual SCSI adapter has more than 16 virtual disks."""
    return CheckFigure(vios_disks_per_adapter, 16.0)


@check_of_vios(
    bound="at least",
    unit="commands",
    source=f"{CAPABILITIES} 6.2.3 (6)",
    advice="chdev -dev hdiskN -attr queue_depth=32 on the VIOS; then try other values.",
)
def queue_depth(vios_queue_depth: NonNegative) -> CheckFigure:
    """The queue depth of the VIOS's disks is about 32."""
    return CheckFigure(vios_queue_depth, 32.0, "a starting point")


@check_of_vios(
    bound="at least",
    unit="commands",
    source=f"{CAPABILITIES} 6.2.3 (6)",
    advice="chdev -dev fcsN -attr num_cmd_elems=512 on the VIOS, if the adapter allows it.",
)
def adapter_queue(vios_num_cmd_elems: NonNegative) -> CheckFigure:
    """The queue of the VIOS's adapter (num_cmd_elems) has its larger value, often 512."""
    return CheckFigure(vios_num_cmd_elems, 512.0)


@check_of_vios(
    source=f"{CAPABILITIES} 6.2.2 (10)",
    advice="Give each partition its own physical disks; partitions that share an arm compete for it invisibly.",
)
def own_physical_disks(shares_physical_disks: bool) -> CheckFigure:
    """The partition shares no physical disk with another."""
    return CheckFigure(not shares_physical_disks, True)


@check_of_vios(
    bound="at most",
    unit="processors",
    source=f"{CAPABILITIES} 6.6.1",
    advice="Give the VIOS more processors; the figure is of a 2.2 GHz POWER5, so scale it.",
)
def virtual_scsi_cpu(virtual_scsi_processors: NonNegative, vios_processors: NonNegative) -> CheckFigure:
    """The VIOS has the CPU that its disk operations need at the peak: operations/s * µs an operation of that size."""
    note = "2.2 GHz POWER5; the table's caption states milliseconds, its divisor makes them microseconds"
    return CheckFigure(virtual_scsi_processors, vios_processors, note)


@check(
    bound="at most",
    unit="disks a description",
    only={"hosts_disks": True},
    source=f"{CAPABILITIES} 6.8",
    advice="Create a network server description for every 2 to 4 disks of the ASP, one for each storage space.",
)
def network_server_descriptions(hosted_disks: NonNegative, network_server_descriptions: Positive) -> CheckFigure:
    """A hosting IBM i partition has a network server description for every 2 to 4 disks."""
    return CheckFigure(hosted_disks / network_server_descriptions, 4.0)

"""Which devices are leaves: no I/O counts twice in a total (nmon reference: 1.5 item 9, 5.1, 5.2).

nmon lists partitions, device-mapper, MD, loop and multipath devices beside the disks below them, all with the same
I/O. Totals count whole disks. A device that stands for others is a leaf only where none below it is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Device(NamedTuple):
    """What a device name stands for, and whether its I/O counts in totals of the system."""

    device_type: str
    leaf: bool


_LINUX_TYPES = (
    (re.compile(r"nvme\d+c\d+n\d+"), "path"),  # one controller's path of a multipath namespace
    (re.compile(r"dm-\d+|bcache\d+|zd\d+|drbd\d+"), "mapper"),
    (re.compile(r"md[\d_].*|md"), "raid"),
    (re.compile(r"loop\d+"), "loop"),
    (re.compile(r"ram\d+|zram\d+"), "memory"),
    (re.compile(r"emcpower[a-z]+|mpath[a-z\d]+|vpath[a-z]+"), "multipath"),
)
_PARTITION = re.compile(r"(?P<letters>(?:sd|hd|vd|xvd|dasd|emcpower)[a-z]+)\d+|(?P<numbered>.*\d)p\d+")

_KERNEL_DISK = re.compile(
    r"(?:[hsv]d|xvd|ubd|dasd)[a-z]+|nvme\d+n\d+|mmcblk\d+(?:boot\d+)?|(?:fd|mtdblock|nbd|pmem|rbd|sr)\d+"
    r"|(?:cciss|ida|rd)/c\d+d\d+|dev\d+-\d+"
)
"""Disks as the kernel names them, and as sadf does where it knows no name."""

_AIX_MULTIPATH = re.compile(r"(?:hdiskpower|vpath|dlmfdrv)\d+")
_AIX_DISK = re.compile(r"hdisk\d+")


def devices(names: Iterable[str], system: str, *, aliases: bool = False) -> dict[str, Device]:
    """Return what each of the device names of one recording stands for; `system` is AIX or Linux.

    `aliases`: the names of volumes may stand for `dm-0` and the like. Where a disk of the kernel is listed, any name
    that the kernel does not give is then a mapper's.
    """
    listed = set(names)
    if system == "AIX":
        return _aix(listed)
    found = _linux(listed)
    if aliases and any(map(_KERNEL_DISK.fullmatch, listed)):
        found |= {name: Device("mapper", False) for name in listed if not _is_kernel_name(name)}
    return found


def _linux(listed: set[str]) -> dict[str, Device]:
    has_disks = any(_linux_type(name) == "disk" for name in listed)
    return {name: _linux_device(name, listed, has_disks) for name in listed}


def _is_kernel_name(name: str) -> bool:
    disk = _parent(name) or name
    return _linux_type(disk) != "disk" or _KERNEL_DISK.fullmatch(disk) is not None


def _parent(name: str) -> str | None:
    """Return the disk of a partition, None where the name is of none."""
    match = _PARTITION.fullmatch(name)
    return match and (match["letters"] or match["numbered"])


def _linux_device(name: str, listed: set[str], has_disks: bool) -> Device:
    if (parent := _parent(name)) is not None:
        return Device("partition", parent not in listed and _linux_type(parent) == "disk")
    kind = _linux_type(name)
    return Device(kind, kind == "disk" or (kind == "multipath" and not has_disks))


def _linux_type(name: str) -> str:
    return next((kind for pattern, kind in _LINUX_TYPES if pattern.fullmatch(name)), "disk")


def _aix(listed: set[str]) -> dict[str, Device]:
    has_disks = any(_AIX_DISK.fullmatch(name) for name in listed)
    return {
        name: Device("multipath", not has_disks) if _AIX_MULTIPATH.fullmatch(name) else Device("disk", True)
        for name in listed
    }

"""Which devices are leaves: no I/O counts twice in a total (nmon reference: 1.5 item 9, 5.1, 5.2).

nmon lists partitions, device-mapper, MD, loop and multipath devices beside the disks below them, all with the same
I/O. Totals count whole disks. A device that stands for others is a leaf only where none below it is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isclose
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
    has_disks = any(_linux_type(name) == "disk" for name in listed)
    found = {name: _linux_device(name, listed, has_disks) for name in listed}
    if aliases and any(map(_KERNEL_DISK.fullmatch, listed)):
        found |= {name: Device("mapper", False) for name in listed if not _is_kernel_name(name)}
    return found


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


NUMBERED = re.compile(r"dev(\d+)-(\d+)")
"""A device as sadf names it where it knows no name: major and minor number."""
_MINORS_OF_A_DISK = {
    **dict.fromkeys((8, *range(65, 72), *range(128, 136)), 16),  # sd
    **dict.fromkeys((3, 22, 33, 34), 64),  # hd
    **dict.fromkeys((*range(72, 80), *range(104, 112), 202), 16),  # cciss, ida, xvd
    94: 4,  # dasd
    179: 8,  # mmcblk
}
"""How many minor numbers a disk has, the first of which is the whole disk (Linux, devices.txt)."""
_KINDS = {1: "memory", 7: "loop", 9: "raid"}
_DYNAMIC = (252, 253, 254)
"""Majors that the kernel gives out from the highest on: to the device mapper, and to disks of virtual machines."""
_DYNAMIC_MINORS = 16
_EXTENDED = 259
"""NVMe disks and their partitions, in the order in which they were found."""
_ALIKE = 0.02
"""Totals of rounded rates that are taken for equal differ by no more than this share."""

Totals = Mapping[str, tuple[float, ...]]
"""What was read and written, in any unit, by device."""


class Numbered(NamedTuple):
    """Devices by major and minor number; `inferred` are those that nothing but their figures shows."""

    devices: dict[str, Device]
    inferred: tuple[str, ...]


def numbered(totals: Totals) -> Numbered:
    """Return what the devices stand for that have numbers as names; others are left out.

    Partitions of most disks follow from the minor number. A mapper is a device of a dynamic major that moved no more
    than the disks beside it; where there are none, it is a disk of a virtual machine. NVMe partitions are neighbours
    that together moved what one disk moved.
    """
    numbers = {name: (int(m[1]), int(m[2])) for name in totals if (m := NUMBERED.fullmatch(name))}
    found: dict[str, Device] = {}
    for name, (major, minor) in numbers.items():
        if major in _MINORS_OF_A_DISK:
            found[name] = _of_disk(major, minor, _MINORS_OF_A_DISK[major], numbers.values())
        elif major in _KINDS:
            found[name] = Device(_KINDS[major], False)
        elif major not in (*_DYNAMIC, _EXTENDED):
            found[name] = Device("disk", True)
    extended = sorted((minor, name) for name, (major, minor) in numbers.items() if major == _EXTENDED)
    found |= _extended([name for _, name in extended], totals)
    dynamic = {name: number for name, number in numbers.items() if number[0] in _DYNAMIC}
    if dynamic:
        of_disks = _sum([totals[name] for name, device in found.items() if device.leaf])
        found |= _dynamic(dynamic, totals, of_disks)
    inferred = [name for _, name in extended[1:]]
    inferred += [name for name in dynamic if found[name].device_type == "mapper" or len(found) > len(dynamic)]
    return Numbered(found, tuple(inferred))


def _of_disk(major: int, minor: int, minors: int, listed: Iterable[tuple[int, int]]) -> Device:
    whole = minor - minor % minors
    return Device("disk", True) if whole == minor else Device("partition", (major, whole) not in listed)


def _dynamic(dynamic: Mapping[str, tuple[int, int]], totals: Totals, of_disks: Sequence[float]) -> dict[str, Device]:
    """Return the devices of dynamic majors, beside disks that moved `of_disks`."""
    majors = {major for major, _ in dynamic.values()}
    moved = {
        major: _sum([totals[n] for n, (m, minor) in dynamic.items() if m == major and minor % _DYNAMIC_MINORS == 0])
        for major in majors
    }
    disks = {major for major in majors if of_disks and not _fits(moved[major], of_disks)}
    if not of_disks:
        disks = {max(majors, key=lambda major: (sum(moved[major]), -major))}
    mapper = Device("mapper", False)
    return {
        name: _of_disk(major, minor, _DYNAMIC_MINORS, dynamic.values()) if major in disks else mapper
        for name, (major, minor) in dynamic.items()
    }


def _extended(names: Sequence[str], totals: Totals) -> dict[str, Device]:
    """Return NVMe disks and partitions, in the order of their numbers."""
    parts: set[str] = set()
    for at, name in enumerate(names):
        if name not in parts and any(totals[name]):
            parts |= _neighbours_alike(name, [n for n in names[at + 1 :] if n not in parts], totals)
    return {name: Device("partition", False) if name in parts else Device("disk", True) for name in names}


def _neighbours_alike(name: str, others: Sequence[str], totals: Totals) -> set[str]:
    """Return the first neighbours of others that together moved what one device did; none where there are none."""
    for begin in range(len(others)):
        moved: list[float] = [0.0] * len(totals[name])
        for end in range(begin, len(others)):
            moved = _sum([moved, totals[others[end]]])
            if not _fits(moved, totals[name]):
                break
            if _alike(moved, totals[name]):
                return set(others[begin : end + 1])
    return set()


def _sum(each: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*each, strict=True)]


def _fits(part: Sequence[float], whole: Sequence[float]) -> bool:
    return all(one <= other * (1 + _ALIKE) for one, other in zip(part, whole, strict=True))


def _alike(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(isclose(a, b, rel_tol=_ALIKE) for a, b in zip(one, other, strict=True))

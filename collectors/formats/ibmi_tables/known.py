"""The meaning of a row beyond its own fields: codes spelled out, and facts from other tables of the collection."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

EVENTS: dict[float | None, str] = {0: "running", 1: "started", 2: "ended", 3: "started_and_ended"}
"""Meanings of JBSTSF."""

DEFAULT_BUCKETS = {
    **dict.fromkeys((3, 20, 21, 22, 23), "Reserved"),
    1: "Dispatched CPU",
    2: "CPU queuing",
    4: "Other waits",
    5: "Disk page faults",
    6: "Disk non-fault reads",
    7: "Disk space usage contention",
    8: "Disk op-start contention",
    9: "Disk writes",
    10: "Disk other",
    11: "Journaling",
    12: "Semaphore contention",
    13: "Mutex contention",
    14: "Machine level gate serialization",
    15: "Seize contention",
    16: "Database record lock contention",
    17: "Object lock contention",
    18: "Ineligible waits",
    19: "Main storage pool overcommitment",
    24: "Socket accepts",
    25: "Socket transmits",
    26: "Socket receives",
    27: "Socket other",
    28: "IFS",
    29: "PASE",
    30: "Data queue receives",
    31: "Idle/waiting for work",
    32: "Abnormal contention",
}
"""Wait buckets where QAPMJOBWTD does not name them. From 1 to 11 and 15 to 18 published, the others as specialists know
them; according to IBM the content of a set may change."""

WAIT_GROUPS = {
    1: "dispatched_cpu",
    2: "cpu_queueing",
    **dict.fromkeys(range(5, 11), "disk"),
    11: "journaling",
    **dict.fromkeys((14, 15, 19, 32), "operating_system_contention"),
    **dict.fromkeys((16, 17), "lock_contention"),
    18: "ineligible",
}

SAVES = {"1": "IFS save", "2": "IFS restore", "3": "library save", "4": "library restore"}
"""Meanings of JSTYPE."""

YES = ("1", "Y", "YES")
"""A flag that is set."""

ACTIVE_TYPES = {
    "ASJ": "A",
    "BCH": "B",
    "BCI": "BD",
    "EVK": "BE",
    "INT": "I",
    "M36": "BF",
    "MRT": "BT",
    "PDJ": "WP",
    "PJ": "BJ",
    "RDR": "R",
    "SBS": "M",
    "SYS": "S",
    "WTR": "W",
}
"""Job type and subtype of Collection Services by the job type of ACTIVE_JOB_INFO (as specialists know them)."""

_HEXADECIMAL = re.compile(r"[0-9A-F]{16}")


class Known:
    """The functions that expressions may call; `state` is JSON and goes with the position of the reader.

    `state` holds under `boundaries` the response-time boundaries of disks in µs, by table, as QAPMCONF gives them, and
    under `waits` the names of wait buckets by bucket set, as QAPMJOBWTD gives them.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state

    def functions(self) -> dict[str, Callable[..., object]]:
        figures = (whole, integer, positive, job_cpu, sector, per)
        names = (task, job, summary, event, engine, device_type, wait_group, pair, part, active_type, saving)
        return {f.__name__: f for f in (*figures, *names, self.upper_us, self.bucket_name)}

    def upper_us(self, table: str, bucket: int) -> float | None:
        """Return the upper boundary of a response-time bucket in µs, None for the last one or where it is not known."""
        boundaries: list[float] = self.state.get("boundaries", {}).get(table, [])
        return boundaries[bucket - 1] if bucket <= len(boundaries) else None

    def bucket_name(self, bucket_set: float | None, bucket: float | None) -> str:
        """Return the name of a wait bucket: from QAPMJOBWTD of the collection, else from the default map."""
        if bucket is None:
            return ""
        names: dict[str, str] = self.state.get("waits", {}).get(whole(bucket_set), {})
        return names.get(f"{bucket:.0f}") or DEFAULT_BUCKETS.get(int(bucket), "")


def whole(number: float | None) -> str | None:
    """Return a number that serves as a name, without decimals."""
    return None if number is None else f"{number:.0f}"


def integer(number: float | None) -> int | None:
    """Return a count or an ordinal number."""
    return None if number is None else int(number)


def positive(number: float | None) -> float | None:
    """Return a number, None for 0, which stands for an unknown one."""
    return number or None


def task(count: object) -> str | None:
    """Return a binary task count in hexadecimal, however it was exported."""
    if isinstance(count, str):
        if _HEXADECIMAL.fullmatch(count):
            return count
        stripped = count.strip().upper()
        if _HEXADECIMAL.fullmatch(stripped):
            return stripped
        count = count.encode("utf-8", "replace") if stripped else b""
    return count.hex().upper() or None if isinstance(count, bytes | bytearray | memoryview) else None


def job(
    number: str | None,
    user: str | None,
    name: str | None,
    count: str | None,
    happened: str | None,
    sum_of: str | None,
) -> str | None:
    """Return the identity of a job's row within its interval.

    A rerouted job has two rows in one interval, one that ends and one that starts: the event distinguishes them.
    """
    identity = f"{number or ''}/{user or ''}/{name or ''}".strip("/")
    for part in (count, None if happened == "running" else happened, sum_of):
        if part:
            identity = f"{identity}/{part}" if identity else part
    return identity or None


def summary(tasks: float | None, name: str | None, pool: str | None, priority: str | None) -> str | None:
    """Return the identity of a row of short-lived tasks, None for a row of one task."""
    if not tasks:
        return None
    return "/".join(["short-lived", *(part for part in (name, pool, priority) if part)])


def job_cpu(milliseconds: float | None, thread: float | None) -> float | None:
    """Return the CPU time of the whole job on the row of its first thread, the only one where it counts."""
    return None if thread == 1 else milliseconds


def event(state: float | None) -> str | None:
    """Return the meaning of JBSTSF."""
    return EVENTS.get(state)


def engine(processor: float | None) -> str | None:
    """Return the name of a virtual processor."""
    return None if processor is None else f"VP{processor:03.0f}"


def sector(size: float | None) -> float:
    """Return the bytes of a sector: 520 where the disk does not report it."""
    return size or 520.0


def per(total: float | None, count: float | None, available: float | None = 1) -> float | None:
    """Return the mean over `count` operations; a total of 0 over some operations means that none was measured."""
    if total is None or not count or not available or (not total and available == 1):
        return None
    return round(total / count, 6)


def device_type(multipath: str | None) -> str:
    """Return `path` for the row of one path of a unit (DSMU), else `disk`."""
    return "path" if multipath in YES else "disk"


def wait_group(bucket: float | None) -> str | None:
    """Return the group of a bucket in the charts of Performance Data Investigator."""
    return None if bucket is None else WAIT_GROUPS.get(int(bucket), "other")


def pair(one: str | None, other: str | None) -> str | None:
    """Return two ends in a fixed order, so that both nodes give their connection the same name."""
    return " ".join(sorted((one, other))) if one and other else None


def part(name: str | None, place: int) -> str | None:
    """Return number (0), user (1) or name (2) of a job named number/user/name."""
    parts = (name or "").split("/")
    return parts[place] if len(parts) == 3 else None


def active_type(code: str | None, place: int) -> str | None:
    """Return the letter of the job type (0) or subtype (1) for the type that ACTIVE_JOB_INFO gives."""
    return ACTIVE_TYPES.get(code or "", "")[place : place + 1] or None


def saving(code: str | None, of_task: str | None) -> str | None:
    """Return what a job saves or restores, and its task."""
    return " ".join(part for part in (SAVES.get(code or "", code), of_task) if part) or None


FUNCTIONS = frozenset(Known({}).functions())
"""The names of the functions."""

"""What a row means beyond its own fields: codes spelled out, and what other tables of the collection said before."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

EVENTS = ("running", "started", "ended", "started_and_ended")

YES = ("1", "Y")
"""A flag that is set."""

_HEXADECIMAL = re.compile(r"[0-9A-F]{16}")


class Known:
    """The functions that expressions may call; `state` is JSON and goes with the position of the reader.

    `state` holds under `boundaries` the response-time boundaries of disks in µs, by table, as QAPMCONF gives them, and
    under `waits` the names of wait buckets by bucket set, as QAPMJOBWTD gives them.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        """Look things up in `state`."""
        self.state = state

    def functions(self) -> dict[str, Callable[..., object]]:
        """Return the functions by their names in expressions."""
        plain = (whole, task, job, event, engine, sector, per, device_type)
        return {f.__name__: f for f in (*plain, self.upper_us)}

    def upper_us(self, table: str, bucket: int) -> float | None:
        """Return the upper boundary of a response-time bucket in µs, None for the last one or where it is not known."""
        boundaries: list[float] = self.state.get("boundaries", {}).get(table, [])
        return boundaries[bucket - 1] if bucket <= len(boundaries) else None


def whole(number: float | None) -> str | None:
    """Return a number that is a name, without decimals."""
    return None if number is None else f"{number:.0f}"


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


def job(number: str | None, user: str | None, name: str | None, count: str | None, state: float | None) -> str | None:
    """Return what tells a row of a job from every other of its interval.

    A rerouted job has two rows in one interval, one that ends and one that starts: the event makes them two.
    """
    identity = "/".join(part or "" for part in (number, user, name)).strip("/")
    happened = event(state)
    parts = (identity, count, happened if happened != "running" else None)
    return "/".join(part for part in parts if part) or None


def event(state: float | None) -> str | None:
    """Return what JBSTSF says."""
    return EVENTS[int(state)] if state is not None and state in (0, 1, 2, 3) else None


def engine(processor: float | None) -> str | None:
    """Return the name of a virtual processor."""
    return None if processor is None else f"VP{processor:03.0f}"


def sector(size: float | None) -> float:
    """Return the bytes of a sector: 520 where the disk does not say."""
    return size or 520.0


def per(total: float | None, count: float | None, available: float | None = 1) -> float | None:
    """Return the mean of what `count` operations took together; a total of 0 over some says that none was taken."""
    if total is None or not count or not available or (not total and available == 1):
        return None
    return round(total / count, 6)


def device_type(multipath: str | None) -> str:
    """Return `path` for the row of one path of a unit (DSMU), else `disk`."""
    return "path" if multipath in YES else "disk"

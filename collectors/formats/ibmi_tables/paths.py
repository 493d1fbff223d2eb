"""Rows of disks that are paths of one unit: what they repeat counts once."""

from __future__ import annotations

from typing import Any

from counterflow.collectors.formats.ibmi_tables.expression import Column
from counterflow.collectors.formats.ibmi_tables.known import YES
from counterflow.collectors.formats.ibmi_tables.layout import Layout, Row

NOT_CONFIGURED = "0"
"""The number of all units that are not configured."""
_SHOWN = 20
_IO = ("reads", "writes", "read_kb", "written_kb", "service_ms")
"""What all rows of one unit repeat where IBM i counts its I/O by unit, and not by path."""


class Paths:
    """The counts of each unit of an interval, and the units of which several rows have the same."""

    def __init__(self) -> None:
        self._io: set[tuple[Any, ...]] = set()
        self._repeated: set[str] = set()

    def counted_once(self, values: dict[str, Column]) -> dict[str, Column]:
        """Return the columns of disks; a row that repeats the counts of another row of its unit is no leaf."""
        given = {"unit": values.get("unit"), **{name: values.get(name) for name in _IO}}
        known = [column for column in given.values() if column is not None]
        if given["unit"] is None or len(known) < 2:
            return values
        leaves, kinds = [*values["leaf"]], [*values["device_type"]]
        for at, (unit, *counts) in enumerate(zip(*known, strict=True)):
            if unit in (None, NOT_CONFIGURED) or not any(counts):
                continue
            if (unit, *counts) in self._io:
                leaves[at], kinds[at] = False, "path"
                self._repeated.add(str(unit))
            self._io.add((unit, *counts))
        return {**values, "leaf": leaves, "device_type": kinds}

    @property
    def found(self) -> str | None:
        """Which units have rows that were taken as paths; None where no unit has."""
        if not self._repeated:
            return None
        shown = ", ".join(sorted(self._repeated)[:_SHOWN])
        return (
            f"{len(self._repeated)} units have several rows with the same counts, {shown}: "
            "taken as paths of one unit, whose I/O counts once (unverified)"
        )


def is_further(layout: Layout, row: Row) -> bool:
    """Return whether the row is of a path of a multipath unit that is not the initial one."""
    if layout.path is None:
        return False
    multipath, initial = (str(flag).strip() in YES for flag in layout.path(row))
    return multipath and not initial

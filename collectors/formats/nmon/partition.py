"""Checks whether rows of LPAR hold what their columns name (nmon reference: 1.3, 1.5 item 1).

Recorders on AIX lose a value of this row now and then, and every value after it moves under the name of its neighbour.
nmon on Linux divides the growth of counters by the interval. Where it has not read them before its first snapshot, that
growth covers all the time since boot.
"""

from __future__ import annotations

from collections.abc import Mapping

_ROUNDING_PCT = 0.1
_CLOCK = 1.05
"""Clock and counters are read one after the other: 50 ms of the second that a first snapshot covers."""
_ABOVE_BUSY = 0.1
"""Cores that each virtual processor may consume while its threads count as idle."""

Row = Mapping[str, float | None]


def contradicts_itself(row: Row) -> bool:
    """Return whether a row certainly holds values of other columns: flags are 0 or 1, and two sums are known."""
    return any(row.get(flag) not in (None, 0, 1) for flag in ("SharedCPU", "Capped")) or _proved(row) is False


def is_in_place(row: Row) -> bool:
    """Return whether a row certainly has its values in place, up to VP_Idle%."""
    return not contradicts_itself(row) and _proved(row) is True


def beyond(row: Row, cpu: Row) -> str | None:
    """Return why a partition of Linux cannot have consumed PhysicalCPU in a snapshot, or None where it can.

    The limits are its virtual processors; its entitlement, if capped; and the busy share of its logical processors by
    `cpu`, the row of CPU_ALL in the same snapshot. A figure that is not recorded sets no limit.
    """
    consumed, virtual = row.get("PhysicalCPU"), row.get("partition_active_processors")
    if consumed is None or not virtual:
        return None
    if consumed > _CLOCK * virtual:
        return f"of {virtual:g} virtual processors"
    entitled = row.get("partition_entitled_capacity")
    if row.get("capped") == 1 and entitled and consumed > _CLOCK * entitled:
        return f"of {entitled:g} entitled, and capped"
    idle_pct, logical = cpu.get("Idle%"), row.get("Logical CPU")
    if idle_pct is None or not logical:
        return None
    busy = (100 - idle_pct) / 100 * logical
    return f"while {busy:g} of {logical:g} threads were busy" if consumed > busy + _ABOVE_BUSY * virtual else None


def _proved(row: Row) -> bool | None:
    """Return whether a row keeps the sums that every real row was found to keep, or None where that is undecidable.

    VP_* add up to PhysicalCPU / virtualCPUs, and usedPoolCPU% is PhysicalCPU / poolCPUs.
    """
    consumed, virtual, pool = row.get("PhysicalCPU"), row.get("virtualCPUs"), row.get("poolCPUs")
    modes = [share for mode in ("User", "Sys", "Wait", "Idle") if (share := row.get(f"VP_{mode}%")) is not None]
    if not consumed or not virtual or len(modes) < 4:
        return None
    used = row.get("usedPoolCPU%")
    fits = abs(sum(modes) - 100 * consumed / virtual) <= _ROUNDING_PCT
    return fits and not (pool and used and abs(used - 100 * consumed / pool) > _ROUNDING_PCT)

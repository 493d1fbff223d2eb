"""Which LPAR rows of AIX certainly have their values in place (nmon reference: 1.3, 1.5 item 1).

Recorders lose a value of this row now and then, and every value after it moves under the name of its neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping

_ROUNDING_PCT = 0.1

Row = Mapping[str, float | None]


def contradicts_itself(row: Row) -> bool:
    """Return whether a row certainly holds values of other columns: flags are 0 or 1, and two sums are known."""
    return any(row.get(flag) not in (None, 0, 1) for flag in ("SharedCPU", "Capped")) or _proved(row) is False


def is_in_place(row: Row) -> bool:
    """Return whether a row certainly has its values in place, up to VP_Idle%."""
    return not contradicts_itself(row) and _proved(row) is True


def _proved(row: Row) -> bool | None:
    """Return whether a row keeps what was found true of every real one, or None where it cannot be decided.

    VP_* add up to PhysicalCPU / virtualCPUs, and usedPoolCPU% is PhysicalCPU / poolCPUs.
    """
    consumed, virtual, pool = row.get("PhysicalCPU"), row.get("virtualCPUs"), row.get("poolCPUs")
    modes = [share for mode in ("User", "Sys", "Wait", "Idle") if (share := row.get(f"VP_{mode}%")) is not None]
    if not consumed or not virtual or len(modes) < 4:
        return None
    used = row.get("usedPoolCPU%")
    fits = abs(sum(modes) - 100 * consumed / virtual) <= _ROUNDING_PCT
    return fits and not (pool and used and abs(used - 100 * consumed / pool) > _ROUNDING_PCT)

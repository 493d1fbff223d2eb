"""Which boards suit a system: those of its operating system, of counters that it has."""

from __future__ import annotations

from collections.abc import Set

from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.definition import PLATFORMS, Board

ANY_SYSTEM = "cf-system"
"""The board for systems whose operating system has none of its own."""


def platforms(client: ClickHouse) -> dict[str, str]:
    """Return the operating system of each system whose recordings name it."""
    return {
        row["system"]: platform
        for platform, named in PLATFORMS.items()
        for row in client.rows(f"SELECT DISTINCT system FROM counterflow.config WHERE item = '' AND ({named})")
    }


def fits(board: Board, has: Set[str], platform: str | None) -> bool:
    """Return whether a board shows anything of a system.

    Parameters
    ----------
    has : datasets of the system, alone and as `<dataset>/<format>`.
    platform : its operating system, where it is known.
    """
    if platform and (board.uid == ANY_SYSTEM or board.platform not in (None, platform)):
        return False
    return not board.counters or not has.isdisjoint(board.counters)

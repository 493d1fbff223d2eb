"""Addresses of boards in the stack's Grafana, with their period and variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from counterflow.stack.settings import StackSettings


def board_url(
    settings: StackSettings,
    uid: str,
    begin: datetime,
    end: datetime | None,
    chosen: Mapping[str, str | Sequence[str]] | None = None,
) -> str:
    """Return the address of a board from `begin` to `end`, in whole minutes; without an end, to now.

    `chosen` has the values of its variables.
    """
    since = begin.replace(second=0, microsecond=0)
    until = "now" if end is None else f"{-(-int(end.timestamp()) // 60) * 60 * 1000}"
    shown = {"from": f"{int(since.timestamp()) * 1000}", "to": until}
    values = {f"var-{name}": value for name, value in (chosen or {}).items()}
    return f"{settings.grafana_url}/d/{uid}?{urlencode(shown | values, doseq=True)}"

"""What was recorded at all: a question about anything else is refused, with what there is."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from counterflow.analysis.queries import queries, run_stored
from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError

_NAMED = 5
"""Maximum number of systems that a hint names."""


def require(client: ClickHouse, systems: Collection[str]) -> None:
    """Raise `CounterflowError` where one of `systems` has no data; its hint suggests the nearest name."""
    known: list[str] = []
    for table in ("system_day", "config", "metric_1h"):  # a table is queried only where those before it lack a system
        if set(systems) <= set(known):
            return
        known += [row["system"] for row in client.rows(f"SELECT DISTINCT system FROM counterflow.{table}")]
    for system in systems:
        if system not in known:
            near = {name.casefold(): name for name in known}
            found = get_close_matches(system.casefold(), near, 1)
            hint = f"did you mean {near[found[0]]}?" if found else "the stored question `systems` lists them"
            raise CounterflowError(f"no system is called {system}", hint=hint, exit_code=2)


def nothing_recorded(client: ClickHouse, where: str) -> CounterflowError:
    """Return the error that nothing was recorded `where`; its hint states what there is."""
    there = [
        f"{row['system']} from {row['first_interval_begin']:.19} to {row['last_interval_end']:.19}"
        for row in run_stored(client, queries()["systems"])
    ]
    more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
    known = f"there is {'; '.join(there[:_NAMED])}{more}" if there else "nothing was published yet"
    return CounterflowError(f"nothing was recorded {where}", hint=known, exit_code=2)

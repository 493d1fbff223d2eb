"""Questions people ask, each a `.sql` file: `counterflow sql NAME` runs it, the demo and `watch` show it.

The first line says the question. `{systems:Array(String)}` narrows it to systems, empty means all;
`{since:DateTime64(3)}` to intervals that end after it.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from counterflow.clickhouse import ClickHouse

FOLDER = Path(__file__).parent


class Query(NamedTuple):
    """A stored question: its name, the question in words, and the statement."""

    name: str
    question: str
    sql: str


def queries() -> dict[str, Query]:
    """Return the stored queries by name."""
    found = {}
    for path in sorted(FOLDER.glob("*.sql")):
        first, statement = path.read_text(encoding="utf-8").split("\n", 1)
        found[path.stem] = Query(path.stem, first.removeprefix("-- "), statement.strip())
    return found


BEGINNING = "2000-01-01 00:00:00"


def ask(
    client: ClickHouse, query: Query, systems: Collection[str] = (), since: str = BEGINNING
) -> list[dict[str, Any]]:
    """Run a stored query for `systems` (empty: all) after `since` (UTC, `YYYY-MM-DD hh:mm:ss`); return its rows."""
    quoted = ",".join("'" + s.replace("\\", "\\\\").replace("'", "\\'") + "'" for s in sorted(systems))
    return client.rows(query.sql, {"param_systems": f"[{quoted}]", "param_since": since})

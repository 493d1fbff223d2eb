"""Stored questions, each a `.sql` file: `counterflow sql NAME` runs it, the demo and `watch` show it.

The first line is the question, the second its section of the cookbook (`docs/cookbook.md`, generated).
`{systems:Array(String)}` restricts it to systems (empty: all), `{since:DateTime64(3)}` to intervals that end later than
that, and `{until:DateTime64(3)}` to those that end by then.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.base.errors import CounterflowError
from counterflow.schemas.thresholds import with_thresholds

FOLDER = Path(__file__).parent / "questions"
_QUESTION, _SECTION = "-- ", "-- section: "


class Query(NamedTuple):
    """A stored question: its name, the question in words, its section of the cookbook, and the statement."""

    name: str
    question: str
    section: str
    sql: str


def queries(folder: Path = FOLDER) -> dict[str, Query]:
    """Return the stored queries by name.

    Raises
    ------
    CounterflowError : a file does not begin with a question and a section.
    """
    found = {}
    for path in sorted(folder.glob("*.sql")):
        first, second, statement = (with_thresholds(path.read_text(encoding="utf-8")) + "\n\n").split("\n", 2)
        if not first.startswith(_QUESTION) or not second.startswith(_SECTION):
            raise CounterflowError(
                f"{path}: expected `{_QUESTION}the question` and `{_SECTION}its section` as the first lines",
                hint="see the other files in the folder",
                exit_code=2,
            )
        question, section = first.removeprefix(_QUESTION), second.removeprefix(_SECTION)
        found[path.stem] = Query(path.stem, question, section, statement.strip())
    return found


BEGINNING = "2000-01-01 00:00:00"
END = "2200-01-01 00:00:00"


def run_stored(
    client: ClickHouse, query: Query, systems: Collection[str] = (), since: str = BEGINNING, until: str = END
) -> list[dict[str, Any]]:
    """Return the rows of a stored query for `systems` (empty: all), after `since` and up to `until`.

    Both are UTC, `YYYY-MM-DD hh:mm:ss`.
    """
    return client.rows(query.sql, restricted(systems, since, until))


def restricted(systems: Collection[str], since: str, until: str) -> Settings:
    """Return the parameters of a stored query; see `run_stored`."""
    return {"param_systems": sorted(systems), "param_since": since, "param_until": until}

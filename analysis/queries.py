"""Stored questions, each a `.sql` file: `counterflow sql NAME` runs it, the demo and `watch` show it.

The first line is the question, the second its section of the cookbook (`docs/cookbook.md`, generated).
`{systems:Array(String)}` restricts it to systems (empty: all), `{since:DateTime64(3)}` to intervals that end later than
that, and `{until:DateTime64(3)}` to those that end by then. `<chosen>` is the condition that a row is all of these;
`<chosen d>` is that of the table `d`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.base.errors import CounterflowError

FOLDER = Path(__file__).parent / "questions"
_QUESTION, _SECTION = "-- ", "-- section: "


class StoredQuery(NamedTuple):
    """A stored question: its name, the question in words, its section of the cookbook, and the statement."""

    name: str
    question: str
    section: str
    sql: str

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the statement by name, each with its ClickHouse type."""
        return dict(re.findall(r"\{(\w+):([^}]+)\}", self.sql))


def queries(folder: Path = FOLDER) -> dict[str, StoredQuery]:
    """Return the stored queries by name.

    Raises
    ------
    CounterflowError : a file does not begin with a question and a section.
    """
    found = {}
    for path in sorted(folder.glob("*.sql")):
        first, second, statement = (read(path) + "\n\n").split("\n", 2)
        if not first.startswith(_QUESTION) or not second.startswith(_SECTION):
            raise CounterflowError(
                f"{path}: expected `{_QUESTION}the question` and `{_SECTION}its section` as the first lines",
                hint="see the other files in the folder",
                exit_code=2,
            )
        question, section = first.removeprefix(_QUESTION), second.removeprefix(_SECTION)
        found[path.stem] = StoredQuery(path.stem, question, section, statement.strip())
    return found


def read(path: Path) -> str:
    """Return the text of a file with thresholds and conditions put in."""
    from counterflow.schemas.thresholds import with_thresholds  # it loads pydantic, and the help of a command does not

    def chosen(found: re.Match[str]) -> str:
        begin, of = found[1], f"{found[3]}." if found[3] else ""
        systems = f"(empty({{systems:Array(String)}}) OR has({{systems:Array(String)}}, {of}system))"
        time = f"{of}ts > {{since:DateTime64(3)}} AND {of}ts <= {{until:DateTime64(3)}}"
        return f"{begin}{found[2]}{systems}\n{begin}  AND {time}"

    return re.sub(r"(?m)^( *)(.*)<chosen(?: (\w+))?>", chosen, with_thresholds(path.read_text(encoding="utf-8")))


def stored_query(name: str) -> StoredQuery:
    """Return a stored query by name.

    Raises
    ------
    CounterflowError : there is none; the hint names the table that is called so, or the nearest query.
    """
    stored = queries()
    if name in stored:
        return stored[name]
    from counterflow.schemas.definition import datasets

    if name in datasets():
        hint = f"it is a table: SELECT * FROM counterflow.{name} LIMIT 10"
    elif near := get_close_matches(name, stored, 1):
        hint = f"did you mean {near[0]}?"
    else:
        hint = "docs/cookbook.md lists them, and so does counterflow sql"
    raise CounterflowError(f"no stored query is called {name}", hint=hint, exit_code=2)


BEGINNING = "2000-01-01 00:00:00"
END = "2200-01-01 00:00:00"


def run_stored(
    client: ClickHouse, query: StoredQuery, systems: Collection[str] = (), since: str = BEGINNING, until: str = END
) -> list[dict[str, Any]]:
    """Return the rows of a stored query for `systems` (empty: all), after `since` and up to `until`.

    Both are UTC, `YYYY-MM-DD hh:mm:ss`.
    """
    return client.rows(query.sql, restricted(systems, since, until))


def restricted(systems: Collection[str], since: str, until: str) -> Settings:
    """Return the parameters of a stored query; see `run_stored`."""
    return {"param_systems": sorted(systems), "param_since": since, "param_until": until}

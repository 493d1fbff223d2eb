"""The tools of `counterflow mcp`, each of which answers with formulas, units, completeness and reasons of nulls."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from importlib.metadata import version
from inspect import getdoc
from typing import Annotated, Any

import orjson
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from counterflow.analysis.queries import StoredQuery
from counterflow.base.clickhouse import Settings
from counterflow.base.errors import CounterflowError
from counterflow.connection import Connection, period
from counterflow.connection.answered import answered

LIMITS: Settings = {
    "max_execution_time": 30,
    "max_memory_usage": 1_000_000_000,
    "max_result_rows": 1_000_000,
    "output_format_json_quote_64bit_integers": 0,
}
"""Limits of a statement over files: those that the user `reader` has on a running line."""
_INSTRUCTIONS = """\
Figures of systems, computed from their performance counters. Prefer a stored question to `sql`, since its figures are
defined; begin with `systems`. A null is unknown, never 0: `null_when` states the reasons. Cite the unit, and state
where `completeness` is not complete. Times are UTC."""
_READS = re.compile(r"\(*(SELECT|WITH|DESCRIBE|EXPLAIN|SHOW)\b")
_FILES = re.compile(r"\bINTO OUTFILE\b|\b(file|Python)\(")
"""What reads or writes files of the machine in a statement as ClickHouse writes it."""

Systems = Annotated[list[str], Field(description="Names of the systems; none means all.")]
Since = Annotated[datetime | None, Field(description="Only intervals that end after this time.")]
Until = Annotated[datetime | None, Field(description="Only intervals that end by this time.")]
Rows = Annotated[int, Field(ge=1, le=1_000, description="Maximum number of rows.")]
Tool = Callable[..., dict[str, Any]]


def serve(connection: Connection) -> None:
    """Serve until standard input ends."""
    server(connection).run("stdio")


def server(connection: Connection) -> FastMCP:
    """Return the server with its tools."""
    made = FastMCP("counterflow", _INSTRUCTIONS, log_level="WARNING")
    made._mcp_server.version = version("counterflow")
    for query in connection.questions.values():
        _add(made, query.name, query.question, _question(connection, query))
    tools = _Tools(connection)
    for tool in (tools.doctor, tools.what_changed, tools.sql):
        _add(made, tool.__name__, getdoc(tool) or "", tool)
    return made


def _add(to: FastMCP, name: str, text: str, tool: Tool) -> None:
    @wraps(tool)
    def answers(*args: Any, **kwargs: Any) -> str:
        try:
            return orjson.dumps(tool(*args, **kwargs), option=orjson.OPT_UTC_Z).decode()
        except CounterflowError as error:
            raise ToolError("\n".join([error.message, *getattr(error, "__notes__", ())])) from None

    answers.__name__ = name
    reads = ToolAnnotations(readOnlyHint=True, openWorldHint=False)
    to.add_tool(answers, name=name, description=text, annotations=reads, structured_output=False)


def _question(connection: Connection, query: StoredQuery) -> Tool:
    def of_all(rows: Rows = 100) -> dict[str, Any]:
        found = answered(connection, query.sql, {}, rows)
        return {"question": query.question, **found}

    def restricted(systems: Systems = [], since: Since = None, until: Until = None, rows: Rows = 100) -> dict[str, Any]:  # noqa: B006
        statement, settings = connection.stored(query.name, systems, since, until)
        found = answered(connection, statement, settings, rows, systems, *period(since, until))
        return {"question": query.question, "systems": systems, "since": since, "until": until, **found}

    return restricted if query.parameters else of_all


class _Tools:
    """The tools beside the stored questions; an assistant is told their docstrings."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def doctor(self, systems: Systems = [], since: Since = None, until: Until = None) -> dict[str, Any]:  # noqa: B006
        """Which verdicts, KPIs, alerts and boards lack their input, and why?

        Of named systems also: which published rules warn? An input that is missing makes an answer `unknown`; `needs`
        names it, `remedy` what to do.
        """
        found = self._connection.doctor(systems, since=since, until=until)
        return {"answers": [one._asdict() for one in found if systems or one.raises], "examined": len(found)}

    def what_changed(
        self,
        system: str,
        at: Annotated[datetime | None, Field(description="The time in question; or give `rule`.")] = None,
        until: Annotated[datetime | None, Field(description="Its end; default: that of the alarm, or an hour.")] = None,
        rule: Annotated[str | None, Field(description="`roce_cap` or `log_ceiling`: its newest alarm.")] = None,
        entity: Annotated[str | None, Field(description="The link or log that the rule judged.")] = None,
        before_min: Annotated[int, Field(ge=1, description="Minutes of quiet time before it.")] = 60,
    ) -> dict[str, Any]:
        """What changed most on a system at a time, or when a rule last raised its alarm, against the quiet time before?

        Jobs, users, programs, links and disks by their share of the change of each measure, not by size.
        """
        from counterflow.schemas.culprit import behind

        if (at is None) == (rule is None):
            raise CounterflowError("the time in question is not known", hint="give either `at` or `rule`", exit_code=2)
        quiet = timedelta(minutes=before_min)
        compared, recorded_min, found = self._connection.what_changed(
            system, at, until=until, rule=rule, entity=entity, quiet=quiet
        )
        return {
            "system": system,
            "period": compared._asdict(),
            "quiet_minutes_recorded": recorded_min,
            "changes": [one._asdict() for one in found],
            "sql": {name: behind(name) for name in dict.fromkeys(one.subject for one in found)},
            "nulls": "a measure that lacks rows in either time is left out: what is unknown has not changed",
        }

    def sql(self, statement: str, rows: Rows = 100) -> dict[str, Any]:
        """Run one SELECT of ClickHouse over the tables `counterflow.*`, where no stored question fits.

        It only reads, within limits of rows, time and memory. `SHOW TABLES FROM counterflow` lists the tables, and
        `DESCRIBE counterflow.disk` the columns of one, with meaning, unit and reason of null.
        """
        _require_select(self._connection, statement)
        return answered(self._connection, statement, {}, rows)


def _require_select(connection: Connection, statement: str) -> None:
    """Refuse several statements, one that changes something, and one that reads or writes files of the machine."""
    as_written = "SELECT formatQuerySingleLine({statement:String}) AS text FORMAT JSONEachRow"
    with connection.stream(as_written, {"param_statement": statement}) as (_, pieces):
        text = b"".join(pieces).decode()
    formatted = text.removeprefix('{"text":"')
    if not _READS.match(formatted) or _FILES.search(formatted):
        hint = "give one SELECT over the tables counterflow.*; SHOW TABLES FROM counterflow lists them"
        raise CounterflowError("the statement does more than read tables", hint=hint, exit_code=2)

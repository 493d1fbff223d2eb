"""The queries for the stored records of a run; docs/studies/compare.md maps tables to figures."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from counterflow.analysis.studies.figures import SLACK_S, MeasuredRun, measured
from counterflow.analysis.studies.runs import found
from counterflow.base.clickhouse import ClickHouse

QUERIES = Path(__file__).parent / "queries"

OF_A_NAME = frozenset({"labelled", "configured"})
"""Queries that take the name of a run; the others take systems and a period."""

TABLES = {
    "accounts": "account_cpu FINAL",
    "components": "footprint",
    "disks": "disk_total",
    "finals": "workload FINAL WHERE final",
    "log": "log_load FINAL",
    "parts": "component_footprint",
    "processors": "system_cpu FINAL WHERE engine = 'all'",
    "replication": "replication_lag WHERE component IN ('apply', 'capture')",
    "work": "work_done",
}
"""Tables and views whose rows are read as they are; the other queries are files."""

_ROWS = """
SELECT *, toUnixTimestamp64Milli(ts) / 1000 AS end_s, interval_s AS seconds
FROM (SELECT * FROM counterflow.<table>)
WHERE ts > {from:DateTime64(3)} AND ts <= {to:DateTime64(3)} AND has({systems:Array(String)}, system)
ORDER BY end_s
"""


@cache
def queries() -> dict[str, str]:
    files = {path.stem: path.read_text(encoding="utf-8") for path in sorted(QUERIES.glob("*.sql"))}
    return files | {name: _ROWS.replace("<table>", table) for name, table in TABLES.items()}


def read_run(client: ClickHouse, name: str, warm_up_s: float | None = None) -> MeasuredRun:
    """Return a labelled or configured run with its figures.

    Raises
    ------
    RunError : there is no such run, or it is ambiguous.
    """
    statements = queries()
    of_run = {"param_run": name}
    configured = client.rows(statements["configured"], of_run)
    stated = {line["name"] for line in configured if line["section"] == "run"}
    labelled = [] if {"begin", "end"} <= stated else client.rows(statements["labelled"], of_run)
    run = found(name, labelled, configured, warm_up_s)
    begin, end = (datetime.fromtimestamp(s, UTC) for s in (run.begin_s - SLACK_S, run.end_s + 2 * SLACK_S))
    during = {"param_systems": sorted(run.systems), "param_from": f"{begin:%F %T}", "param_to": f"{end:%F %T}"}
    return measured(run, {of: client.rows(sql, during) for of, sql in statements.items() if of not in OF_A_NAME})

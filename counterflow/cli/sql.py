"""`counterflow sql`: queries ClickHouse as the read-only user."""

from __future__ import annotations

import sys

import click
import orjson

from counterflow.analysis.queries import BEGINNING, END, ask, queries
from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.cli._table import console, table
from counterflow.stack.settings import StackSettings


@click.command()
@click.argument("query", required=False)
@click.option("--system", "systems", multiple=True, help="Restrict a stored query to a system; may be repeated.")
@click.option("--since", default=BEGINNING, help="Restrict a stored query to intervals after this time, UTC.")
@click.option("--until", default=END, help="Restrict a stored query to intervals that end by this time, UTC.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row.")
def command(query: str | None, systems: tuple[str, ...], since: str, until: str, as_json: bool) -> None:
    """Run QUERY, a statement or the name of a stored query; without one, list the stored queries."""
    stored = queries()
    if query is None:
        for section in sorted({q.section for q in stored.values()}):
            listed = [{"name": q.name, "question": q.question} for q in stored.values() if q.section == section]
            console().print(table(listed, title=section))
        return
    settings = StackSettings.load()
    with settings.clickhouse("reader") as client:
        if not client.ping():
            raise CounterflowError(f"no answer from {settings.clickhouse_url}", hint="counterflow up")
        try:
            rows = ask(client, stored[query], systems, since, until) if query in stored else client.rows(query)
        except ClickHouseError as error:
            raise CounterflowError(str(error)) from None
    if as_json:
        sys.stdout.buffer.writelines(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    else:
        console().print(table(rows) if rows else "no rows")

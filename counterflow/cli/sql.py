"""`counterflow sql`: queries ClickHouse as the read-only user."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

import click
import orjson

from counterflow.analysis.queries import queries, stored_query
from counterflow.base.clickhouse import Settings, lines
from counterflow.base.inert import inert
from counterflow.cli._reader import connection, on_option, period_options
from counterflow.cli._table import console, show, table

FORMATS = {
    "table": "JSONCompactEachRowWithNames",
    "tsv": "TabSeparatedWithNames",
    "csv": "CSVWithNames",
    "jsonl": "JSONEachRow",
    "parquet": "Parquet",
}
"""Formats requested from the engine. The table is drawn here, from rows that keep columns of the same name apart."""
_JSON: Settings = {
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_escape_forward_slashes": 0,
    "output_format_json_validate_utf8": 1,
}
ROWS_OF_A_TERMINAL = 1_000


@click.command()
@on_option
@click.argument("query", required=False)
@period_options
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Default: table on a terminal, tsv elsewhere. A FORMAT clause of QUERY prevails.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per row: --format jsonl.")
def command(
    query: str | None,
    systems: tuple[str, ...],
    begin: datetime | None,
    end: datetime | None,
    form: str | None,
    as_json: bool,
) -> None:
    """Run a statement or a stored query; without one, list these.

    --system, --from and --to restrict a stored query.
    """
    stored = queries()
    if query is None:
        out = console()
        if not out.is_terminal:
            out.width = 1_000  # no question is longer
        for section in sorted({q.section for q in stored.values()}):
            listed = [{"name": q.name, "question": q.question} for q in stored.values() if q.section == section]
            out.print(table(listed, title=section))
        return
    if not re.sub(r"(?s)/\*.*?\*/|--[^\n]*|;", "", query).strip():
        raise click.UsageError("the statement is empty; `counterflow sql` without one lists the stored queries")
    if form and as_json:
        raise click.UsageError("give --format or --json, not both")
    is_stored = query.isidentifier()
    if is_stored:
        stored_query(query)
    elif systems or begin or end:
        raise click.UsageError("--system, --from and --to restrict a stored query; a statement has its own WHERE")
    wanted = FORMATS["jsonl" if as_json else form or ("table" if sys.stdout.isatty() else "tsv")]
    with connection() as asked:
        statement, settings = asked.stored(query, systems, begin, end) if is_stored else (query, {})
        with asked.stream(statement, {"default_format": wanted, **_JSON, **settings}) as (actual, pieces):
            if actual == wanted == FORMATS["table"]:
                _draw(pieces)
            else:
                _copy(pieces)


def _copy(pieces: Iterator[bytes]) -> None:
    if sys.stdout.isatty():
        for text in codecs.iterdecode(pieces, "utf-8", "backslashreplace"):
            sys.stdout.write(inert(text, keep="\n\t"))
    else:
        sys.stdout.buffer.writelines(pieces)
    sys.stdout.flush()  # if the reader is gone, the command ends here, quietly


def _draw(pieces: Iterator[bytes]) -> None:
    out = console()
    found = lines(pieces)
    names = orjson.loads(next(found))
    rows = [orjson.loads(line) for line in islice(found, ROWS_OF_A_TERMINAL if out.is_terminal else None)]
    if rows:
        show(out, names, rows)
    else:
        out.print("no rows")
    if next(found, None):
        click.echo(f"only the first {ROWS_OF_A_TERMINAL:,} rows are shown; --format tsv prints all", err=True)

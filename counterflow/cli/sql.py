"""`counterflow sql`: queries ClickHouse as the read-only user."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Collection, Iterator
from datetime import datetime
from difflib import get_close_matches
from itertools import islice

import click
import orjson

from counterflow.analysis.queries import BEGINNING, END, queries, restricted
from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings, lines
from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._reader import command_line, on_option, reader, require
from counterflow.cli._table import console, show, table
from counterflow.cli._times import TIME, stated

FORMATS = {
    "table": "JSONCompactEachRowWithNames",
    "tsv": "TabSeparatedWithNames",
    "csv": "CSVWithNames",
    "jsonl": "JSONEachRow",
}
"""Formats requested from the engine. The table is drawn here, from rows that keep columns of the same name apart."""
_JSON: Settings = {
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_escape_forward_slashes": 0,
    "output_format_json_validate_utf8": 1,
}
ROWS_OF_A_TERMINAL = 1_000

_COLUMNS = "system.columns WHERE database = 'counterflow' AND position({statement:String}, table) > 0"
_NAMES = {46: "system.functions", 47: _COLUMNS, 60: "system.tables", 73: "system.formats"}
"""Where to find the valid names, by the code of an error about an unknown name."""
_NOISE = re.compile(
    r"[.:]? [Ii]n scope |: while executing |\. Expected one of|\. Stack trace:|\. \([A-Z_]+\) \(version"
)


@click.command()
@on_option
@click.argument("query", required=False)
@click.option("--system", "systems", multiple=True, help="Restrict a stored query to a system; may be repeated.")
@click.option("--from", "begin", type=TIME, help="Restrict a stored query to intervals that end after this time.")
@click.option("--to", "end", type=TIME, help="Restrict a stored query to intervals that end by this time.")
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
    """Run a statement or a stored query; without one, list these."""
    stored = queries()
    if query is None:
        out = console()
        if not out.is_terminal:
            out.width = 1_000  # no question is longer
        for section in sorted({q.section for q in stored.values()}):
            listed = [{"name": q.name, "question": q.question} for q in stored.values() if q.section == section]
            out.print(table(listed, title=section))
        return
    settings: Settings = {}
    since, until = stated(begin) if begin else BEGINNING, stated(end) if end else END
    if query in stored:
        query, settings = stored[query].sql, restricted(systems, since, until)
    elif query.isidentifier():
        raise CounterflowError(f"no stored query is called {query}", hint=_meant(query, stored), exit_code=2)
    elif systems or begin or end:
        raise click.UsageError("--system, --from and --to restrict a stored query; a statement has its own WHERE")
    wanted = FORMATS["jsonl" if as_json else form or ("table" if sys.stdout.isatty() else "tsv")]
    with reader() as client:
        require(client, systems)
        try:
            with client.stream(query, {"default_format": wanted, **_JSON, **settings}) as (actual, pieces):
                if actual == wanted == FORMATS["table"]:
                    _draw(pieces)
                else:
                    _copy(pieces)
        except ClickHouseError as error:
            raise _explained(client, query, error) from None


def _meant(word: str, stored: Collection[str]) -> str:
    """Return the hint for a word that is no stored query: the table of that name, or the nearest query."""
    from counterflow.schemas.definition import datasets

    if word in datasets():
        statement = f'sql "SELECT * FROM counterflow.{word} LIMIT 10"'
        return f"it is a table: {command_line(statement)}"
    near = get_close_matches(word, stored, 1)
    return f"did you mean {near[0]}?" if near else f"{command_line('sql')} lists them"


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


def _explained(client: ClickHouse, statement: str, error: ClickHouseError) -> CounterflowError:
    """Return the error as a sentence, with the known name that is nearest to an unknown one."""
    text, _, meant = re.sub(r"\ACode: \d+\. DB::Exception: ", "", str(error)).partition(" Maybe you meant")
    text = re.sub(r"(failed at position .*?\)): .*", r"\1", _NOISE.split(text)[0], flags=re.DOTALL)
    text = " ".join(text.split()).rstrip(".:")
    names = re.findall(r"[\w.]*\w", re.split(r"[](?]", meant)[0])
    cutoff = 0 if names else 0.6
    # The engine suggests no aggregate function, and no name that differs by more than two letters.
    if error.code in _NAMES and (error.code == 46 or not names):
        known = client.rows(f"SELECT DISTINCT name FROM {_NAMES[error.code]}", {"param_statement": statement})
        names += [row["name"] for row in known]
    unknown = re.search(r"[`'](.+?)[`']|(\w+)$", text)
    near = get_close_matches(unknown[1] or unknown[2], names, 1, cutoff) if unknown else []
    return CounterflowError(text, hint=f"did you mean {near[0]}?" if near else None, exit_code=2)

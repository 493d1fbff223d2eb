"""`counterflow parse`: turns recordings into JSON lines; no service needed."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import orjson
from rich.table import Table
from rich.text import Text

from counterflow.cli._files import file_options, read_all, recordings
from counterflow.cli._table import console
from counterflow.collectors.records import Item, Record, Reject, Single, singly


def _list(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    from counterflow.collectors.formats import summaries

    if wanted:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for name, text in summaries().items():
            table.add_row(name, Text(text))
        console().print(table)
        ctx.exit()


@click.command()
@file_options
@click.option(
    "--formats", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="List the formats, and stop."
)
@click.option("--summary", is_flag=True, help="Count instead: records by dataset, anomalies by reason.")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[Path, ...],
    zone: ZoneInfo,
    date_order: str | None,
    at: datetime | None,
    system: str | None,
    summary: bool,
) -> None:
    """Parse FILE… into records, one JSON object a line on standard output.

    A folder stands for all files below it. A record has its `dataset`; an anomaly is an object with `reject` instead.
    Exit status 1: a file could not be read at all, the others were; 2: there is none.
    """
    counts: Counter[tuple[str, str]] = Counter()
    out = sys.stdout.buffer

    def take(path: Path, item: Item) -> None:
        for one in singly([item]):
            write(path, one)

    def write(path: Path, item: Single) -> None:
        if isinstance(item, Record):
            counts["records", item.dataset] += 1
            shown = {"dataset": item.dataset, **item.fields}
        elif isinstance(item, Reject):
            counts["anomalies", item.reason.value] += 1
            shown = _reject(path, item)
        else:
            return
        if not summary:
            out.write(orjson.dumps(shown, option=orjson.OPT_APPEND_NEWLINE))

    unread = read_all(recordings(files), files, zone, system, take, date_order, at)
    out.flush()
    if summary:
        _print(counts)
    ctx.exit(1 if unread else 0)


def _reject(path: Path, item: Reject) -> dict[str, object]:
    place = {"file": str(path), "line": item.line, "byte_offset": item.byte_offset}
    found = {"section": item.section, "snapshot": item.snapshot, "detail": item.detail, "kept": item.kept}
    raw = item.raw[:65536].decode("utf-8", "backslashreplace")
    return {"reject": item.reason.value, **place, **{k: v for k, v in found.items() if v is not None}, "raw": raw}


def _print(counts: Counter[tuple[str, str]]) -> None:
    table = Table("", "", "count", box=None, show_header=False)
    for (kind, name), n in sorted(counts.items(), key=lambda item: (item[0][0] != "records", -item[1])):
        table.add_row(kind, name, f"{n:,}")
    console().print(table)

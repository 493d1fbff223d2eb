"""`counterflow look`: states from recordings what limited their systems, and writes a report, without any service."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
import webbrowser
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import reduce
from itertools import chain, islice
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._files import Given, errors, local, reading_options, report_needs, with_progress
from counterflow.cli._table import console

if TYPE_CHECKING:
    from counterflow.analysis.findings import Finding
    from counterflow.base.clickhouse import ClickHouse
    from counterflow.look.reading import Read
    from counterflow.look.results import Measured

_STYLES = {"limit": "bold red", "watch": "yellow", "note": ""}
_SHOWN = 12
"""Maximum number of files without a record that are named."""
_SYSTEMS = 8
"""Systems whose findings a terminal shows; a pipe gets those of all."""
_DESCRIBES = re.compile(r"readme|licen[cs]e|changelog|.*\.md$", re.IGNORECASE)
_OTHERS = "for {:,} more, `look --keep DIR`, then `report --on DIR --system NAME`."


@click.command()
@click.argument("paths", nargs=-1, required=True, type=Given())
@reading_options
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Write report.html into this folder.")
@click.option("--open", "opened", is_flag=True, help="Show the report in the browser; without --out it is temporary.")
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep the database; read what is new.")
@click.option("--export", type=click.Path(file_okay=False, path_type=Path), help="Write each dataset as Parquet.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a finding.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[Path, ...],
    zone: ZoneInfo,
    date_order: str | None,
    at: datetime | None,
    system: str | None,
    out: Path | None,
    opened: bool,
    keep: Path | None,
    export: Path | None,
    as_json: bool,
) -> None:
    """Read files and folders and state what limited their systems: no services, no network, no root.

    Exit status 0: every file was read; 1: a file gave no record; 2: none did, or a folder cannot be written to.
    """
    from counterflow.look.database import Database

    signal.signal(signal.SIGTERM, _end)
    with (
        _refusals(Path(tempfile.gettempdir()), *filter(None, (keep,))),
        tempfile.TemporaryDirectory(prefix="counterflow-") as temporary,
    ):
        for written in filter(None, (out, keep, export)):
            _try(written)
        folder = Path(temporary)
        spool = folder / "spool"
        spool.mkdir()
        files = list(_files(paths, folder, _written(out, keep, export)))
        if not files:
            raise CounterflowError(f"no file in {', '.join(map(str, paths))}", hint="name a recording", exit_code=2)
        with Database(keep or folder / "database", kept=keep is not None) as database:
            report_needs(ctx, files, zone, system, date_order, at)
            reads = database.read(files, spool, zone, date_order, at, system)
            read = list(with_progress(reads, len(files), lambda one: one.path.name))
            measured = database.compute()
            if not measured:
                _report_unread(read, paths)
                raise CounterflowError("no file holds an interval", hint="counterflow parse FILE", exit_code=2)
            found = database.findings()
            if as_json:
                sys.stdout.buffer.writelines(
                    orjson.dumps(one._asdict(), option=orjson.OPT_APPEND_NEWLINE) for one in found
                )
            else:
                _print(console(), read, measured, found)
            sys.stdout.flush()  # the user reads the findings while the report is made
            unread = _report_unread(read, paths)
            if export is not None:
                with _refusals(export):
                    database.export(export)
            if out is not None or opened:
                page = _write_report(database.client, measured, found, out or folder)
                if out is None:
                    page = Path(shutil.copy(page, Path(tempfile.mkdtemp(prefix="counterflow-report-"))))
                click.echo(page, err=as_json)
                if opened:
                    webbrowser.open(page.resolve().as_uri())
            elif sys.stdout.isatty() and not as_json:
                errors.print("note: `--open` shows the report with its charts, `--out FOLDER` writes it", markup=False)
    ctx.exit(1 if unread else 0)


def _end(number: int, _frame: object) -> None:
    """Exit with the status of a program that a signal ends, but close the engine and remove temporary files."""
    sys.exit(128 + number)


@contextmanager
def _refusals(*folders: Path) -> Iterator[None]:
    """Raise a refusal by the disk, to this process or its engine, as `CounterflowError`; `folders` are written to."""
    from counterflow.base.clickhouse import ClickHouseError

    hint = f"look needs room in {tempfile.gettempdir()} (TMPDIR names another), in --keep and in --out"
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        place = error.filename or " or ".join(map(str, folders))
        raise CounterflowError(f"{place}: {error.strerror or error}", hint=hint, exit_code=2) from None
    except ClickHouseError as error:
        text = str(error).partition("DB::Exception: ")[2].partition(". (")[0] or str(error)
        raise CounterflowError(f"the database refused: {text}", hint=hint, exit_code=2) from None


def _try(folder: Path) -> None:
    """Before anything is read, refuse a folder that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        hint = "name a folder that this user may write to"
        raise CounterflowError(f"{folder}: {error.strerror or error}", hint=hint, exit_code=2) from None


def _written(out: Path | None, keep: Path | None, export: Path | None) -> set[Path]:
    """Return the files and folders that a look with these options writes."""
    from counterflow.look.database import parts

    page = [out / "report.html"] if out else []
    written = chain(page, parts(keep) if keep else (), export.glob("*.parquet") if export else ())
    return {path.resolve() for path in written}


def _files(paths: tuple[Path, ...], folder: Path, written: Collection[Path]) -> Iterator[Path]:
    """Yield the files below the paths, sorted within a folder; `-` and remote files are copied into `folder`."""
    for path in local(paths, folder):
        if path.is_dir():
            yield from sorted(_below(path, written))
        else:
            yield path


def _below(folder: Path, written: Collection[Path]) -> Iterator[Path]:
    """Yield the files below a folder, but none that this look writes, and none of another database or stack."""
    from counterflow.schemas import vintage

    for name, folders, files in os.walk(folder):
        place, resolved = Path(name), Path(name).resolve()
        if (place / vintage.FILE).exists() and resolved not in written:
            folders.clear()
            continue
        folders[:] = [found for found in folders if resolved / found not in written]
        yield from (place / found for found in files if resolved / found not in written and (place / found).is_file())


def _print(out: Console, read: list[Read], measured: Mapping[str, Measured], found: list[Finding]) -> None:
    from counterflow.analysis.findings import worst_first

    begin, end, records, _ = reduce(add, measured.values())
    number = sum(one.error is None for one in read)
    files = "1 file" if number == 1 else f"{number:,} files"
    systems = "1 system" if len(measured) == 1 else f"{len(measured):,} systems"
    out.print(f"{files} read; {records:,} records of {systems}, {begin:%F %T} to {end:%F %T} UTC\n", highlight=False)
    by_system = worst_first(found)
    shown = _SYSTEMS if out.is_terminal else len(by_system)
    for system, of in islice(by_system.items(), shown):
        out.print(Text(inert(system), "bold"))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for one in of:
            severity = Text(f"  {one.severity:<5}", _STYLES[one.severity])
            words = severity, Text(one.at[:16], "dim"), Text(inert(one.finding))
            if out.is_terminal:
                table.add_row(*words)
            else:  # one line per finding, whatever its length
                click.echo("  ".join(word.plain for word in words))
        if out.is_terminal:
            out.print(table)
    if (more := len(by_system) - shown) > 0:
        out.print(
            f"\n{more:,} more systems, none worse; `--json` prints all findings, `--out` writes all into the report"
        )


def _report_unread(read: list[Read], named: tuple[Path, ...]) -> int:
    """Name the files without a record and return how many; a file that describes its folder does not count."""
    unread = [one for one in read if one.error]
    for about in [one for one in unread if one.path not in named and _DESCRIBES.match(one.path.name)]:
        unread.remove(about)
        errors.print(inert(f"note: {about.name} is no recording"), markup=False)
    for one in unread[:_SHOWN]:
        errors.print(inert(f"error: {one.name}: {one.error}"), markup=False)
    if len(unread) > _SHOWN:
        errors.print(f"error: {len(unread) - _SHOWN:,} more files gave no record")
    return len(unread)


def _write_report(client: ClickHouse, measured: Mapping[str, Measured], found: list[Finding], folder: Path) -> Path:
    from counterflow.analysis.findings import worst_first
    from counterflow.cli.report import write
    from counterflow.dashboards.report.collect import collect
    from counterflow.look.chapters import chapters

    by_system = worst_first(found)
    shown, left_out = chapters(client, measured, list(by_system))
    notes = (
        [f"Charts of the {len(shown)} systems with the worst findings; {_OTHERS.format(left_out)}"] if left_out else []
    )
    begin, end, records, _ = reduce(add, measured.values())
    report = collect(client, begin, end, sorted(measured), chapters=shown)._replace(
        systems=sorted(measured),
        vanished=(),
        records=records,
        findings=list(chain.from_iterable(by_system.values())),
        notes=notes,
    )
    for title, text in report.failed:
        errors.print(inert(f"warning: {title}: {text}"), markup=False)
    return write(report, folder, pictures=False)

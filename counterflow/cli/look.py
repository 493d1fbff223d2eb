"""`counterflow look`: states from recordings what limited their systems, and writes a report, without any service."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce
from itertools import chain, groupby, islice
from operator import add, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._files import (
    Given,
    called,
    errors,
    given,
    local,
    read_all,
    reading_options,
    recordings,
    report_beside,
    report_unread,
    with_progress,
)
from counterflow.cli._folder import Folder
from counterflow.cli._json import write_json
from counterflow.cli._table import console
from counterflow.recordings.given import ReadingOptions, lies_beside

if TYPE_CHECKING:
    from counterflow.analysis.findings import Finding
    from counterflow.recordings.database import Database
    from counterflow.recordings.reading import Read
    from counterflow.recordings.results import RecordedSpan

_STYLES = {"limit": "bold red", "watch": "yellow", "note": ""}
_SHOWN = 12
"""Maximum number of files without a record that are named."""
_SYSTEMS = 8
"""Systems whose findings a terminal shows; a pipe gets those of all."""
_MAIN = {"system_cpu": "no processors", "pool": "no memory", "disk": "no disks"}


def _list(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    from counterflow.collectors.formats import summaries

    if wanted:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for name, text in summaries().items():
            table.add_row(name, Text(text))
        console().print(table)
        ctx.exit()


@click.command()
@click.argument("files", nargs=-1, required=True, type=Given())
@click.option("--summary", is_flag=True, help="Each file's figures and data quality on one screen.")
@click.option("--records", is_flag=True, help="Its records and anomalies, one JSON object a line.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a finding, or a summary.")
@reading_options
@click.option("--out", type=Folder(), help="Write report.html into this folder.")
@click.option("--open", "opened", is_flag=True, help="Show the report in the browser.")
@click.option("--keep", type=Folder(), help="Keep the database; read what is new.")
@click.option("--export", type=Folder(), help="Write each dataset as Parquet.")
@click.option(
    "--formats", is_flag=True, is_eager=True, expose_value=False, callback=_list, help="List the formats, and stop."
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[Path, ...],
    summary: bool,
    records: bool,
    as_json: bool,
    options: ReadingOptions,
    **written: Any,
) -> None:
    """Read files and folders, and state what limited their systems.

    Needs no service, no network and no root. A folder stands for all files below it.

    Exit status 0: every file was read; 1: a file gave no figures; 2: none did, or a folder cannot be written to.
    """
    if not (summary or records):
        ctx.exit(1 if _look(files, options, as_json=as_json, **written) else 0)
    if summary and records:
        raise click.UsageError("give --summary or --records, not both")
    if any(written.values()):
        raise click.UsageError("--out, --open, --keep and --export are of the findings, not of --summary or --records")
    read = partial(read_all, named=files, options=options)
    from counterflow.cli._summary import summarise, write_records

    found = recordings(files)
    unread = write_records(found, read) if records else summarise(found, read, as_json=as_json)
    ctx.exit(1 if unread else 0)


def _look(
    paths: tuple[Path, ...],
    options: ReadingOptions,
    *,
    as_json: bool,
    out: Path | None,
    opened: bool,
    keep: Path | None,
    export: Path | None,
) -> int:
    """Compute and print the findings, and write what options request; return the number of files without figures."""
    from counterflow.recordings.database import Database, parts
    from counterflow.recordings.looking import refusals

    with (
        _ended_by_signal(),
        refusals(*filter(None, (keep,))),
        tempfile.TemporaryDirectory(prefix="counterflow-") as temporary,
    ):
        for written in filter(None, (out, keep, export)):
            _try(written)
        folder = Path(temporary)
        page = [out / "report.html"] if out else []  # what this look writes is not read
        made = chain(page, parts(keep) if keep else (), export.glob("*.parquet") if export else ())
        files = given(local(paths, folder), {path.resolve() for path in made})
        with Database(keep) as database:
            read_into(database, files, options)
            if not database.measured:
                report_unread_files(database.reads, paths)
            database.require_intervals()
            if as_json:
                write_json(one._asdict() for one in database.findings)
            else:
                _print(console(), database.reads, database.measured, database.findings)
            sys.stdout.flush()  # the user reads the findings while the report is made
            unread = report_unread_files(database.reads, paths)
            if export is not None:
                with refusals(export):
                    database.export(export)
            if out is not None or opened:
                report = _report(database, out or folder)
                if out is None:
                    report = Path(shutil.copy(report, Path(tempfile.mkdtemp(prefix="counterflow-report-"))))
                click.echo(report, err=as_json)
                if opened:
                    webbrowser.open(report.resolve().as_uri())
            elif sys.stdout.isatty() and not as_json:
                errors.print("note: `--open` shows the report with its charts, `--out FOLDER` writes it", markup=False)
    return unread


def read_into(database: Database, files: list[Path], options: ReadingOptions) -> None:
    """Read files into a database and compute its results; report on standard error where --zone is missing."""
    names = {path: called(path) for path in files if called(path) != str(path)}
    reads = database.read(files, options, names)
    list(with_progress(reads, len(files)))
    _report_assumed(database.reads)
    database.compute()


def _report_assumed(reads: list[Read]) -> None:
    """Report files whose times were read in a zone that nobody named, once for all files of a format."""
    from counterflow.collectors.needs import ZONE_ASSUMED, Need

    local = sorted((one.format or "", one.name) for one in reads if one.zone_assumed)
    for form, found in groupby(local, itemgetter(0)):
        names = [name for _, name in found]
        need = Need("--zone", form, len(names), Path(names[0]), ZONE_ASSUMED)
        errors.print(inert(f"note: {need}"), markup=False)


def _report(database: Database, folder: Path) -> Path:
    report = database.report(folder)
    for title, text in report.failed:
        errors.print(inert(f"warning: {title}: {text}"), markup=False)
    return report.page


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """At SIGTERM leave the block, which closes the engine and removes temporary files; exit with the signal's status.

    Where the signal interrupts a library between two steps, cleaning up may raise an error of its own.
    """
    received: list[int] = []

    def end(number: int, _: object) -> None:
        received.append(number)
        sys.exit()

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    except BaseException:
        if received:
            sys.exit(128 + received[0])
        raise


def _try(folder: Path) -> None:
    """Before anything is read, refuse a folder that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        hint = "name a folder that this user may write to"
        raise CounterflowError(f"{folder}: {error.strerror or error}", hint=hint, exit_code=2) from None


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _print(out: Console, read: list[Read], measured: Mapping[str, RecordedSpan], found: list[Finding]) -> None:
    from counterflow.analysis.findings import worst_first

    begin, end, records, _ = reduce(add, measured.values())
    number = sum(one.error is None for one in read)
    systems = "1 system" if len(measured) == 1 else f"{len(measured):,} systems"
    out.print(
        f"{_files(number)} read; {records:,} records of {systems}, {begin:%F %T} to {end:%F %T} UTC\n", highlight=False
    )
    by_system = {
        **worst_first(found),
        **{system: [] for system in sorted(measured.keys() - {one.system for one in found})},
    }
    shown = _SYSTEMS if out.is_terminal else len(by_system)
    for system, of in islice(by_system.items(), shown):
        out.print(Text(inert(system), "bold"))
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for one in of:
            severity = Text(f"  {one.severity:<5}", _STYLES[one.severity])
            words = severity, Text(f"{(one.at or '')[:16]:16}", "dim"), Text(inert(one.finding))
            if out.is_terminal:
                table.add_row(*words)
            else:  # one line per finding, whatever its length
                click.echo("  ".join(word.plain for word in words))
        if not of:
            table.add_row(nothing := Text(f"  nothing to state: {_lacking(measured[system])}"))
            if not out.is_terminal:
                click.echo(nothing.plain)
        if out.is_terminal:
            out.print(table)
    if (more := len(by_system) - shown) > 0:
        out.print(
            f"\n{more:,} more systems, none worse; `--json` prints all findings, `--out` writes all into the report"
        )


def _lacking(of: RecordedSpan) -> str:
    """Return what a system without a finding recorded, and what it did not."""
    recorded = ", ".join(sorted(name for name in of.datasets if "/" not in name and name != "manifest"))
    lacks = [f", {words}" for dataset, words in _MAIN.items() if dataset not in of.datasets]
    return f"no rule found anything in what was recorded: {recorded}{''.join(lacks)}"


def report_unread_files(read: list[Read], named: tuple[Path, ...]) -> int:
    """Name the files without figures and return how many; one that lies beside recordings does not count."""
    unread = [one for one in read if one.error]
    for about in [one for one in unread if lies_beside(one.name, named)]:
        unread.remove(about)
        report_beside(about.name)
    for one in unread[:_SHOWN]:
        report_unread(one.name, one.line, one.error or "")
    if (more := len(unread) - _SHOWN) > 0:
        errors.print(
            f"error: {more:,} more file{'s' if more > 1 else ''} gave no record; `counterflow look --records` names all"
        )
    return len(unread)

"""`counterflow mcp`: answers for an assistant, by the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.cli._files import Given, given, local, reading_options, temporary
from counterflow.cli._reader import connection, kept, on_option
from counterflow.recordings.given import ReadingOptions


@click.command()
@click.argument("files", nargs=-1, type=Given())
@on_option
@reading_options
def command(files: tuple[Path, ...], options: ReadingOptions) -> None:
    """Answer an assistant over standard input and output, by the Model Context Protocol.

    With FILES it answers about these, as `look` does, else about the running stack. Its tools are the stored questions,
    `doctor`, `what_changed` and `sql`, which reads alone, within limits of rows, time and memory.
    """
    from counterflow.cli._assistant import LIMITS, serve

    if Path("-") in files or (files and kept()):
        raise click.UsageError("give FILES or --on; standard input is the assistant's")
    if not files:
        with connection(LIMITS) as asked:
            serve(asked)
        return
    from counterflow.cli.look import read_into, report_unread_files
    from counterflow.recordings.database import Database
    from counterflow.recordings.looking import refusals

    with refusals(), Database(limits=LIMITS) as database:
        read_into(database, given(local(files, temporary())), options)
        report_unread_files(database.reads, files)
        database.require_intervals()
        serve(database)

"""`counterflow publish`: back-fills recordings, every record exactly once."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.cli._files import (
    Given,
    NotEmpty,
    bytes_progress,
    called,
    errors,
    reading_options,
    recordings,
    report_beside,
    with_progress,
)
from counterflow.cli._json import write_json
from counterflow.recordings.given import ReadingOptions, lies_beside, size_of


@click.command()
@click.argument("files", nargs=-1, required=True, type=Given())
@reading_options
@click.option("--agent-id", default="publish", show_default=True, help="Name under which each file is published once.")
@click.option("--run", type=NotEmpty(), help="Label of the measurement run, added to every record.")
@click.option("--again", is_flag=True, help="Publish files again that were already published under this name.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[Path, ...],
    options: ReadingOptions,
    agent_id: str,
    run: str | None,
    again: bool,
    as_json: bool,
) -> None:
    """Publish whole recordings; those below a folder sorted by name.

    A killed run resumes at its last commit; files already published are skipped. Exit status 1: a file gave no record;
    the others were published.
    """
    import logging
    import re
    import time

    from rich.table import Table

    from counterflow.base.inert import inert
    from counterflow.base.logs import configure
    from counterflow.base.stopping import stopping
    from counterflow.cli._table import console
    from counterflow.collectors.agent.config import AGENT_ID
    from counterflow.collectors.agent.publish import publish_files
    from counterflow.collectors.agent.publisher import Stopped
    from counterflow.collectors.needs import needed
    from counterflow.collectors.sources.files import unicode
    from counterflow.stack.settings import StackSettings

    if not re.match(AGENT_ID, agent_id):
        raise click.BadParameter("may contain letters, digits, dot, dash and underscore", param_hint="--agent-id")
    configure(logging.ERROR)
    stack = StackSettings.running()
    kafka = stack.kafka("agent")
    paths = recordings(files, stack.home / "remote")
    for need in needed(with_progress(paths, len(paths), "checking"), *options):
        errors.print(inert(f"note: {need._replace(example=Path(called(need.example)))}"), markup=False)
    size = sum(map(size_of, paths))
    began = time.monotonic()
    with bytes_progress() as bar:
        task = bar.add_task("publishing", total=size)
        done: dict[Path, int] = {}

        def progress(path: Path, published: int, _size: int) -> None:
            done[path] = published
            bar.update(task, description=inert(path.name), completed=sum(done.values()))

        stop = stopping()  # not before: nothing looks at it while input is copied and checked
        try:
            published = publish_files(
                paths,
                kafka=kafka,
                agent_id=agent_id,
                zone=options.zone.key,
                date_order=options.date_order,
                at=options.at,
                system=options.system,
                run=run,
                again=again,
                progress=progress,
                stop=stop,
            )
        except Stopped:
            errors.print("stopped; the same command resumes at the last commit")
            ctx.exit(130)
    seconds = time.monotonic() - began
    failures = dict(published.failures)
    for path in [path for path in failures if lies_beside(path, files)]:
        del failures[path]
        report_beside(path)
    if as_json:
        skipped = [unicode(str(path)) for path in published.skipped]
        counted = {**published._asdict(), "failures": failures, "skipped": skipped}
        write_json([{**counted, "seconds": round(seconds, 3)}])
    else:
        total = sum(published.records.values())
        table = Table("", "", "count", box=None, show_header=False)
        for kind, counts in (("records", published.records), ("anomalies", published.rejects)):
            for name, n in sorted(counts.items(), key=lambda item: -item[1]):
                table.add_row(kind, name, f"{n:,}")
        out = console()
        out.print(table)
        out.print(f"{total:,} records of {len(paths)} files published in {seconds:.1f} s")
        if published.skipped:
            out.print(f"{len(published.skipped)} files were already published under `{agent_id}`; --again repeats them")
    for path, why in failures.items():
        errors.print(inert(f"error: {path}: {why}"), markup=False)
    ctx.exit(1 if failures else 0)

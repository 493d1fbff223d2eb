"""`counterflow jobs`: the Flink jobs of the one-machine stack."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.cli._folder import Folder
from counterflow.cli._group import Group
from counterflow.cli._json import write_json
from counterflow.cli._reader import lander
from counterflow.cli._times import TIME

if TYPE_CHECKING:
    from counterflow.base.errors import CounterflowError
    from counterflow.pipelines.submission import Cluster, Submission

_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of text.")
_names = click.argument("names", metavar="[JOB]...", nargs=-1)


@click.group(cls=Group)
def command() -> None:
    """Submit, list, cancel and rerun the jobs that compute results."""


@command.command()
@_names
@_json
@click.option("--watch", is_flag=True, help="Keep running, and resubmit jobs that stopped.")
def submit(names: tuple[str, ...], as_json: bool, watch: bool) -> None:
    """Start jobs (default: all) from their newest checkpoint; a running job is left alone."""
    from counterflow.pipelines import jobs, submission

    def report(found: Submission | CounterflowError) -> None:
        if isinstance(found, submission.Submission):
            _write(
                as_json,
                vars(found),
                f"{found.job} {found.what}"
                + f" from {found.checkpoint}" * bool(found.checkpoint)
                + f", since it did not come back from {', '.join(found.given_up)}" * bool(found.given_up),
            )
        else:
            _write(as_json, {"error": found.message}, found.message)

    def tried(found: Submission | CounterflowError) -> None:
        with suppress(OSError):  # a full log disk does not end the process
            report(found)

    if watch:
        submission.watch(_cluster(), tried, jobs=jobs.chosen(names))
    for submitted in submission.submit(_cluster(), jobs.chosen(names)):
        report(submitted)


@command.command("list")
@_json
def listing(as_json: bool) -> None:
    """Show the jobs: their state, the age of their newest checkpoint, their newest failure."""
    from counterflow.cli._table import console, table
    from counterflow.pipelines import submission

    found = submission.listing(_cluster())
    if as_json:
        write_json(map(vars, found))
        return
    now = datetime.now(UTC)
    rows = [
        {
            "job": status.job,
            "state": status.state,
            "started": status.started and f"{status.started:%F %T}",
            "checkpoint age": status.checkpointed and str(now - status.checkpointed).partition(".")[0],
            "newest failure": status.problem,
        }
        for status in found
    ]
    console(soft_wrap=True).print(table(rows))


@command.command()
@_names
@_json
def cancel(names: tuple[str, ...], as_json: bool) -> None:
    """Cancel jobs (default: all); `submit` resumes them where they were."""
    from counterflow.pipelines import jobs, submission

    for name in submission.cancel(_cluster(), jobs.chosen(names)):
        _write(as_json, {"job": name, "what": "cancelled"}, f"{name} cancelled")


@command.command()
@_names
@click.option("--from", "begin", type=TIME, required=True, help="First interval end; UTC by default.")
@click.option("--to", "end", type=TIME, required=True, help="Up to, but excluding, this interval end.")
@click.option("--system", help="Only this system.")
@_json
def rerun(names: tuple[str, ...], begin: datetime, end: datetime, system: str | None, as_json: bool) -> None:
    """Compute results again (default: of all jobs) from what landed in the tables.

    Use it for intervals that stay incomplete because their rows arrived so far apart that the running job had dropped
    its state, and for rows that later ones replaced: a running job takes the first. Verdicts are given again by the
    rules; those that follow the period are left as they are.
    """
    from counterflow.pipelines import batch, jobs

    if end <= begin:
        raise click.BadParameter(f"{end} is not after {begin}", param_hint="--to")
    selected = jobs.chosen(names)
    with lander() as client:
        written = batch.run(client, selected, begin, end, system)
    for dataset, rows in written.items():
        _write(as_json, {"dataset": dataset, "rows": rows}, f"{dataset}: {rows:,} rows")


@command.command()
@click.argument("name", metavar="JOB")
@click.option("--to", required=True, type=Folder(), help="Target folder, created if missing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the path of each file.")
def render(name: str, to: Path, as_json: bool) -> None:
    """Write the files of a job for a dedicated Flink cluster in application mode.

    docs/kubernetes.md describes how to start it.
    """
    from counterflow.pipelines.jobs import chosen
    from counterflow.pipelines.submission.render import write
    from counterflow.schemas.definition import datasets
    from counterflow.stack.jobs import connection
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.load()
    [job] = chosen([name])
    written = write(
        job, datasets(), bootstrap=settings.kafka_bootstrap, connection=connection(settings), to=to.absolute()
    )
    if as_json:
        write_json([{"job": job.name, "files": [str(path) for path in written]}])
        return
    for path in written:
        click.echo(path)


def _write(as_json: bool, fields: dict[str, object], text: str) -> None:
    if as_json:
        write_json([fields])
    else:
        click.echo(text)


def _cluster() -> Cluster:
    from counterflow.stack.jobs import cluster
    from counterflow.stack.settings import StackSettings

    return cluster(StackSettings.running())

"""`counterflow report`: one HTML file about a period, to read, share and print."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from counterflow.base.inert import inert
from counterflow.cli._folder import Folder
from counterflow.cli._json import write_json
from counterflow.cli._reader import kept, on_option, period_options, reader


@click.command()
@on_option
@period_options
@click.option(
    "--study",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Runs to compare, as `study compare` does, the baseline first; the period defaults to theirs.",
)
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="Set a board's variable: grouping=user.")
@click.option(
    "--out",
    "folder",
    type=Folder(),
    default="report",
    show_default=True,
    help="Folder to write to; created if missing.",
)
@click.option("--pictures/--no-pictures", default=True, show_default=True, help="Also write each chart as SVG and PNG.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the path of the page.")
@click.pass_context
def command(
    ctx: click.Context,
    begin: datetime | None,
    end: datetime | None,
    systems: tuple[str, ...],
    runs: tuple[str, ...],
    chosen: tuple[str, ...],
    folder: Path,
    pictures: bool,
    as_json: bool,
) -> None:
    """Write the measurements of a period as one HTML file.

    It needs no network and no server.

    Without --from and --to the report covers all that was recorded.

    Exit status 0: complete; 1: written, but the query of a chart failed; 2: not written.
    """
    from counterflow.connection.report import of_period

    if len(runs) == 1 or len(set(runs)) < len(runs):
        raise click.UsageError("--study needs at least two different runs, the baseline first")
    if begin and end and begin >= end:
        raise click.UsageError("--from must be before --to")
    wanted = dict(map(_setting, chosen))
    with reader() as client:
        report = of_period(client, folder, systems, begin, end, runs=runs, chosen=wanted, pictures=pictures)
    for title, text in report.failed:
        click.echo(inert(f"warning: {title}: {text}"), err=True)
    if as_json:
        drawn = report.drawn if pictures else 0
        result = {"page": str(report.page), "from": report.begin, "to": report.end, "pictures": drawn}
        failed = [{"chart": title, "error": text} for title, text in report.failed]
        write_json([{**result, "failed": failed}])
    else:
        click.echo(report.page)
    if not kept() and not as_json:
        from counterflow.stack.settings import StackSettings

        if (settings := StackSettings.load()).grafana:
            url = settings.board_url("cf-fleet", report.begin, report.end, {"system": systems} if systems else {})
            click.echo(f"the same range in Grafana: {url}", err=True)
    ctx.exit(1 if report.failed else 0)


def _setting(text: str) -> tuple[str, str]:
    """Return the variable and the value of a `NAME=VALUE`."""
    from counterflow.dashboards.definition import variables

    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--set: expected NAME=VALUE, found `{text}`")
    if name not in variables():
        raise click.UsageError(f"--set accepts {', '.join(variables())}, not {name}")
    choices = variables()[name].values
    if choices and value not in choices:
        raise click.UsageError(f"--set {name} accepts {', '.join(choices)}, not {value}")
    return name, value

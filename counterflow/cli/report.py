"""`counterflow report`: one HTML file about a period, to read, share and print."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.base.inert import inert
from counterflow.cli._reader import kept, nothing_recorded, on_option, reader
from counterflow.cli._times import TIME

if TYPE_CHECKING:
    from counterflow.analysis.studies.compare import Comparison
    from counterflow.base.clickhouse import ClickHouse


@click.command()
@on_option
@click.option("--from", "begin", type=TIME, help="Start of the period; UTC by default.")
@click.option("--to", "end", type=TIME, help="End of the period.")
@click.option("--system", "systems", multiple=True, help="Only this system; may be repeated.")
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
    type=click.Path(file_okay=False, path_type=Path),
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
    from counterflow.analysis.findings import findings, worst_first
    from counterflow.analysis.studies.compare import compare
    from counterflow.analysis.studies.stored import read_run
    from counterflow.dashboards.report.collect import collect
    from counterflow.dashboards.report.written import write

    if len(runs) == 1 or len(set(runs)) < len(runs):
        raise click.UsageError("--study needs at least two different runs, the baseline first")
    wanted = dict(map(_setting, chosen))
    if runs:
        wanted = {"baseline": runs[0], "scenario": runs[1], **wanted}
    with reader() as client:
        comparison = compare([read_run(client, name) for name in runs]) if runs else None
        first, last = _range(client, systems, begin, end, comparison)
        report = collect(client, first, last, systems, wanted)
        if not report.records and comparison is None:
            raise nothing_recorded(client, f"from {first:%F %T} to {last:%F %T} UTC")
        found = worst_first(findings(client, systems, f"{first:%F %T}", f"{last:%F %T}"))
        report = report._replace(findings=[one for of in found.values() for one in of])
    if comparison:
        from counterflow.analysis.studies.pictured import side_by_side

        report = report._replace(comparison=side_by_side(comparison))
    written = write(report, folder, pictures=pictures)
    for title, text in report.failed:
        click.echo(inert(f"warning: {title}: {text}"), err=True)
    if as_json:
        import orjson

        result = {"page": str(written), "from": first, "to": last, "pictures": len(report.drawn) if pictures else 0}
        failed = [{"chart": title, "error": text} for title, text in report.failed]
        click.echo(orjson.dumps({**result, "failed": failed}, option=orjson.OPT_UTC_Z).decode())
    else:
        click.echo(written)
    if not kept() and not as_json:
        from counterflow.cli._links import board_url
        from counterflow.stack.settings import StackSettings

        if (settings := StackSettings.load()).grafana:
            url = board_url(settings, "cf-fleet", first, last, {"system": systems} if systems else {})
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


def _range(
    client: ClickHouse,
    systems: tuple[str, ...],
    begin: datetime | None,
    end: datetime | None,
    comparison: Comparison | None,
) -> tuple[datetime, datetime]:
    """Return the period: the given one, else that of the compared runs, else all that was recorded of the systems."""
    if comparison:
        begin = begin or datetime.fromtimestamp(min(run.run.begin_s for run in comparison.runs), UTC)
        end = end or datetime.fromtimestamp(max(run.run.end_s for run in comparison.runs), UTC)
    if begin is None or end is None:
        [reached] = client.rows(
            "SELECT toUnixTimestamp(min(first_ts)) AS begin, toUnixTimestamp(max(last_ts)) + 1 AS end, "
            "toUInt64(count()) AS days FROM counterflow.system_day "
            "WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)",
            {"param_systems": sorted(systems)},
        )
        if not reached["days"]:
            raise nothing_recorded(client, f"of {', '.join(systems) or 'any system'}")
        begin = begin or datetime.fromtimestamp(reached["begin"], UTC)
        end = end or datetime.fromtimestamp(reached["end"], UTC)
    if begin >= end:
        raise click.UsageError("--from must be before --to")
    return begin, end

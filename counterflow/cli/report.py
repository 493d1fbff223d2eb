"""`counterflow report`: one HTML file of a range, to read, to hand on and to print."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._reader import reader
from counterflow.cli._times import TIME, utc
from counterflow.cli.study import run_of

if TYPE_CHECKING:
    from counterflow.analysis.studies.compare import Comparison
    from counterflow.dashboards.report.collect import Report
    from counterflow.dashboards.report.figures import Table

_MOST_AT_ONCE = 4
"""Processes that draw; each takes 100 MB."""
_HEADINGS = {"cpu": "CPU", "io": "I/O"}


@click.command()
@click.option("--from", "begin", type=TIME, callback=utc, help="Begin of the range; UTC by default.")
@click.option("--to", "end", type=TIME, callback=utc, help="Its end.")
@click.option("--system", "systems", multiple=True, help="About this system only; may be repeated.")
@click.option(
    "--study",
    "runs",
    multiple=True,
    metavar="RUN",
    help="Runs to set side by side, as `study compare` does, the baseline first; the range is theirs by default.",
)
@click.option("--set", "chosen", multiple=True, metavar="NAME=VALUE", help="Choose as on a board: grouping=user.")
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="report",
    show_default=True,
    help="Folder to write to; it is made.",
)
@click.option("--pictures/--no-pictures", default=True, show_default=True, help="Also each chart as SVG and PNG.")
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
) -> None:
    """Write what was measured from --from to --to as report.html, which needs no network and no server.

    Exit status 0: all is in it; 1: written, but a chart could not be asked; 2: it could not be made.
    """
    from counterflow.analysis.studies.compare import compare
    from counterflow.dashboards.definition import variables
    from counterflow.dashboards.report.collect import collect

    if len(runs) == 1 or len(set(runs)) < len(runs):
        raise click.UsageError("--study takes two runs or more, the baseline first, each once")
    wanted = {name: value for name, _, value in (one.partition("=") for one in chosen)}
    if unknown := wanted.keys() - variables().keys():
        known = ", ".join(variables())
        raise click.UsageError(f"--set knows {known}, not {', '.join(sorted(unknown))}")
    if runs:
        wanted = {"baseline": runs[0], "scenario": runs[1], **wanted}
    with reader() as client:
        comparison = compare([run_of(client, name) for name in runs]) if runs else None
        report = collect(client, *_range(begin, end, comparison), systems, wanted)
    if comparison:
        report = report._replace(comparison=side_by_side(comparison))
    written = write(report, folder, pictures=pictures)
    for title, text in report.failed:
        click.echo(inert(f"warning: {title}: {text}"), err=True)
    click.echo(written)
    ctx.exit(1 if report.failed else 0)


def _range(begin: datetime | None, end: datetime | None, comparison: Comparison | None) -> tuple[datetime, datetime]:
    if comparison:
        begin = begin or datetime.fromtimestamp(min(run.run.begin_s for run in comparison.runs), UTC)
        end = end or datetime.fromtimestamp(max(run.run.end_s for run in comparison.runs), UTC)
    if begin is None or end is None:
        raise click.UsageError("say --from and --to, or --study")
    if begin >= end:
        raise click.UsageError("--from must be before --to")
    return begin, end


def side_by_side(comparison: Comparison) -> list[tuple[str, Table]]:
    """Return runs side by side as tables, what is to be known of each run first."""
    from counterflow.analysis.studies import written
    from counterflow.dashboards.report.figures import simple

    heads = list(written.header(comparison.runs))
    listed = [("Runs", simple(list(heads[0]), [list(head.values()) for head in heads]))]
    for name, rows in written.tables(comparison).items():
        cells = [dict(written.cells(row, comparison.runs)) for row in rows]
        heading = _HEADINGS.get(name, name.capitalize())
        listed.append((heading, simple(list(cells[0]), [list(one.values()) for one in cells])))
    return listed


def write(report: Report, folder: Path, *, pictures: bool) -> Path:
    """Write the page, and each chart as a picture; returns the page."""
    try:
        from counterflow.dashboards.report import page
    except ModuleNotFoundError as missing:
        raise CounterflowError(
            f"the report needs {missing.name}, which is not installed",
            hint="pip install 'counterflow[report]'",
            exit_code=2,
        ) from None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.html").write_text(page.html(report), encoding="utf-8")
    if pictures:
        (folder / "charts").mkdir(exist_ok=True)
        # A chart takes a quarter of a second of one core, and threads share one. Not forked: what draws has threads.
        with ProcessPoolExecutor(min(_MOST_AT_ONCE, os.cpu_count() or 1), get_context("spawn")) as pool:
            for figure, drawn in zip(report.figures, pool.map(page.pictures, report.figures), strict=True):
                for ending, data in drawn.items():
                    (folder / "charts" / f"{figure.chart.name}.{ending}").write_bytes(data)
    return folder / "report.html"

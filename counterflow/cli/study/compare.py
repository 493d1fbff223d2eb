"""`counterflow study compare`: labelled runs side by side."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from counterflow.base.inert import inert
from counterflow.cli._json import write_json
from counterflow.cli._reader import on_option, reader
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.studies.compare import Comparison


@click.command()
@on_option
@click.option("--baseline", required=True, metavar="RUN", help="Label of the run to compare the others with.")
@click.option("--scenario", "scenarios", required=True, multiple=True, metavar="RUN", help="May be repeated.")
@click.option("--warm-up", "warm_up_s", type=click.FloatRange(0, 1e6), help="Seconds; overrides the configured one.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Components per system.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="CSV and JSON have all components, unrounded.",
)
@click.option("--json", "form", flag_value="json", help="As --format json.")
def command(baseline: str, scenarios: tuple[str, ...], warm_up_s: float | None, top: int, form: str) -> None:
    """Compare labelled runs: figures per second and per unit of work, and their differences.

    A run is the label of its records (`publish --run`), or an entry of `runs` in the site file.
    docs/studies/compare.md defines each figure.
    """
    from counterflow.analysis.studies import written
    from counterflow.analysis.studies.compare import compare
    from counterflow.analysis.studies.stored import read_run

    names = (baseline, *scenarios)
    if len(set(names)) < len(names):
        raise click.UsageError("a run cannot be compared with itself")
    with reader() as client:
        comparison = compare([read_run(client, name, warm_up_s) for name in names])
    match form:
        case "csv":
            text = written.as_csv(comparison)
            click.echo(inert(text, keep="\n\t") if sys.stdout.isatty() else text, nl=False)
        case "json":
            write_json([written.as_dict(comparison)])
        case _:
            _print(comparison, top)


def _print(comparison: Comparison, top: int) -> None:
    from counterflow.analysis.studies import written
    from counterflow.analysis.studies.compare import largest
    from counterflow.analysis.studies.formulas import PRICE_PERFORMANCE

    out = console()
    out.print(table(list(written.header(comparison.runs))))
    for warning in comparison.warnings:
        out.print(f"warning: {inert(warning)}", style="yellow", markup=False)
    for name, rows in written.tables(comparison).items():
        shown = largest(rows, top) if name == "components" else rows
        out.print()
        out.print(table([dict(written.cells(row, comparison.runs)) for row in shown], name))
        if len(shown) < len(rows):
            out.print("and components that used less: --top", style="dim")
    for line in (PRICE_PERFORMANCE, *comparison.formulas) if comparison.formulas else ():
        out.print(inert(line), markup=False)

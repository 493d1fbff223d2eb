"""`counterflow study`: compares labelled runs, and recomputes published figures."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._group import Group
from counterflow.cli._reader import on_option, period, reader
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.studies.backtest import Prediction
    from counterflow.analysis.studies.compare import Comparison
    from counterflow.analysis.studies.figures import Measured
    from counterflow.analysis.studies.golden import Outcome
    from counterflow.base.clickhouse import ClickHouse


@click.group(cls=Group)
def command() -> None:
    """Compare labelled runs, and recompute the published figures of the studied documents."""


@command.command()
@on_option
@click.option("--baseline", required=True, metavar="RUN", help="Label of the run to compare the others with.")
@click.option("--scenario", "scenarios", required=True, multiple=True, metavar="RUN", help="May be repeated.")
@click.option("--warm-up", "warm_up_s", type=click.FloatRange(0, 1e6), help="Seconds; overrides the configured one.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Components per system.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "json"]),
    default="table",
    show_default=True,
    help="Markdown, CSV and JSON have all components; CSV and JSON are unrounded.",
)
@click.option("--json", "form", flag_value="json", help="As --format json.")
def compare(baseline: str, scenarios: tuple[str, ...], warm_up_s: float | None, top: int, form: str) -> None:
    """Compare labelled runs: figures per second and per unit of work, and their differences.

    A run is the label of its records (`publish --run`), or an entry of `runs` in the site file.
    docs/studies/compare.md defines each figure.
    """
    from counterflow.analysis.studies import written
    from counterflow.analysis.studies.compare import compare as compared

    names = (baseline, *scenarios)
    if len(set(names)) < len(names):
        raise click.UsageError("a run cannot be compared with itself")
    with reader() as client:
        comparison = compared([run_of(client, name, warm_up_s) for name in names])
    match form:
        case "markdown":
            click.echo(written.markdown(comparison))
        case "csv":
            text = written.as_csv(comparison)
            click.echo(inert(text, keep="\n\t") if sys.stdout.isatty() else text, nl=False)
        case "json":
            sys.stdout.buffer.write(orjson.dumps(written.as_dict(comparison), option=orjson.OPT_APPEND_NEWLINE))
        case _:
            _print(comparison, top)


@command.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, one per check; the last has the counts.")
@click.option(
    "--markdown", "as_markdown", is_flag=True, help="Only the error table of docs/studies/mirror-backtest.md."
)
@click.pass_context
def golden(ctx: click.Context, as_json: bool, as_markdown: bool) -> None:
    """Recompute the published figures of the studied documents, and predict the mirrored runs of Db2 Mirror.

    A document's own error must show: its numbers give another figure. docs/studies/golden.md lists them. A run that
    lies outside its predicted interval is known, with the reason; docs/studies/mirror-backtest.md lists the errors.
    Exit status 1: a figure is not as expected.
    """
    from counterflow.analysis.studies import backtest
    from counterflow.analysis.studies.golden import documents, outcomes, totals

    found = list(outcomes(documents()))
    predicted = backtest.predictions()
    failed = [p.id for p in predicted if not p.ok]
    counted = totals(found)
    failed = [*counted.pop("failed"), *failed]
    counted |= {**backtest.counted(), "failed": failed}
    if as_markdown:
        click.echo(backtest.markdown(), nl=False)
    elif as_json:
        lines = [*(outcome._asdict() for outcome in found), *(p._asdict() for p in predicted), counted]
        sys.stdout.buffer.writelines(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
    else:
        out = console()
        for document in dict.fromkeys(outcome.document for outcome in found):
            of = [outcome for outcome in found if outcome.document == document]
            out.print(table([_row(outcome) for outcome in of], f"{document}: {len(of)}"))
            out.print()
        out.print(table([_predicted(p) for p in predicted], "Db2 Mirror: mirrored runs, each from its own baseline"))
        out.print()
        out.print(
            f"{counted['checks']} checks: {counted['reproduced']} reproduced, {counted['source_errors']} errors of the "
            f"documents, {counted['counter_checks']} formula that must not match, {len(counted['failed'])} failed"
        )
        out.print(
            f"{counted['predictions']} figures of mirrored runs predicted from their own baselines, "
            f"{counted['within']} within their interval"
        )
    ctx.exit(1 if counted["failed"] else 0)


def _row(outcome: Outcome) -> dict[str, object]:
    stated = outcome.published if outcome.range is None else "{:g} to {:g}".format(*outcome.range)
    kind = {
        "reproduced": "reproduced",
        "cut": "reproduced: cut, not rounded",
        "source_error": f"the document states {stated}, its own numbers give {outcome.computed:.5g}"
        if outcome.computed is not None
        else "",
        "counter_check": "must not match, and does not",
    }[outcome.expect]
    return {
        "check": outcome.id,
        "what": outcome.what,
        "computed": None if outcome.computed is None else float(f"{outcome.computed:.6g}"),
        "document": stated,
        "unit": outcome.unit,
        "result": kind if outcome.ok else "FAILED",
        "place": outcome.place,
        "note": outcome.note,
    }


def _predicted(of: Prediction) -> dict[str, object]:
    error = None if of.error_pct is None else round(of.error_pct, 1)
    figures = {name: float(f"{value:.5g}") for name, value in (("predicted", of.predicted), ("low", of.low))}
    high = None if of.high is None else float(f"{of.high:.5g}")
    result = "FAILED" if not of.ok else "within" if of.inside else "outside, as known"
    stated = {"run": of.id, "published": of.published, **figures, "high": high, "error %": error}
    return {**stated, "unit": of.unit, "result": result, "note": of.note}


def run_of(client: ClickHouse, name: str, warm_up_s: float | None = None) -> Measured:
    """Return a labelled or configured run with its figures; a missing run raises with exit code 2."""
    from datetime import UTC, datetime

    from counterflow.analysis.studies.figures import SLACK_S, measured
    from counterflow.analysis.studies.runs import RunError, found
    from counterflow.analysis.studies.stored import OF_A_NAME, queries

    statements = queries()
    of_run = {"param_run": name}
    configured = client.rows(statements["configured"], of_run)
    stated = {line["name"] for line in configured if line["section"] == "run"}
    labelled = [] if {"begin", "end"} <= stated else client.rows(statements["labelled"], of_run)
    try:
        run = found(name, labelled, configured, warm_up_s)
        begin, end = (datetime.fromtimestamp(s, UTC) for s in (run.begin_s - SLACK_S, run.end_s + 2 * SLACK_S))
        during = period(run.systems, begin, end)
        rows = {of: client.rows(sql, during) for of, sql in statements.items() if of not in OF_A_NAME}
        return measured(run, rows)
    except RunError as error:
        raise CounterflowError(str(error), hint=error.hint, exit_code=2) from None


def _print(comparison: Comparison, top: int) -> None:
    from counterflow.analysis.studies import written
    from counterflow.analysis.studies.compare import largest
    from counterflow.analysis.studies.price import FORMULA

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
    for line in (FORMULA, *comparison.formulas) if comparison.formulas else ():
        out.print(inert(line), markup=False)

"""`counterflow study golden`: recomputes the published figures of the studied documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from counterflow.cli._json import write_json
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.studies.backtest import Prediction
    from counterflow.analysis.studies.golden import Recomputed


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, one per check; the last has the counts.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
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
    if as_json:
        write_json([*(outcome._asdict() for outcome in found), *(p._asdict() for p in predicted), counted])
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


def _row(outcome: Recomputed) -> dict[str, object]:
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
    stated = {"predicted": of.predicted, "low": of.low, "high": of.high}
    figures = {name: None if value is None else float(f"{value:.5g}") for name, value in stated.items()}
    result = "FAILED" if not of.ok else "within" if of.inside else "outside, as known"
    shown = {"run": of.id, "published": of.published, **figures, "error %": error}
    return {**shown, "unit": of.unit, "result": result, "note": of.note}

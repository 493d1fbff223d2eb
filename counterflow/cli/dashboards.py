"""`counterflow dashboards`: generates Grafana's dashboards from the chart definitions and checks them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.base.errors import CounterflowError

if TYPE_CHECKING:
    from counterflow.dashboards.check import Finding


@click.group()
def command() -> None:
    """Generate Grafana's dashboards from the charts, and check whatever can be checked without Grafana."""


@command.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if a file differs from its definition.")
@click.option("--to", type=click.Path(file_okay=False, path_type=Path), help="Write below this folder instead.")
@click.option("--grafana", help="Address of the Grafana that alerts link to.  [default: http://127.0.0.1:13000]")
@click.option("--runbooks", help="Address of a runbook; {alert} is its name.  [default: docs/runbooks/{alert}.md]")
def build(check: bool, to: Path | None, grafana: str | None, runbooks: str | None) -> None:
    """Write dashboards/grafana/ and dashboards/prometheus/rules.yml from charts, boards and alerts.

    A site whose Grafana and runbooks have other addresses writes its files elsewhere, with --to.
    """
    from counterflow.dashboards.alerting import Site
    from counterflow.dashboards.build import files, written
    from counterflow.dashboards.definition import FOLDER

    addresses = {name: text for name, text in (("grafana", grafana), ("runbooks", runbooks)) if text}
    if to:
        made = {to / path.relative_to(FOLDER): text for path, text in files(Site(**addresses)).items()}
        for path, text in made.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        click.echo(f"{len(made)} files below {to}")
        return
    if addresses:
        raise click.UsageError("--grafana and --runbooks are site-specific: give the target folder with --to")
    wanted, found = files(), written()
    differs = sorted(path.name for path in {*wanted, *found} if wanted.get(path) != found.get(path))
    if check:
        if differs:
            raise CounterflowError(f"not as defined: {', '.join(differs)}", hint="counterflow dashboards build")
        return
    for path in found.keys() - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    click.echo(f"{len(wanted)} files, {len(differs)} changed")


@command.command()
@click.option(
    "--require-rows", is_flag=True, help="Fail if a query returns no rows; with the demo's data none is empty."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a board, panel, variable, annotation and alert.")
@click.pass_context
def check(ctx: click.Context, require_rows: bool, as_json: bool) -> None:
    """Run every query on the stack's ClickHouse as the read-only user, and check its result.

    Exit status 0: all is well; 1: something is wrong, or empty with --require-rows; 2: the check failed.
    """
    from counterflow.cli._metrics import told
    from counterflow.cli._reader import reader
    from counterflow.dashboards.build import files, written
    from counterflow.dashboards.check import check as checked

    wanted = files()
    with reader() as client:
        found = checked(client, told())
    if as_json:
        import orjson

        lines = (orjson.dumps(finding._asdict(), option=orjson.OPT_APPEND_NEWLINE) for finding in found)
        sys.stdout.buffer.writelines(lines)
    else:
        _print(found, bad=("error", "empty") if require_rows else ("error",))
    stale = wanted != written()
    if stale:
        click.echo("error: the generated files are not as defined\nhint: counterflow dashboards build", err=True)
    failing = {"error", "empty"} if require_rows else {"error"}
    ctx.exit(1 if stale or any(finding.state in failing for finding in found) else 0)


def _print(found: Sequence[Finding], bad: Sequence[str]) -> None:
    """Print problems in full, empty results and the slowest query by name, and the count of each state."""
    from counterflow.cli._table import console, table

    out = console()
    for state in ("empty", "error"):
        rows = [
            {
                "thing": finding.thing,
                "name": finding.name,
                "on": ", ".join(finding.boards),
                **({"wrong": "\n".join(finding.problems)} if state == "error" else {}),
            }
            for finding in found
            if finding.state == state
        ]
        if rows:
            out.print(table(rows, f"{state}: {len(rows)}"))
            out.print()
    for finding in found:
        if finding.state in bad and finding.sql:
            out.print(f"-- {finding.thing} {finding.name}, as sent\n{finding.sql}\n", markup=False, soft_wrap=True)
    counts = {state: sum(finding.state == state for finding in found) for state in ("ok", "empty", "error")}
    slowest = max(found, key=lambda finding: finding.seconds)
    took = f"the slowest query took {slowest.seconds:.2f} s ({slowest.thing} {slowest.name})"
    out.print(", ".join(f"{count} {state}" for state, count in counts.items()) + f"; {took}", markup=False)

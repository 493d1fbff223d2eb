"""`counterflow dev dashboards`: generates Grafana's dashboards from the chart definitions and checks them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli._group import Group

if TYPE_CHECKING:
    from counterflow.dashboards.check import CheckFinding


@click.group(cls=Group)
def command() -> None:
    """Generate Grafana's dashboards from the charts, and check whatever can be checked without Grafana."""


@command.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if a definition is wrong.")
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".counterflow/dashboards"),
    show_default=True,
    help="The folder to write below.",
)
@click.option("--grafana", help="Address of the Grafana that alerts link to.  [default: http://127.0.0.1:13000]")
@click.option("--runbooks", help="Address of a runbook; {alert} is its name.  [default: its file in the checkout]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def build(check: bool, to: Path, grafana: str | None, runbooks: str | None, as_json: bool) -> None:
    """Write the files that Grafana and Prometheus read, from charts, boards and alerts.

    In the folder: grafana/dashboards/, to provision, and grafana/import/, to import by hand; grafana/provisioning/;
    and prometheus/, the rules beside examples of configuration. A site names the addresses of its Grafana and its
    runbooks.
    """
    import orjson

    from counterflow.dashboards.alerting import Site
    from counterflow.dashboards.build import write
    from counterflow.dashboards.definition import mistakes

    if check:
        broken = mistakes()
        if as_json:
            click.echo(orjson.dumps({"wrong": broken}).decode())
        if broken:
            raise CounterflowError("\n".join(broken), hint="see docs/dashboards.md", exit_code=1)
        return
    addresses = {name: text for name, text in (("grafana", grafana), ("runbooks", runbooks)) if text}
    if relative := [f"--{name} {text}" for name, text in addresses.items() if "://" not in text]:
        raise click.UsageError(f"{', '.join(relative)}: expected a whole address, https://...")
    files = write(to, site=Site(**addresses))
    click.echo(orjson.dumps({"files": files, "to": str(to)}).decode() if as_json else f"{files} files below {to}")


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
    from counterflow.cli._reader import reader
    from counterflow.cli.dev._metrics import published
    from counterflow.dashboards.check import check as checked

    with reader() as client:
        found = checked(client, published())
    if as_json:
        import orjson

        lines = (orjson.dumps(finding._asdict(), option=orjson.OPT_APPEND_NEWLINE) for finding in found)
        sys.stdout.buffer.writelines(lines)
    else:
        _print(found, bad=("error", "empty") if require_rows else ("error",))
    failing = {"error", "empty"} if require_rows else {"error"}
    ctx.exit(1 if any(finding.state in failing for finding in found) else 0)


def _print(found: Sequence[CheckFinding], bad: Sequence[str]) -> None:
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

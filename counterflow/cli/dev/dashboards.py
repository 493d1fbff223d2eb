"""`counterflow dev dashboards`: generates Grafana's dashboards from the definitions of charts, boards and alerts."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli._folder import Folder
from counterflow.cli._group import Group
from counterflow.cli._json import write_json


@click.group(cls=Group)
def command() -> None:
    """Generate Grafana's dashboards from the charts."""


@command.command()
@click.option("--check", is_flag=True, help="Write nothing; fail if a chart, a board or an alert is wrong.")
@click.option(
    "--to",
    type=Folder(),
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
    from counterflow.dashboards.alerting import Site
    from counterflow.dashboards.build import write
    from counterflow.dashboards.mistakes import mistakes

    if check:
        broken = mistakes()
        if as_json:
            write_json([{"wrong": broken}])
        if broken:
            raise CounterflowError("\n".join(broken), hint="see docs/dashboards.md", exit_code=1)
        return
    addresses = {name: text for name, text in (("grafana", grafana), ("runbooks", runbooks)) if text}
    if relative := [f"--{name} {text}" for name, text in addresses.items() if "://" not in text]:
        raise click.UsageError(f"{', '.join(relative)}: expected a whole address, https://...")
    files = write(to, site=Site(**addresses))
    if as_json:
        write_json([{"files": files, "to": str(to)}])
    else:
        click.echo(f"{files} files below {to}")

"""`counterflow dashboards`: Grafana's dashboards, made of the chart definitions and checked against them."""

from __future__ import annotations

import click

from counterflow.errors import CounterflowError


@click.group()
def command() -> None:
    """Make Grafana's dashboards of the charts, and prove what can be proven without Grafana."""


@command.command()
@click.option("--check", is_flag=True, help="Write nothing; fail where a file is not what the definitions make.")
def build(check: bool) -> None:
    """Write dashboards/grafana/ from dashboards/charts/ and dashboards/boards/."""
    from counterflow.dashboards.build import GENERATED, files, written

    wanted, found = files(), written()
    differs = sorted(path.name for path in {*wanted, *found} if wanted.get(path) != found.get(path))
    if check:
        if differs:
            raise CounterflowError(f"not as defined: {', '.join(differs)}", hint="counterflow dashboards build")
        return
    GENERATED.mkdir(parents=True, exist_ok=True)
    for path in found.keys() - wanted.keys():
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    click.echo(f"{len(wanted)} dashboards, {len(differs)} changed")

"""`counterflow down`: stop the one-machine stack."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.cli._json import write_json


@click.command()
@click.option("--home", type=click.Path(path_type=Path), help="Home of the stack to stop. [default: ./.counterflow]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(home: Path | None, as_json: bool) -> None:
    """Stop the stack and leave nothing running; its data stays."""
    from counterflow.cli._table import console
    from counterflow.stack.lifecycle import down
    from counterflow.stack.settings import StackSettings

    out = console(stderr=as_json, soft_wrap=True)
    settings = StackSettings.load(home=home)
    with out.status("stopping the stack"):
        count = down(settings)
    if as_json:
        write_json([{"home": str(settings.home), "processes_stopped": count}])
        return
    out.print(f"Stopped; the data stays in {settings.home}." if count else f"Nothing was running in {settings.home}.")

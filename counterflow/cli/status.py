"""`counterflow status`: shows what runs, where, and how much memory it takes."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from counterflow.cli._json import write_json


@click.command()
@click.option("--home", type=click.Path(path_type=Path), help="Home of the stack. [default: ./.counterflow]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def command(home: Path | None, as_json: bool) -> None:
    """Show the parts of the stack, and whether each works.

    Exit status 1: one of them does not.
    """
    from counterflow.stack.lifecycle import status
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.load(home=home)
    parts = status(settings)
    running = bool(parts) and all(part.state == "running" for part in parts)
    if as_json:
        write_json([{"home": str(settings.home), "running": running, "parts": parts}])
    else:
        from datetime import timedelta

        from counterflow.cli._table import console, table

        rows = [
            {
                "part": part.name,
                "state": part.state,
                "pid": str(part.pid or "-"),
                "port": "\n".join(str(port) for port in part.ports) or "-",
                "RSS MiB": round(part.rss_bytes / 2**20),
                "uptime": str(timedelta(seconds=part.uptime_s)) if part.pid else "-",
                "detail": part.detail if part.state == "running" else "",
            }
            for part in parts
        ]
        if parts:
            console().print(table(rows))
            for part in parts:
                if part.state != "running":
                    click.echo(f"{part.name} is {part.state}" + f": {part.detail}" * bool(part.detail))
            click.echo(f"total {sum(part.rss_bytes for part in parts) / 2**20:,.0f} MiB resident")
        else:
            click.echo(f"Nothing is running in {settings.home}; counterflow up starts the stack.")
    sys.exit(0 if running else 1)

"""`counterflow backup`: a copy of what has landed."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
def command(name: str) -> None:
    """Copy the tables of the running stack, to `clickhouse/backups/NAME` in its home.

    Nothing lands meanwhile; Kafka keeps it. What of Kafka is in the copy is written beside it, so that `restore` loses
    and doubles nothing.
    """
    from counterflow.stack.backup import backup
    from counterflow.stack.settings import StackSettings

    click.echo(backup(StackSettings.load(), name))

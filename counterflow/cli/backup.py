"""`counterflow backup`: a copy of all landed data."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
def command(name: str) -> None:
    """Copy the tables of the running stack to `clickhouse/backups/NAME` in its home.

    Landing is paused meanwhile; Kafka keeps new records. The copy includes the offsets that it covers, so that
    `restore` loses and duplicates nothing.
    """
    from counterflow.stack.backup import backup
    from counterflow.stack.settings import StackSettings

    click.echo(backup(StackSettings.running(), name))

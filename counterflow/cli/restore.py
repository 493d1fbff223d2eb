"""`counterflow restore`: restores a copy of `counterflow backup`."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
@click.confirmation_option(prompt="All tables will be replaced by those of the copy. Continue?")
def command(name: str) -> None:
    """Restore the tables of the running stack from the copy NAME, and land what arrived since.

    Later records are landed again from Kafka, as far as it still has them; `counterflow audit` shows any loss.
    """
    from counterflow.stack.backup import restore
    from counterflow.stack.settings import StackSettings

    again = restore(StackSettings.load(), name)
    click.echo(f"{name} is restored; landing {again:,} Kafka offsets again. Next: counterflow audit")

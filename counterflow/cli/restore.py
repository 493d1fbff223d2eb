"""`counterflow restore`: back to what `counterflow backup` has copied."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
@click.confirmation_option(prompt="All tables are replaced by those of the copy. Go on?")
def command(name: str) -> None:
    """Put the tables of the running stack back to the copy NAME, and land what came since.

    What landed since is taken from Kafka again, as far as it still has it; `counterflow audit` says whether it had all.
    """
    from counterflow.stack.backup import restore
    from counterflow.stack.settings import StackSettings

    again = restore(StackSettings.load(), name)
    click.echo(f"{name} is restored; {again:,} offsets of Kafka are landed again. Then: counterflow audit")

"""`counterflow backup`: copies all landed data, and restores a copy."""

from __future__ import annotations

import click

from counterflow.cli._group import Group
from counterflow.cli._json import write_json

_json = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")


@click.group(cls=Group)
def command() -> None:
    """Copy all landed data, and restore a copy."""


@command.command()
@click.argument("name")
@_json
def create(name: str, as_json: bool) -> None:
    """Copy the tables of the running stack to `clickhouse/backups/NAME` in its home.

    Landing is paused meanwhile; Kafka keeps new records. The copy includes the offsets that it covers, so that
    `backup restore` loses and duplicates nothing.
    """
    from counterflow.stack.backup import backup
    from counterflow.stack.settings import StackSettings

    copy = backup(StackSettings.running(), name)
    if as_json:
        write_json([{"name": name, "path": str(copy)}])
    else:
        click.echo(copy)


@command.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Confirm the action without prompting.")
@_json
def restore(name: str, yes: bool, as_json: bool) -> None:
    """Restore the tables of the running stack from the copy NAME, and land what arrived since.

    Later records are landed again from Kafka, as far as it still has them; `counterflow audit` shows any loss.
    """
    from counterflow.stack import backup
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.running()
    backup.offsets(settings, name)  # reports a broken copy before the prompt
    if not yes:
        click.confirm("All tables will be replaced by those of the copy. Continue?", abort=True)
    again = backup.restore(settings, name)
    if as_json:
        write_json([{"name": name, "offsets_landed_again": again}])
    else:
        click.echo(f"{name} is restored; landing {again:,} Kafka offsets again. Next: counterflow audit")

"""`counterflow backup`: a copy of all landed data."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(name: str, as_json: bool) -> None:
    """Copy the tables of the running stack to `clickhouse/backups/NAME` in its home.

    Landing is paused meanwhile; Kafka keeps new records. The copy includes the offsets that it covers, so that
    `restore` loses and duplicates nothing.
    """
    from counterflow.stack.backup import backup
    from counterflow.stack.settings import StackSettings

    copy = backup(StackSettings.running(), name)
    if as_json:
        import orjson

        click.echo(orjson.dumps({"name": name, "path": str(copy)}))
    else:
        click.echo(copy)

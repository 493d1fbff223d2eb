"""`counterflow restore`: restores a copy that `counterflow backup` made."""

from __future__ import annotations

import click


@click.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Confirm the action without prompting.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(name: str, yes: bool, as_json: bool) -> None:
    """Restore the tables of the running stack from the copy NAME, and land what arrived since.

    Later records are landed again from Kafka, as far as it still has them; `counterflow audit` shows any loss.
    """
    from counterflow.stack.backup import offsets, restore
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.running()
    offsets(settings, name)  # reports a broken copy before the prompt
    if not yes:
        click.confirm("All tables will be replaced by those of the copy. Continue?", abort=True)
    again = restore(settings, name)
    if as_json:
        import orjson

        click.echo(orjson.dumps({"name": name, "offsets_landed_again": again}))
    else:
        click.echo(f"{name} is restored; landing {again:,} Kafka offsets again. Next: counterflow audit")

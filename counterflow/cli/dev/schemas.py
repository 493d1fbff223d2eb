"""`counterflow dev schemas`: shows what is generated from the dataset definitions."""

from __future__ import annotations

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.cli._group import Group


@click.group(cls=Group)
def command() -> None:
    """Show the contracts of the datasets."""


@command.command()
@click.argument("dataset")
@click.option("--as", "form", type=click.Choice(["clickhouse", "json-schema"]), default="clickhouse", show_default=True)
def show(dataset: str, form: str) -> None:
    """Print DATASET as ClickHouse statements or as JSON Schema."""
    from counterflow.schemas.clickhouse_ddl import migration
    from counterflow.schemas.definition import datasets
    from counterflow.schemas.json_schema import message_schema

    if dataset not in datasets():
        raise CounterflowError(f"no dataset `{dataset}`; there are {', '.join(datasets())}", exit_code=2)
    found = datasets()[dataset]
    if form == "clickhouse":
        click.echo(migration(found), nl=False)
    elif found.role == "view":
        raise CounterflowError(f"{dataset} is a view of ClickHouse: it has no messages", exit_code=2)
    else:
        click.echo(orjson.dumps(message_schema(found), option=orjson.OPT_INDENT_2))

"""`counterflow dev schemas`: shows what is generated from the dataset definitions."""

from __future__ import annotations

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli._group import Group


@click.group(cls=Group)
def command() -> None:
    """Show the contracts of the datasets."""


@command.command()
@click.argument("dataset")
def show(dataset: str) -> None:
    """Print the ClickHouse statements of DATASET."""
    from counterflow.schemas.clickhouse_ddl import migration
    from counterflow.schemas.definition import datasets

    if dataset not in datasets():
        raise CounterflowError(f"no dataset `{dataset}`; there are {', '.join(datasets())}", exit_code=2)
    click.echo(migration(datasets()[dataset]), nl=False)

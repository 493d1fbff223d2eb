"""`counterflow dev schemas`: shows what is generated from the dataset definitions, and checks the rest against them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.cli._group import Group

_as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")


@click.group(cls=Group)
def command() -> None:
    """Show and check the contracts of the datasets."""


@command.command()
@click.argument("dataset")
@click.option(
    "--as", "form", type=click.Choice(["clickhouse", "flink", "json-schema"]), default="clickhouse", show_default=True
)
def show(dataset: str, form: str) -> None:
    """Print DATASET as ClickHouse statements, as Flink's, or as JSON Schema."""
    from counterflow.schemas.clickhouse_ddl import migration
    from counterflow.schemas.definition import datasets
    from counterflow.schemas.flink_ddl import flink_sql
    from counterflow.schemas.json_schema import message_schema

    if dataset not in datasets():
        raise CounterflowError(f"no dataset `{dataset}`; there are {', '.join(datasets())}", exit_code=2)
    found = datasets()[dataset]
    if found.role == "view" and form != "clickhouse":
        raise CounterflowError(f"{dataset} is a view of ClickHouse: it has no messages", exit_code=2)
    if form == "json-schema":
        click.echo(orjson.dumps(message_schema(found), option=orjson.OPT_INDENT_2))
    else:
        click.echo(migration(found) if form == "clickhouse" else flink_sql(found), nl=False)


@command.command()
@_as_json
def check(as_json: bool) -> None:
    """Compare tables, mappings and SQL jobs with the definitions; list all differences.

    The tables are created on a temporary ClickHouse engine.
    """
    from counterflow.base.embedded import Embedded
    from counterflow.schemas import agreement
    from counterflow.schemas.definition import FOLDER, datasets
    from counterflow.schemas.mapping import mappings, mistakes
    from counterflow.schemas.migrations import migrate

    definitions = datasets()
    checkout = FOLDER.resolve().parent
    found = [*mistakes(mappings(), definitions)]
    for path in sorted(checkout.glob("pipelines/jobs/*/stream.sql")):
        found += agreement.inserts(str(path.relative_to(checkout)), path.read_text(encoding="utf-8"), definitions)
    with TemporaryDirectory(prefix="counterflow-") as folder, Embedded(Path(folder) / "clickhouse") as client:
        migrate(client)
        found += agreement.tables(client, definitions)
    if as_json:
        click.echo(orjson.dumps({"differences": found}).decode())
    for disagreement in [] if as_json else found:
        click.echo(disagreement)
    if found:
        raise CounterflowError(f"{len(found)} differences from schemas/datasets", hint="see CONTRIBUTING.md")

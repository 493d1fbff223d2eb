"""`counterflow dev migrate`: bring a ClickHouse server's tables up to date."""

from __future__ import annotations

import click

from counterflow.base.errors import UNREACHED, CounterflowError
from counterflow.cli._json import write_json


@click.command()
@click.option("--cluster", help="Name of the cluster: creates replicated tables on all its servers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(cluster: str | None, as_json: bool) -> None:
    """Create the tables of an empty server, or apply the migrations that it does not have yet.

    The server is that of the stack, or COUNTERFLOW_CLICKHOUSE_URL; the user is `migrator`.
    """
    import httpx

    from counterflow.base.clickhouse import ClickHouseError
    from counterflow.schemas.migrations import migrate
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.running()
    url = settings.clickhouse_url
    try:
        with settings.clickhouse("migrator") as client:
            applied = migrate(client, cluster=cluster)
    except httpx.TransportError as error:
        raise CounterflowError(f"{url} does not answer: {error}", hint=UNREACHED) from None
    except ClickHouseError as error:
        raise CounterflowError(f"{url} rejected a migration: {error}") from None
    if as_json:
        write_json([{"url": url, "applied": applied}])
        return
    for name in applied:
        click.echo(name)
    click.echo(f"{len(applied)} scripts applied" if applied else "nothing to apply", err=True)

"""`counterflow dev migrate`: bring a ClickHouse server's tables up to date."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.base.errors import UNREACHED, CounterflowError


@click.command()
@click.option("--url", help="HTTP address of a server; default: the running stack.")
@click.option("--user", default="migrator", show_default=True, help="User with the right to create tables.")
@click.option("--password-file", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="With --url.")
@click.option("--cluster", help="Name of the cluster: creates replicated tables on all its servers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(url: str | None, user: str, password_file: Path | None, cluster: str | None, as_json: bool) -> None:
    """Create the tables of an empty server, or apply the migrations that it does not have yet."""
    import httpx
    import orjson

    from counterflow.base.clickhouse import ClickHouse, ClickHouseError
    from counterflow.schemas.migrations import migrate
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.load() if url else StackSettings.running()
    if url:
        password = password_file.read_text().strip() if password_file else ""
    else:
        url, password = settings.clickhouse_url, settings.clickhouse_password(user)
    try:
        with ClickHouse(url, user, password, ca=settings.tls_ca) as client:
            applied = migrate(client, cluster=cluster)
    except httpx.TransportError as error:
        raise CounterflowError(f"{url} does not answer: {error}", hint=UNREACHED) from None
    except ClickHouseError as error:
        raise CounterflowError(f"{url} rejected a migration: {error}") from None
    if as_json:
        click.echo(orjson.dumps({"url": url, "applied": applied}))
        return
    for name in applied:
        click.echo(name)
    click.echo(f"{len(applied)} scripts applied" if applied else "nothing to apply", err=True)

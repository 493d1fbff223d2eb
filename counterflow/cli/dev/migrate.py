"""`counterflow dev migrate`: bring a ClickHouse server's tables up to date."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.base.errors import UNREACHED, CounterflowError


@click.command()
@click.option(
    "--url",
    "urls",
    multiple=True,
    help="HTTP address of a server; for a cluster, one per shard; default: the running stack.",
)
@click.option("--user", default="migrator", show_default=True, help="User with the right to create tables.")
@click.option("--password-file", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="With --url.")
@click.option(
    "--cluster",
    help="Name of the cluster: creates replicated tables on all its servers, and tables over all its shards.",
)
@click.option(
    "--unreplicated",
    is_flag=True,
    help="With --cluster: one server a shard, without Keeper; creates the tables on the servers of --url alone.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a server instead of text.")
def command(
    urls: tuple[str, ...],
    user: str,
    password_file: Path | None,
    cluster: str | None,
    unreplicated: bool,
    as_json: bool,
) -> None:
    """Create the tables of an empty server, or apply the migrations that it does not have yet."""
    import httpx
    import orjson

    from counterflow.base.clickhouse import ClickHouse, ClickHouseError
    from counterflow.schemas.migrations import migrate
    from counterflow.stack.settings import StackSettings

    if unreplicated and not cluster:
        raise CounterflowError("--unreplicated is for shards of a cluster", hint="give --cluster NAME", exit_code=2)
    settings = StackSettings.load() if urls else StackSettings.running()
    if urls:
        password = password_file.read_text().strip() if password_file else ""
    else:
        urls, password = (settings.clickhouse_url,), settings.clickhouse_password(user)
    for url in urls:
        try:
            with ClickHouse(url, user, password, ca=settings.tls_ca) as client:
                applied = migrate(client, cluster=cluster, replicated=not unreplicated)
        except httpx.TransportError as error:
            raise CounterflowError(f"{url} does not answer: {error}", hint=UNREACHED) from None
        except ClickHouseError as error:
            raise CounterflowError(f"{url} rejected a migration: {error}") from None
        if as_json:
            click.echo(orjson.dumps({"url": url, "applied": applied}))
            continue
        for name in applied:
            click.echo(name)
        summary = f"{len(applied)} scripts applied" if applied else "nothing to apply"
        click.echo(f"{url}: {summary}" if len(urls) > 1 else summary, err=True)

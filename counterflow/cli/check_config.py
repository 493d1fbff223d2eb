"""`counterflow check-config`: every mistake in an agent's configuration at once."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Check the agent configuration FILE: every mistake with its line and the way out.

    Lists what each source would read now, without connecting. Exit status 2: there is a mistake.
    """
    from counterflow.collectors.agent.config import HttpSource, SqlSource, load
    from counterflow.collectors.sources.files import find
    from counterflow.collectors.sources.sql.drivers import driver
    from counterflow.collectors.sources.sql.packs import load as load_pack

    config = load(file)
    _ = config.kafka.client  # the secrets can be read
    for source in config.files:
        found = [entry for pattern in source.paths for entry in find(pattern)]
        files = sum(isinstance(entry, Path) for entry in found)
        click.echo(f"{source.name}: {files} file{'' if files == 1 else 's'} now, times in {source.zone}")
        for entry in found:
            if isinstance(entry, OSError):
                click.echo(f"  {entry.filename}: {entry.strerror}")
    for system in config.systems:
        if isinstance(system, HttpSource):
            dds = system.connection
            _ = dds.trust, dds.password and dds.password.read()  # the files can be read
            where, read = f"{system.system} at {dds.url}", system.reports
        elif isinstance(system, SqlSource):
            to = system.connection
            driver(to.driver)
            to.password.read()
            where = f"{system.system} at {to.host} through {to.driver}"
            read = tuple(load_pack(name).pack for name in system.packs)
        else:
            cluster = system.connection or config.kafka
            _ = cluster.client
            where, read = f"topics at {cluster.bootstrap}", system.topics
        click.echo(f"{system.name}: {where}, {', '.join(read)}, times in {system.zone}")
    click.echo(f"{file}: agent `{config.agent_id}`, no mistakes")

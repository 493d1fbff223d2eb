"""`counterflow check-config`: every mistake in an agent's configuration at once."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(file: Path, as_json: bool) -> None:
    """Check the agent configuration FILE: every mistake with its line and the way out.

    Lists what each source would read now, without connecting. Exit status 2: there is a mistake.
    """
    import orjson

    from counterflow.collectors.agent.config import HttpSource, ListenSource, SqlSource, load
    from counterflow.collectors.sources.files import find
    from counterflow.collectors.sources.sql.drivers import driver
    from counterflow.collectors.sources.sql.packs import load as load_pack

    config = load(file)
    _ = config.kafka.client  # the secrets can be read
    found_of: list[dict[str, object]] = []
    lines: list[str] = []
    for source in config.files:
        found = [entry for pattern in source.paths for entry in find(pattern)]
        files = sum(isinstance(entry, Path) for entry in found)
        unread = [f"{entry.filename}: {entry.strerror}" for entry in found if isinstance(entry, OSError)]
        found_of.append({"source": source.name, "files": files, "zone": source.zone, "unreadable": unread})
        lines.append(f"{source.name}: {files} file{'' if files == 1 else 's'} now, times in {source.zone}")
        lines += [f"  {line}" for line in unread]
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
        elif isinstance(system, ListenSource):
            where, read = f"{system.protocol} {system.address}", ("njmon", "nimon")
        else:
            cluster = system.connection or config.kafka
            _ = cluster.client
            where, read = f"topics at {cluster.bootstrap}", system.topics
        found_of.append({"source": system.name, "reads": list(read), "at": where, "zone": system.zone})
        lines.append(f"{system.name}: {where}, {', '.join(read)}, times in {system.zone}")
    if as_json:
        click.echo(orjson.dumps({"file": str(file), "agent_id": config.agent_id, "sources": found_of}))
        return
    click.echo("\n".join([*lines, f"{file}: agent `{config.agent_id}`, no mistakes"]))

"""`counterflow agent`: follows files, polls systems, and publishes both until stopped."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.cli._group import Group
from counterflow.cli._json import write_json


@click.group(cls=Group)
def command() -> None:
    """Read counters at their source and publish them."""


@command.command()
@click.option("--config", required=True, type=click.Path(path_type=Path), help="The agent's configuration (YAML).")
@click.option("--agent-id", metavar="NAME", help="Overrides the configuration's, so that many nodes can share one.")
def run(config: Path, agent_id: str | None) -> None:
    """Follow the sources of a configuration until SIGTERM or Ctrl-C.

    Exit status 3: another agent with the same agent_id has taken over.
    """
    import re

    from counterflow.base import health
    from counterflow.base.logs import configure
    from counterflow.base.stopping import stopping
    from counterflow.collectors.agent.config import AGENT_ID, load
    from counterflow.collectors.agent.publisher import Publisher
    from counterflow.collectors.agent.runner import Runner

    configure()
    settings = load(config)
    agent_id = agent_id or settings.agent_id
    if not re.match(AGENT_ID, agent_id):
        raise click.BadParameter("may contain letters, digits, dot, dash and underscore", param_hint="--agent-id")
    stop = stopping()
    publisher = Publisher(settings.kafka, agent_id, stop)
    runner = Runner(publisher, agent_id, settings.commit, stop, systems=settings.systems, spool=settings.spool)
    if settings.metrics_port:
        health.serve(settings.metrics_port, runner.metrics.registry, runner.problems)
    runner.run(settings.files, settings.poll_s)


_PATH = click.Path(path_type=Path)


@command.command()
@click.option("--config", default="/etc/counterflow/agent.yaml", show_default=True, type=_PATH, help="The agent's.")
@click.option("--program", type=_PATH, help="The `counterflow` that the unit runs; default: this one.")
@click.option("--to", default="/etc/systemd/system", show_default=True, type=_PATH, help="Folder of the unit.")
@click.option("--print", "as_text", is_flag=True, help="Print the unit and write nothing.")
def install(config: Path, program: Path | None, to: Path, as_text: bool) -> None:
    """Write the unit by which systemd runs the agent, as a user of its own without rights.

    Exit status 1: there is another unit of this name, which stays as it is.
    """
    import sys

    from counterflow.collectors.agent import service

    text = service.unit(program or Path(sys.argv[0]).absolute(), config)
    if as_text:
        click.echo(text, nl=False)
        return
    file = to / service.UNIT
    is_new = service.install(text, file)
    click.echo(f"{file}: {'written' if is_new else 'is there already'}")
    click.echo(f"next: mkdir -p -m 700 {config.parent}/secrets; counterflow agent check {config};")
    click.echo(f"      systemctl daemon-reload; systemctl enable --now {service.UNIT}")


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def check(file: Path, as_json: bool) -> None:
    """Check the agent configuration FILE: every mistake with its line and the way out.

    Lists what each source would read now, without connecting. Exit status 2: there is a mistake.
    """
    from counterflow.collectors.agent.config import HttpSource, ListenSource, OpenMetricsSource, SqlSource, load
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
        elif isinstance(system, OpenMetricsSource):
            endpoint = system.connection
            _ = endpoint.trust, endpoint.secret and endpoint.secret.read()  # the files can be read
            where, read = f"{system.system} at {endpoint.url}", ("metrics",)
        elif isinstance(system, SqlSource):
            to = system.connection
            driver(to.driver)
            to.password.read()
            where = f"{system.system} at {to.host} through {to.driver}"
            read = tuple(load_pack(name).pack for name in system.packs)
        elif isinstance(system, ListenSource):
            where, read = f"tcp {system.address}", ("njmon", "nimon")
        else:
            cluster = system.connection or config.kafka
            _ = cluster.client
            where, read = f"topics at {cluster.bootstrap}", system.topics
        found_of.append({"source": system.name, "reads": list(read), "at": where, "zone": system.zone})
        lines.append(f"{system.name}: {where}, {', '.join(read)}, times in {system.zone}")
    if as_json:
        write_json([{"file": str(file), "agent_id": config.agent_id, "sources": found_of}])
        return
    click.echo("\n".join([*lines, f"{file}: agent `{config.agent_id}`, no mistakes"]))

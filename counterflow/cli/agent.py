"""`counterflow agent`: follows files, polls systems, and publishes both until stopped."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.cli._group import Group


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
        runner.metrics.serve(settings.metrics_port, runner.problems)
    runner.run(settings.files, settings.poll_s)

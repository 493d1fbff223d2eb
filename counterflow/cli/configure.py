"""`counterflow configure`: writes the configuration that `counterflow up` writes before it starts the parts."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option("--home", type=click.Path(path_type=Path), help="Home of the stack. [default: ./.counterflow]")
def command(home: Path | None) -> None:
    """Write passwords and what Kafka, ClickHouse, Grafana and Prometheus read, without starting them, for compose.yaml.

    `counterflow up` does this itself. Existing files are overwritten, except the passwords.
    """
    from counterflow.dashboards import build
    from counterflow.dashboards.alerting import Site
    from counterflow.stack import clickhouse, grafana, kafka
    from counterflow.stack.secret import secret
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.from_environment(home=home)
    kafka.configure(settings)
    clickhouse.configure(settings)
    grafana.provision(settings)
    build.write(settings.home, below="prometheus/", site=Site(settings.grafana_url))
    secret(settings, "grafana-admin")
    for folder in ("checkpoints", "savepoints"):
        (settings.flink_home / folder).mkdir(parents=True, exist_ok=True)
    click.echo(f"{settings.home} is ready", err=True)

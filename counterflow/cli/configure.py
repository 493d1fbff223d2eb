"""`counterflow configure`: writes the configuration that `counterflow up` writes before it starts the parts."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option("--home", type=click.Path(path_type=Path), help="Home of the stack. [default: ./.counterflow]")
@click.option(
    "--dashboards",
    type=click.Path(path_type=Path),
    default=Path("/dashboards"),
    show_default=True,
    help="Where Grafana will find the dashboards.",
)
def command(home: Path | None, dashboards: Path) -> None:
    """Write passwords and configuration of Kafka, ClickHouse and Grafana, without starting them, as for compose.yaml.

    `counterflow up` does this itself. Existing files are overwritten, except the passwords.
    """
    from counterflow.stack import clickhouse, grafana, kafka
    from counterflow.stack.secret import secret
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.from_environment(home=home)
    kafka.configure(settings)
    clickhouse.configure(settings)
    grafana.provision(settings, dashboards)
    secret(settings, "grafana-admin")
    for folder in ("checkpoints", "savepoints"):
        (settings.flink_home / folder).mkdir(parents=True, exist_ok=True)
    click.echo(f"{settings.home} is ready", err=True)

"""`counterflow dev configure`: writes the files that parts in separate containers share, before any of them starts."""

from __future__ import annotations

from pathlib import Path

import click

from counterflow.cli._json import write_json

_HEALTH = "counterflow-health"
"""The scrape job of a supervisor's parts; containers are supervised by their engine, and have no such job."""


@click.command()
@click.option("--home", type=click.Path(path_type=Path), help="Home of the stack. [default: ./.counterflow]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def command(home: Path | None, as_json: bool) -> None:
    """Write the passwords, and what Kafka, ClickHouse, Grafana and Prometheus read, for the containers of compose.yaml.

    `counterflow up` does this itself. Existing files are overwritten, except the passwords.
    """
    import yaml

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
    secret(settings.secrets, "grafana-admin")
    prometheus = settings.home / "prometheus"
    scraped = yaml.safe_load((prometheus / "prometheus.example.yml").read_text())
    scraped["scrape_configs"] = [one for one in scraped["scrape_configs"] if one["job_name"] != _HEALTH]
    (prometheus / "prometheus.yml").write_text(yaml.safe_dump(scraped, sort_keys=False))
    settings.stack_file.write_text(settings.model_dump_json(indent=2))
    if as_json:
        write_json([{"home": str(settings.home)}])
    else:
        click.echo(f"{settings.home} is ready", err=True)

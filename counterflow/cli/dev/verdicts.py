"""`counterflow dev verdicts`: serves verdicts and newest figures to Prometheus."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--flink-url",
    "flink_urls",
    metavar="URL",
    multiple=True,
    help="Flink's REST interface; may be repeated; default: the stack's.",
)
@click.option(
    "--flink-certificate",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="PEM file of a --flink-url with mutual TLS: key and certificate to present, and the only one to trust.",
)
@click.option("--no-flink", is_flag=True, help="There is no Flink: export no state of jobs.")
@click.option(
    "--job", "jobs", metavar="JOB", multiple=True, help="A job that is to run; may be repeated; default: all."
)
@click.option(
    "--metrics-port", type=click.IntRange(1, 65535), help="/metrics and /healthz on 127.0.0.1; default: the stack's."
)
@click.option(
    "--stale-after",
    "stale_s",
    metavar="SECONDS",
    type=click.IntRange(60),
    default=3600,
    show_default=True,
    help="Age of its newest interval at which an entity is forgotten.",
)
@click.option(
    "--most", type=click.IntRange(1), default=5_000, show_default=True, help="Maximum number of entities per dataset."
)
def command(
    flink_urls: tuple[str, ...],
    flink_certificate: Path | None,
    no_flink: bool,
    jobs: tuple[str, ...],
    metrics_port: int | None,
    stale_s: int,
    most: int,
) -> None:
    """Serve verdicts, newest figures of results and the state of jobs as Prometheus metrics.

    Queries verdicts and figures from ClickHouse every 15 s. Exits with status 0 on SIGTERM or SIGINT. docs/alerts.md
    lists the metrics, and the variables that add raw counters or send all of them to a store.
    """
    from urllib.parse import urlsplit

    from prometheus_client import CollectorRegistry, ProcessCollector

    from counterflow.base import health
    from counterflow.base.errors import CounterflowError, why
    from counterflow.base.logs import configure
    from counterflow.base.loopback import is_loopback
    from counterflow.base.stopping import stopping
    from counterflow.pipelines.exporter.jobs import Jobs
    from counterflow.pipelines.exporter.metrics import EVERY_S, Results
    from counterflow.pipelines.exporter.remote_write import start
    from counterflow.pipelines.exporter.watched import listed
    from counterflow.pipelines.jobs import chosen
    from counterflow.stack.settings import StackSettings

    if no_flink and flink_urls:
        raise click.UsageError("give --flink-url or --no-flink, not both")
    names = [job.name for job in chosen(jobs)]
    configure()
    stack = StackSettings.of_a_part()
    stop = stopping()
    try:
        counters = listed(stack.counters.read_text(encoding="utf-8")) if stack.counters else ()
    except (OSError, ValueError) as error:
        reason = why(error) if isinstance(error, OSError) else str(error)
        raise CounterflowError(f"{stack.counters}: {reason}", hint="see docs/alerts.md", exit_code=2) from None
    results = Results(stale_s, most, counters)
    registry = CollectorRegistry()
    registry.register(results)
    if flink_urls:
        registry.register(Jobs(*flink_urls, names=names, certificate=flink_certificate))
    elif not no_flink:
        registry.register(Jobs(stack.flink_url, names=names, certificate=stack.flink_certificate))
    ProcessCollector(registry=registry)
    address, token = stack.remote_write, stack.remote_write_token
    if address and token and not address.startswith("https:") and not is_loopback(urlsplit(address).hostname or ""):
        raise CounterflowError(f"{address}: a token needs https:", hint="set COUNTERFLOW_REMOTE_WRITE", exit_code=2)
    with stack.clickhouse("reader", timeout_s=10) as clickhouse:
        results.refresh(clickhouse)
        health.serve(metrics_port or stack.verdicts_metrics_port, registry, results.problems)
        if address:
            start(address, token, results, stop)
        while not stop.wait(EVERY_S):
            results.refresh(clickhouse)

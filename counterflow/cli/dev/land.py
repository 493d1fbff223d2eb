"""`counterflow dev land`: Kafka → ClickHouse."""

from __future__ import annotations

import socket

import click


@click.command()
@click.option("--clickhouse-url", metavar="URL", help="ClickHouse's HTTP address; default: the stack's.")
@click.option(
    "--instance-id", default=socket.gethostname, help="Name of this lander in its group; default: the host name."
)
@click.option(
    "--metrics-port", type=click.IntRange(0, 65535), default=0, help="/metrics and /healthz on 127.0.0.1; 0: none."
)
@click.option(
    "--batch-messages",
    type=click.IntRange(1, 500_000),
    default=100_000,
    show_default=True,
    help="Maximum messages per insert: frames of counters, rows of results.",
)
@click.option("--until-caught-up", is_flag=True, help="Exit when all that the topics held at the start has landed.")
def command(
    clickhouse_url: str | None,
    instance_id: str,
    metrics_port: int,
    batch_messages: int,
    until_caught_up: bool,
) -> None:
    """Land every dataset from Kafka in its ClickHouse table.

    On SIGTERM or SIGINT it finishes the inserts in flight and exits with status 0; killed at any moment, it resumes
    where it was, and what it inserts again replaces itself. Several landers share the work, each with its own
    --instance-id.
    """
    import gc
    from functools import partial

    from counterflow.base import health
    from counterflow.base.clickhouse import ClickHouse
    from counterflow.base.logs import configure
    from counterflow.base.stopping import stopping
    from counterflow.pipelines.landing.lander import Lander
    from counterflow.pipelines.landing.metrics import REGISTRY
    from counterflow.pipelines.landing.reader import Limits
    from counterflow.pipelines.landing.rollups import refresh
    from counterflow.pipelines.landing.writer import Writer
    from counterflow.schemas.definition import published
    from counterflow.stack.settings import StackSettings

    configure()
    gc.set_threshold(100_000, 50, 50)  # messages come by the hundred thousand and form no cycles
    stack = StackSettings.of_a_part()
    stop = stopping()
    url = clickhouse_url or stack.clickhouse_url
    tables = {dataset.topic: name for name, dataset in published().items()}
    with ClickHouse(url, "lander", stack.clickhouse_password("lander"), ca=stack.tls_ca) as client:
        lander = Lander(
            stack.kafka("lander"),
            instance_id,
            Writer(client, tables, stop),
            tables,
            Limits(batch_messages),
            partial(refresh, client),
        )
        if metrics_port:
            health.serve(metrics_port, REGISTRY, lander.problems)
        lander.run(stop, until_caught_up=until_caught_up)

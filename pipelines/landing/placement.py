"""Compares the map of shards with what the servers are and hold, before a lander inserts anything."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
import structlog

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.landing.shards import ShardMap
from counterflow.schemas.sharding import LOCAL

_ENGINE = "SELECT engine FROM system.tables WHERE database = 'counterflow' AND name = 'manifest'"
_HELD = f"SELECT DISTINCT system, toString(day) AS day FROM {LOCAL}.system_day ORDER BY day, system"
_SHOWN = 3

log = structlog.get_logger()


def agree(clients: Mapping[str, ClickHouse], shards: ShardMap | None) -> None:
    """Refuse a map that is missing or needless, or that gives rows to another shard than the one that has them.

    A server that does not answer, or has no tables yet, is not compared: its inserts are retried until they succeed.

    Raises
    ------
    CounterflowError : landing would count rows twice, or acknowledge rows that no shard has.
    """
    for name, client in clients.items():
        try:
            engines = [row["engine"] for row in client.rows(_ENGINE)]
            held = [(row["system"], row["day"]) for row in client.rows(_HELD)] if shards and engines else []
        except (httpx.TransportError, ClickHouseError) as error:
            log.warning("not compared with the map of shards", shard=name, error=str(error)[:300])
            continue
        if engines and (engines == ["Distributed"]) != (shards is not None):
            what = "is no shard of a cluster" if shards else "is a shard of a cluster"
            way = "leave out --shards, or name servers with the tables of a cluster" if shards else "give --shards FILE"
            raise CounterflowError(f"ClickHouse {name or 'here'} {what}", hint=f"{way}: docs/cluster.md", exit_code=2)
        if shards and (strays := shards.strays(name, held)):
            some = "; ".join(f"{system} on {day}" for system, day in strays[:_SHOWN])
            raise CounterflowError(
                f"shard {name} has rows that the map gives to another shard: {some}"
                + f" and {len(strays) - _SHOWN} more" * (len(strays) > _SHOWN),
                hint="a rule is for systems without rows, or begins (`from`) on a day that has none yet",
                exit_code=2,
            )

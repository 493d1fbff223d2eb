"""A statement's answer with the types of its columns, as Grafana's plugin has it too."""

from __future__ import annotations

import orjson

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.dashboards.frames import Column, Result

_WIRE: Settings = {
    "default_format": "JSONCompact",
    "output_format_json_quote_64bit_integers": 0,
    "output_format_json_quote_denormals": 1,
}


def fetch(client: ClickHouse, sql: str) -> Result:
    """Return what a statement gives; times are text in UTC, `inf` and `nan` are text.

    Raises
    ------
    ClickHouseError : the server refused it.
    httpx.TransportError : nobody answers.
    """
    answer = orjson.loads(client.post(sql, settings=_WIRE))
    return Result([Column(column["name"], column["type"]) for column in answer["meta"]], answer["data"])

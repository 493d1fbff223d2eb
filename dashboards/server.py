"""A statement's result with the types of its columns, as Grafana's plugin also receives it."""

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
    """Return the result of a statement; times are text in UTC, `inf` and `nan` are text.

    Raises
    ------
    ClickHouseError : the server refused the statement.
    httpx.TransportError : the server does not answer.
    """
    answer = orjson.loads(client.post(sql, settings=_WIRE))
    return Result([Column(column["name"], column["type"]) for column in answer["meta"]], answer["data"])

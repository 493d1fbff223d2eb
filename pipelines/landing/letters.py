"""Reads, identifies and groups stored dead letters, and marks them as handled. They are never changed or deleted."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse, Settings

_ID = "lower(hex(sipHash64(system, origin, stage, ts)))"
_OPEN = f"""(
  SELECT {_ID} AS id, * FROM counterflow.deadletter FINAL
  WHERE id NOT IN (SELECT id FROM counterflow.deadletter_handled)
)"""
_TOPIC = "arrayStringConcat(arraySlice(splitByChar(':', origin), 1, -2), ':')"
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2299, 1, 1, tzinfo=UTC)


class Letter(NamedTuple):
    """One dead letter. `payload` holds the bytes kept, `size` is the original size; `place` is the topic or source.

    It stands for the records from `seq` to `seq + rows - 1`.
    """

    id: str
    stage: str
    reason: str
    place: str
    origin: str
    system: str
    source: str
    agent_id: str
    seq: int
    rows: int
    ts: str
    collected_at: str
    error: str
    size: int
    payload: bytes


_LETTERS = f"""
SELECT
  id, stage, reason, if(stage = 'land', {_TOPIC}, source) AS place, origin, system, source, agent_id, seq,
  ifNull(payload_rows, 1) AS rows, toString(ts) AS ts, toString(d.collected_at) AS collected_at, error,
  payload_bytes AS size, payload_base64
FROM {_OPEN} AS d
WHERE d.collected_at >= {{since:DateTime64(3, 'UTC')}} AND d.collected_at < {{until:DateTime64(3, 'UTC')}}
  AND ({{reason:String}} = '' OR reason = {{reason:String}})
  AND (empty({{ids:Array(String)}}) OR has({{ids:Array(String)}}, id))
ORDER BY d.collected_at DESC, id
LIMIT {{most:UInt32}}
"""

_GROUPS = f"""
SELECT
  stage, reason, if(stage = 'land', {_TOPIC}, source) AS place, count() AS letters, sum(payload_bytes) AS bytes,
  toString(max(d.collected_at)) AS newest, argMax(id, d.collected_at) AS newest_id
FROM {_OPEN} AS d
WHERE d.collected_at >= {{since:DateTime64(3, 'UTC')}} AND d.collected_at < {{until:DateTime64(3, 'UTC')}}
  AND ({{reason:String}} = '' OR reason = {{reason:String}})
GROUP BY stage, reason, place
ORDER BY newest DESC, stage, reason, place
LIMIT {{most:UInt32}}
"""

_ONE = f"""
SELECT *, {_ID} AS id, toString(landed_at) AS landed_at
FROM counterflow.deadletter FINAL
WHERE id = {{id:String}}
LIMIT 1
"""

_HANDLED = """
SELECT action, reason, toString(handled_at) AS handled_at
FROM counterflow.deadletter_handled FINAL
WHERE id = {id:String}
"""


def groups(
    client: ClickHouse, since: datetime | None, until: datetime | None, reason: str, most: int
) -> list[dict[str, Any]]:
    """Count the open letters by stage, reason, and topic or source; newest first."""
    return client.rows(_GROUPS, _wire(since, until, reason, (), most))


def letters(
    client: ClickHouse,
    ids: Sequence[str] = (),
    since: datetime | None = None,
    until: datetime | None = None,
    reason: str = "",
    most: int = 1_000_000,
) -> list[Letter]:
    """Return open letters, newest first, filtered by `ids` (none: all), time of reading and reason."""
    rows = client.rows(_LETTERS, _wire(since, until, reason, ids, most))
    return [Letter(payload=base64.b64decode(row.pop("payload_base64")), **row) for row in rows]


def one(client: ClickHouse, letter_id: str) -> dict[str, Any] | None:
    """Return a stored letter, open or handled; `handled` is None or holds action, reason and time."""
    rows = client.rows(_ONE, {"param_id": letter_id})
    if not rows:
        return None
    handled = client.rows(_HANDLED, {"param_id": letter_id})
    return {**rows[0], "handled": handled[0] if handled else None}


def mark(client: ClickHouse, ids: Iterable[str], action: Literal["replayed", "dropped"], reason: str) -> None:
    """Mark letters as handled; the client needs INSERT."""
    rows = [orjson.dumps({"id": found, "action": action, "reason": reason}) for found in ids]
    client.post("INSERT INTO counterflow.deadletter_handled FORMAT JSONEachRow", b"\n".join(rows), {"async_insert": 0})


def _wire(since: datetime | None, until: datetime | None, reason: str, ids: Sequence[str], most: int) -> Settings:
    return {
        "param_since": f"{(since or _FIRST).astimezone(UTC):%F %T}",
        "param_until": f"{(until or _LAST).astimezone(UTC):%F %T}",
        "param_reason": reason,
        "param_ids": list(ids),
        "param_most": most,
    }

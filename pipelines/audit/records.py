"""Looks up every acknowledged record of an agent in ClickHouse: by sets of `seq`, never row by row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.audit.under_way import Run, Seqs, runs

_RUNS = 2_000  # in a request: a server takes 128 KiB of a parameter
_WHOLE_DAYS = 400
"""A ledger all of which landed within these days is still complete, so an agent's account begins at `seq` 1."""


class Account(NamedTuple):
    """The records of one agent, `seq` from `first_seq` to `acked_seq`.

    `acked` records were committed. Each is `landed`, rejected into `deadletter`, `pending` (in Kafka, not yet landed)
    or `lost`. `repeated` counts arrivals of records that had landed before.
    """

    agent_id: str
    first_seq: int
    acked_seq: int
    acked: int
    landed: int
    deadletter: int
    pending: int
    lost: int
    repeated: int


_SETS = """
  SELECT
    agent_id,
    {acked:Map(String, UInt64)}[agent_id] AS committed,
    bitmapMin(arrived) AS earliest,
    bitmapMax(arrived) AS latest,
    sumIf(rows, dataset != 'deadletter') AS landings,
    groupBitmapMergeStateIf(seqs, dataset != 'deadletter') AS tables,
    groupBitmapMergeState(seqs) AS arrived
  FROM counterflow.ledger
  WHERE agent_id != 'unknown' -- rejected, and even its agent was unreadable
    AND (empty({agents:Array(String)}) OR has({agents:Array(String)}, agent_id))
  GROUP BY agent_id
"""

_ACCOUNTS = f"""
WITH (SELECT min(landed_at) > now() - INTERVAL {_WHOLE_DAYS} DAY FROM counterflow.ledger) AS whole
SELECT
  agent_id,
  if(committed = 0, latest, committed) AS acked_seq,
  if(whole AND committed != 0, 1, earliest) AS first_seq,
  -- subtract the few records outside the account: copying the many inside would be slow
  bitmapCardinality(arrived) - bitmapCardinality(bitmapSubsetInRange(arrived, toUInt64(0), toUInt64(first_seq)))
    - bitmapCardinality(bitmapSubsetInRange(arrived, acked_seq + 1, latest + 1)) AS arrivals,
  bitmapCardinality(tables) - bitmapCardinality(bitmapSubsetInRange(tables, toUInt64(0), toUInt64(first_seq)))
    - bitmapCardinality(bitmapSubsetInRange(tables, acked_seq + 1, latest + 1)) AS landed,
  landings - bitmapCardinality(tables) AS repeated
FROM ({_SETS})
ORDER BY agent_id
"""

_PENDING = """
SELECT bitmapAndnotCardinality(
  bitmapBuild(arrayFlatten(arrayMap(r -> range(r.1, r.2 + 1), {runs:Array(Tuple(UInt64, UInt64))}))), arrived
) AS pending
FROM
(
  SELECT groupBitmapMergeState(seqs) AS arrived FROM counterflow.ledger WHERE agent_id = {agent:String}
)
"""


def accounts(
    client: ClickHouse, acked: Mapping[str, int], behind: Mapping[str, Seqs], agents: Collection[str] = ()
) -> list[Account]:
    """Return the account of every agent, or of some.

    Parameters
    ----------
    client : ClickHouse.
    acked : the last `seq` that each agent committed. The account of an agent missing here ends with its newest record
        that arrived.
    behind : records in Kafka that the lander had not landed (`under_way`), read after `acked`.
    agents : those whose records are looked up; none given: all.
    """
    rows = client.rows(_ACCOUNTS, {"param_acked": acked, "param_agents": [*agents]})
    arrived = {row["agent_id"] for row in rows}
    nothing = {"first_seq": 1, "arrivals": 0, "landed": 0, "repeated": 0}
    rows += [
        {"agent_id": agent_id, "acked_seq": seq, **nothing}
        for agent_id, seq in sorted(acked.items())
        if (seq or agent_id in agents) and agent_id not in arrived
    ]
    return [_account(client, row, behind.get(row["agent_id"], ())) for row in rows]


def _account(client: ClickHouse, row: dict[str, int], behind: Seqs) -> Account:
    agent_id, first, last = str(row["agent_id"]), row["first_seq"], row["acked_seq"]
    acked = max(0, last - first + 1)
    missing = acked - row["arrivals"]
    pending = _pending(client, agent_id, runs(s for s in behind if first <= s <= last)) if missing else 0
    return Account(
        agent_id,
        first,
        last,
        acked,
        row["landed"],
        row["arrivals"] - row["landed"],
        pending,
        missing - pending,
        row["repeated"],
    )


def _pending(client: ClickHouse, agent_id: str, behind: list[Run]) -> int:
    """Count the records that have not landed in the meantime."""
    found = 0
    for begin in range(0, len(behind), _RUNS):
        some = behind[begin : begin + _RUNS]
        rows = client.rows(_PENDING, {"param_agent": agent_id, "param_runs": some})
        found += int(rows[0]["pending"])
    return found

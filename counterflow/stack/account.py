"""Waits until what an agent published has landed, is computed and is judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.audit.records import Account, accounts
from counterflow.pipelines.jobs import all_jobs

T = TypeVar("T")

_PENDING = """
SELECT count() AS pending
FROM counterflow.provisional
WHERE (system, ts) IN (SELECT system, ts FROM counterflow.manifest FINAL WHERE agent_id = {agent:String})
"""

_UNJUDGED_LINKS = """
SELECT count() AS pending
FROM counterflow.link AS k FINAL
LEFT JOIN counterflow.link_load AS l FINAL USING (system, link_type, link, ts)
LEFT JOIN counterflow.link_wire AS w FINAL
  ON w.system = k.system AND w.link_type = k.link_type AND w.link = k.link AND w.ts = k.ts
LEFT JOIN counterflow.verdict AS v FINAL
  ON v.rule = 'roce_cap' AND v.system = k.system AND v.entity_type = k.link_type AND v.entity = k.link AND v.ts = k.ts
WHERE k.agent_id = {agent:String} AND k.link_type IN ('nrg', 'rdma_link') AND k.prev_ts IS NOT NULL
  AND (v.n != l.n OR w.n = 0 OR l.n < 1000 * w.n
    OR (w.physical_port IS NOT NULL AND (l.phys_line_pct IS NULL OR l.capacity_pct IS NULL))
    OR (w.physical_port IS NULL AND k.system IN (SELECT system FROM counterflow.config WHERE section = 'logical_port')))
"""

_UNJUDGED_LOGS = """
SELECT count() AS pending
FROM counterflow.db_log AS k FINAL
LEFT JOIN counterflow.log_load AS l FINAL USING (system, subsystem, ts)
LEFT JOIN counterflow.verdict AS v FINAL
  ON v.rule = 'log_ceiling' AND v.system = k.system AND v.entity_type = 'log' AND v.entity = k.subsystem AND v.ts = k.ts
LEFT JOIN
(
  SELECT system, ts, uniqExact(engine_type) AS processors
  FROM counterflow.system_cpu
  WHERE engine_type IN ('gcp', 'ziip') AND engine = 'all' AND busy_pct IS NOT NULL
  GROUP BY system, ts
) AS c ON c.system = k.system AND c.ts = k.ts
LEFT JOIN
(
  SELECT system, item, min(ts) AS since
  FROM counterflow.config
  WHERE section = 'log_ceiling' AND name = 'ceiling_mb_s'
  GROUP BY system, item
) AS s ON s.system = k.system AND s.item = concat(k.subsystem, '/', ifNull(k.log_path, ''))
WHERE k.agent_id = {agent:String}
  AND (l.n = 0 OR (k.system, k.subsystem, k.ts) IN (SELECT system, entity, ts FROM ({judged})))
  AND (v.n != l.n OR l.n < 1 + c.processors + if(s.item != '' AND s.since <= k.ts, 1, 0))
"""


def account(client: ClickHouse, agent_id: str, published: int) -> Account:
    """Return the account of an agent that published so many records; what is still under way counts as lost."""
    [found] = accounts(client, {agent_id: published}, {}, [agent_id])
    return found


def wait_landed(client: ClickHouse, agent_id: str, published: int, timeout_s: float = 120) -> Account:
    """Return the account once every record has landed or is rejected, or the current one after `timeout_s`."""
    return _wait(lambda: account(client, agent_id, published), lambda now: now.lost <= 0, timeout_s)


def wait_computed(client: ClickHouse, agent_id: str, timeout_s: float = 120) -> int:
    """Wait up to `timeout_s` until no result of `agent_id` is provisional; returns how many still are."""
    return _wait_none(client, _PENDING, agent_id, timeout_s)


def wait_judged(client: ClickHouse, agent_id: str, timeout_s: float = 60) -> int:
    """Wait up to `timeout_s` until all RDMA link and Db2 log samples of `agent_id` are judged; return how many are not.

    A link sample is judged when its verdict includes its wire, and capacity and load of its port where it has one; it
    ought to have one where the HMC lists ports of the system. A log sample is judged when its verdict includes
    processors and ceiling, as far as they exist for its time.
    """
    end = time.monotonic() + timeout_s
    logs = _UNJUDGED_LOGS.replace("{judged}", all_jobs()["log_ceiling"].batch)
    links = _wait_none(client, _UNJUDGED_LINKS, agent_id, timeout_s)
    return links + _wait_none(client, logs, agent_id, max(0.0, end - time.monotonic()))


def _wait_none(client: ClickHouse, sql: str, agent_id: str, timeout_s: float) -> int:
    parameters = {"param_agent": agent_id, "param_from": "2000-01-01", "param_to": "2200-01-01"}
    return _wait(lambda: int(client.rows(sql, parameters)[0]["pending"]), lambda pending: pending == 0, timeout_s)


def _wait(look: Callable[[], T], is_done: Callable[[T], bool], timeout_s: float) -> T:
    """Look until it is done or `timeout_s` have passed; return what was seen last.

    A tenth of the time waited passes between two looks, from 0.3 to 2 s: each takes time from what is awaited.
    """
    begin = time.monotonic()
    while not is_done(seen := look()) and (waited_s := time.monotonic() - begin) < timeout_s:
        time.sleep(min(2.0, max(0.3, waited_s / 10)))
    return seen

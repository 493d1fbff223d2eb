"""Reads the intervals of Db2's log, with what an account cost in them."""

from __future__ import annotations

from counterflow.analysis.whatif.log_path import LogRow
from counterflow.base.clickhouse import ClickHouse, Settings


def read_stored(client: ClickHouse, settings: Settings) -> list[LogRow]:
    """Return the intervals of the parameters `systems`, `from` and `to`."""
    return [LogRow.model_validate(row) for row in client.rows(_STORED, settings)]


# the utilisation of a system belongs to all of its workloads, so the cost is known where one ran
_STORED = """
SELECT
  l.ts AS ts, l.interval_s AS interval_s, l.system AS system, l.subsystem AS subsystem, l.path AS path,
  nullIf(c.cec, '') AS cec, nullIf(c.storage, '') AS storage,
  l.ceiling_mb_s AS ceiling_mb_s, l.rate_mb_s AS rate_mb_s, l.waits_delta AS waits_delta,
  l.waiting_threads AS waiting_threads, l.active_threads AS active_threads, l.log_write_ms AS log_write_ms,
  l.gcp_pct AS gcp_pct, l.ziip_pct AS ziip_pct, a.accounts AS accounts,
  a.gcp_ms_per_account AS gcp_ms_per_account, a.ziip_ms_per_account AS ziip_ms_per_account
FROM (
  SELECT * FROM counterflow.log_load FINAL
  WHERE ts >= {from:DateTime64(3)} AND ts < {to:DateTime64(3)}
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
) AS l
LEFT JOIN (
  SELECT
    system, ts, any(account_cpu.accounts) AS accounts, any(account_cpu.gcp_ms_per_account) AS gcp_ms_per_account,
    any(account_cpu.ziip_ms_per_account) AS ziip_ms_per_account
  FROM counterflow.account_cpu FINAL
  WHERE basis = 'lpar' AND ts >= {from:DateTime64(3)} AND ts < {to:DateTime64(3)}
  GROUP BY system, ts
  HAVING count() = 1
) AS a ON a.system = l.system AND a.ts = l.ts
LEFT JOIN (
  SELECT
    toString(system) AS system, item, ts, anyIf(config.value, name = 'cec') AS cec,
    anyIf(config.value, name = 'storage') AS storage
  FROM counterflow.config FINAL
  WHERE section = 'log_ceiling'
  GROUP BY system, item, ts
) AS c ON c.system = l.system AND c.item = concat(l.subsystem, '/', l.path) AND c.ts = l.ceiling_since
ORDER BY l.system, l.subsystem, l.ts
"""

-- What do the synchronous I/O links (zHyperLink) do, reads against writes? A function has the work of this system, a link that of the whole machine.
-- section: Db2 log
WITH reports AS (
  SELECT
    c.system AS system, c.section AS section, c.instance AS instance, c.ts AS ts, any(c.interval_s) AS seconds,
    anyIf(toNullable(c.value), c.counter IN ('PCIERRT', 'PCIERRTC')) AS requests,
    anyIf(toNullable(c.value), c.counter IN ('PCIESRR', 'PCIESRRC')) AS successful_pct,
    anyIf(toNullable(c.value), c.counter = 'PCIETBPC') AS busy_pct,
    anyIf(toNullable(c.value), c.counter = 'PCIETRRC') AS reads,
    anyIf(toNullable(c.value), c.counter = 'PCIETWRC') AS writes
  FROM counterflow.counter AS c FINAL
  WHERE c.section IN ('PCIE', 'PCIE_CPC')
    AND <chosen c>
  GROUP BY system, section, instance, ts
)
SELECT
  system,
  if(section = 'PCIE', 'function', 'link') AS seen_as,
  instance,
  round(sum(requests * seconds) / nullIf(sumIf(seconds, requests IS NOT NULL), 0), 1) AS request_rate_avg,
  round(sum(successful_pct * requests) / nullIf(sumIf(requests, successful_pct IS NOT NULL), 0), 2) AS successful_pct_avg,
  min(successful_pct) AS successful_pct_min,
  max(busy_pct) AS busy_pct_max,
  -- RMF's labels name no unit of these rates
  round(sum(reads * seconds) / nullIf(sumIf(seconds, reads IS NOT NULL), 0), 2) AS read_rate_avg,
  round(sum(writes * seconds) / nullIf(sumIf(seconds, writes IS NOT NULL), 0), 2) AS write_rate_avg,
  round(100 * sumIf(reads * seconds, writes IS NOT NULL) / nullIf(sum((reads + writes) * seconds), 0), 1) AS read_pct
FROM reports
WHERE requests IS NOT NULL OR reads IS NOT NULL OR writes IS NOT NULL
GROUP BY system, section, instance
ORDER BY system, seen_as, instance
LIMIT 100

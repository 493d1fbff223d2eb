-- How busy are the processors? Percentages with a floating base have no average: look at processors and entitlement.
-- section: Processors
WITH samples AS (
  SELECT
    *,
    if(cpu_base = 'logical', user_pct + sys_pct, NULL) AS busy_pct,
    coalesce(physical_consumed_cores, busy_pct / 100 * logical_engines) AS processors
  FROM counterflow.system_cpu FINAL
  WHERE engine = 'all' AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
    AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
)
SELECT
  system,
  round(sum(busy_pct * interval_s) / nullIf(sumIf(interval_s, busy_pct IS NOT NULL), 0), 1) AS cpu_pct_avg,
  round(max(busy_pct), 1) AS cpu_pct_max,
  round(sum(processors * interval_s) / nullIf(sumIf(interval_s, processors IS NOT NULL), 0), 2) AS processors_avg,
  round(max(processors), 2) AS processors_max,
  round(100 * sum(processors * interval_s) / nullIf(sumIf(entitled_cores * interval_s, processors IS NOT NULL), 0), 1)
    AS entitled_pct_avg
FROM samples
GROUP BY system
ORDER BY system

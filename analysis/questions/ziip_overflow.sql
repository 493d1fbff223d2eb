-- How much work that zIIPs could take ran on general processors? By service class, the time in seconds.
-- section: Processors
SELECT
  system,
  service_class,
  round(sum(gcp_ms) / 1000, 1) AS gcp_s,
  round(sum(ziip_ms) / 1000, 1) AS ziip_s,
  round(sum(ziip_on_cp_ms) / 1000, 1) AS ziip_on_cp_s,
  round(100 * sum(ziip_on_cp_ms) / nullIf(sumIf(ziip_ms + ziip_on_cp_ms, ziip_ms IS NOT NULL AND ziip_on_cp_ms IS NOT NULL), 0), 1)
    AS overflow_pct
FROM (
  SELECT system, service_class, job.gcp_ms AS gcp_ms, job.ziip_ms AS ziip_ms, job.ziip_on_cp_ms AS ziip_on_cp_ms
  FROM counterflow.job AS job FINAL
  WHERE job.service_class IS NOT NULL
    AND <chosen job>
)
GROUP BY system, service_class
ORDER BY ziip_on_cp_s DESC NULLS LAST, system, service_class
LIMIT 40

-- What exactly does a system wait for? The single buckets below the groups, with the mean of one wait.
-- section: Waits
SELECT
  w.system AS system,
  w.bucket AS bucket,
  any(w.bucket_name) AS bucket_name,
  any(w.wait_group) AS wait_group,
  round(sum(w.wait_ms) / 1000, 1) AS time_s,
  sum(w.waits) AS waits_total,
  round(sumIf(w.wait_ms, w.waits IS NOT NULL) / nullIf(sumIf(w.waits, w.wait_ms IS NOT NULL), 0), 3) AS ms_per_wait
FROM counterflow.wait AS w FINAL
WHERE w.task = '*'
  AND <chosen w>
GROUP BY system, bucket
ORDER BY system, time_s DESC, bucket
LIMIT 32 BY system

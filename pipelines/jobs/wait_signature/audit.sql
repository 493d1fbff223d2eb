-- The results of wait_signature, from the definitions in schemas/datasets/wait_signature.yaml and docs/kpis/wait-signature.md.
WITH
  tasks AS
  (
    SELECT
      system, task, ts, count() AS buckets, max(w.landed_at) AS newest, max(w.interval_s) AS seconds,
      sum(wait_ms) AS total, sumMap(map(wait_group, ifNull(wait_ms, 0))) AS ms,
      sumMapIf(map(wait_group, assumeNotNull(waits)), isNotNull(waits)) AS ended
    FROM counterflow.wait AS w FINAL
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
    GROUP BY system, task, ts
  ),
  jobs AS
  (
    SELECT
      system, assumeNotNull(task) AS task, ts, max(j.job) AS named, max(j.job_name) AS called, max(j.job_user) AS owner,
      max(j.subsystem) AS of_subsystem, max(j.landed_at) AS known_at
    FROM counterflow.job AS j FINAL
    WHERE isNotNull(task) AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
    GROUP BY system, task, ts
  )
SELECT
  system, task, ts, buckets + isNotNull(named) AS n,
  greatest(newest, ifNull(known_at, newest)) AS landed_at, seconds AS interval_s,
  named AS job, called AS job_name, owner AS job_user, of_subsystem AS subsystem, total / 1000 AS total_s,
  ms['dispatched_cpu'] / 1000 AS dispatched_cpu_s,
  ms['cpu_queueing'] / 1000 AS cpu_queueing_s,
  ms['disk'] / 1000 AS disk_s,
  ms['journaling'] / 1000 AS journaling_s,
  ms['operating_system_contention'] / 1000 AS operating_system_contention_s,
  ms['lock_contention'] / 1000 AS lock_contention_s,
  ms['ineligible'] / 1000 AS ineligible_s,
  ms['other'] / 1000 AS other_s,
  if(mapContains(ended, 'dispatched_cpu'), ended['dispatched_cpu'], NULL) AS dispatched_cpu_waits,
  if(mapContains(ended, 'cpu_queueing'), ended['cpu_queueing'], NULL) AS cpu_queueing_waits,
  if(mapContains(ended, 'disk'), ended['disk'], NULL) AS disk_waits,
  if(mapContains(ended, 'journaling'), ended['journaling'], NULL) AS journaling_waits,
  if(mapContains(ended, 'operating_system_contention'), ended['operating_system_contention'], NULL)
    AS operating_system_contention_waits,
  if(mapContains(ended, 'lock_contention'), ended['lock_contention'], NULL) AS lock_contention_waits,
  if(mapContains(ended, 'ineligible'), ended['ineligible'], NULL) AS ineligible_waits,
  if(mapContains(ended, 'other'), ended['other'], NULL) AS other_waits
FROM tasks
LEFT JOIN jobs USING (system, task, ts)
WHERE task = '*' OR isNotNull(named) -- a task whose job is not known is no result

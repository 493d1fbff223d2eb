-- Which batch jobs make up a night, in which chain do the last ones follow each other, and what did each spend its time on?
-- section: Jobs
SELECT
  b.system AS system,
  b.job AS job,
  b.chain_place AS chain_place,
  b.begin_ts AS begin_ts,
  b.end_ts AS end_ts,
  multiIf(b.began AND b.ended, '', b.began, 'still running', 'began before') AS cut_off,
  round(b.elapsed_s, 1) AS elapsed_s,
  round(b.cpu_s, 1) AS cpu_s,
  round(b.cpu_queueing_s, 1) AS cpu_queueing_s,
  round(b.disk_s, 1) AS disk_s,
  round(b.disk_queueing_s, 1) AS disk_queueing_s,
  round(b.faults_s, 1) AS faults_s,
  round(b.locks_s, 1) AS locks_s,
  round(b.journal_s, 1) AS journal_s,
  round(b.other_s, 1) AS other_s,
  multiIf(
    b.explained_s IS NULL, 'no wait buckets of its first thread: QAPMJOBWT',
    b.disk_queueing_s IS NULL, 'no service and wait times of disks: disk_s contains disk_queueing_s',
    NULL
  ) AS reason
FROM counterflow.batch_job_within(since = {since:DateTime64(3)}, until = {until:DateTime64(3)}) AS b
WHERE (b.began OR b.ended) AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, b.system))
ORDER BY system, chain_place IS NULL, chain_place, elapsed_s DESC, job
LIMIT 100

-- How far is the resynchronization of Db2 Mirror, and when will it end? At its mean pace so far; an entry is one object, large or small.
-- section: Links and Db2 Mirror
WITH states AS (
  SELECT
    c.system AS system, c.ts AS ts,
    anyIf(c.value, c.name = 'REPLICATION_STATE') AS state, anyIf(c.value, c.name = 'REPLICATION_DETAIL') AS detail
  FROM counterflow.config AS c FINAL
  WHERE c.section = 'MIRROR_INFO' AND c.item = '*SYSBAS' AND c.ts <= {until:DateTime64(3)}
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, c.system))
  GROUP BY system, ts
),
phases AS (
  SELECT w.system AS system, argMax(w.state, w.ts) AS state, argMax(w.detail, w.ts) AS detail, max(w.ts) AS begun_at
  FROM (
    SELECT *, concat(state, ' ', detail) AS both, lagInFrame(toNullable(both)) OVER (
      PARTITION BY system ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
    ) AS both_before
    FROM states
  ) AS w
  WHERE w.both_before IS NULL OR w.both_before != w.both
  GROUP BY system
),
samples AS (
  SELECT
    c.system AS system, c.ts AS ts,
    anyIf(toNullable(c.value), c.counter = 'PENDING_ENTRIES') AS pending,
    anyIf(toNullable(c.value), c.counter = 'FAILED_ENTRIES') AS failed
  FROM counterflow.counter AS c FINAL
  WHERE c.section = 'RESYNC_STATUS' AND c.ts <= {until:DateTime64(3)}
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, c.system))
  GROUP BY system, ts
  HAVING pending IS NOT NULL
),
measured AS (
  SELECT
    p.system AS system, p.state AS state, p.detail AS detail, p.begun_at AS begun_at,
    countIf(s.ts > p.begun_at) > 0 AS sampled,
    detail = 'SYNCHRONIZING' AND sampled AS processing,
    if(sampled, max(s.ts), NULL) AS sampled_at,
    if(sampled, argMax(s.pending, s.ts), NULL) AS pending,
    if(sampled, argMax(s.failed, s.ts), NULL) AS failed,
    -- a list only shrinks while it is processed: the greatest is that of the sample before it began, or of the first after
    if(sampled, maxIf(s.pending, s.ts > p.begun_at - toIntervalMinute(2)), NULL) AS greatest,
    if(sampled, argMinIf(s.pending, s.ts, s.ts > p.begun_at - toIntervalMinute(2)), NULL) AS first,
    dateDiff('second', p.begun_at, max(s.ts)) AS seconds
  FROM phases AS p
  LEFT JOIN samples AS s ON s.system = p.system
  GROUP BY system, state, detail, begun_at
)
SELECT
  system,
  state,
  detail,
  begun_at,
  sampled_at,
  pending AS pending_entries,
  failed AS failed_entries,
  if(processing, greatest, NULL) AS pending_at_begin,
  if(processing, round(100 * (greatest - pending) / nullIf(greatest, 0), 1), NULL) AS progress_pct,
  if(processing AND pending < greatest, round((greatest - pending) / nullIf(seconds, 0), 3), NULL) AS processed_per_s,
  if(
    processing AND pending < greatest,
    sampled_at + toIntervalSecond(toInt64(pending * seconds / nullIf(greatest - pending, 0))),
    NULL
  ) AS ends_at,
  if(state = 'TRACKING' AND sampled, round((pending - first) / nullIf(seconds, 0), 3), NULL) AS tracked_per_s,
  multiIf(
    NOT sampled, 'RESYNC_STATUS was not sampled since then',
    state = 'TRACKING', 'suspended: changes are tracked',
    NOT processing, 'nothing is resynchronized',
    greatest = 0, 'no entry was pending',
    pending >= greatest, 'no entry was processed yet',
    ''
  ) AS reason
FROM measured
WHERE NOT sampled OR sampled_at > {since:DateTime64(3)}
ORDER BY system

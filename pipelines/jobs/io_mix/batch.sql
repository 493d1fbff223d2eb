-- The results of io_mix, from the definitions in schemas/datasets/io_mix.yaml and README.md.
WITH
  groups AS
  (
    SELECT
      system, ts, j.landed_at AS at, j.interval_s AS length_s, g.1 AS by, g.2 AS of, commits AS committed,
      rollbacks AS rolled_back, isNotNull(logical_reads + logical_writes + logical_other) AS whole,
      logical_reads AS r, logical_reads_for_update AS u, logical_writes AS w, logical_other AS o
    FROM counterflow.job AS j FINAL
    ARRAY JOIN [
      ('partition', toNullable('*')), ('subsystem', subsystem), ('user', job_user), ('job', job_name),
      ('generic_job', substringUTF8(job_name, 1, 6))
    ] AS g
    WHERE source = 'ibmi_tables' AND isNotNull(g.2)
      AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  ),
  sums AS
  (
    SELECT
      system, by, assumeNotNull(of) AS called, ts, count() AS rows_counted, max(at) AS newest, max(length_s) AS seconds,
      countIf(whole) AS known, countIf(whole AND isNotNull(u)) AS parted,
      sumIf(r + w + o, whole) AS everything, sumIf(r, whole) AS all_reads, sumIf(u, whole) AS updating,
      countIf(whole AND isNotNull(committed + rolled_back)) AS ended, sumIf(committed + rolled_back, whole) AS ends,
      if(ended = known AND ends <= others, 'changes', 'with_commits') AS basis,
      if(basis = 'changes', everything - ends, everything) AS on_rows,
      sumIf(w, whole) AS inserted, sumIf(o, whole) AS others, sum(committed) AS commits, sum(rolled_back) AS rollbacks
    FROM groups
    WHERE whole OR by = 'partition'
    GROUP BY system, by, called, ts
  )
SELECT
  system, by AS grouping, called AS name, ts, rows_counted AS n, newest AS landed_at, seconds AS interval_s,
  multiIf(known = 0, NULL, parted = known, 'four-way', 'three-way') AS split,
  if(known = 0, NULL, basis) AS modify_basis,
  everything AS logical_io,
  on_rows AS row_operations,
  everything / nullIf(seconds, 0) AS logical_io_per_s,
  all_reads AS reads,
  if(parted = known, all_reads - updating, NULL) AS read_only,
  if(parted = known, updating, NULL) AS read_for_update,
  inserted AS inserts,
  others AS other,
  100 * all_reads / nullIf(everything, 0) AS read_pct,
  if(parted = known, 100 * (all_reads - updating) / nullIf(everything, 0), NULL) AS read_only_pct,
  if(parted = known, 100 * updating / nullIf(everything, 0), NULL) AS read_for_update_pct,
  100 * inserted / nullIf(everything, 0) AS insert_pct,
  100 * others / nullIf(everything, 0) AS other_pct,
  100 * (on_rows - all_reads) / nullIf(on_rows, 0) AS modify_pct,
  100 * (ifNull(updating, 0) + on_rows - all_reads) / nullIf(on_rows, 0) AS exposure_pct,
  commits,
  rollbacks
FROM sums

-- What the columns of the views of runs and of work mean.

ALTER TABLE counterflow.run_span {on_cluster}
  COMMENT COLUMN `run` 'Name of the run, or its label.',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `begin_ts` 'When it began on the system, its warm-up left out, UTC.',
  COMMENT COLUMN `end_ts` 'When it ended on the system, UTC. [null: it goes on]',
  COMMENT COLUMN `told_by` 'site file, or label of recordings.',
  COMMENT COLUMN `run_begin_ts` 'When it began on the first of its systems, UTC.';

ALTER TABLE counterflow.work_done {on_cluster}
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Time since the sample before; for sources that count by interval its length. [s; gauge; null: not known]',
  COMMENT COLUMN `system` 'Name of the system.',
  COMMENT COLUMN `workload` 'Name of the batch, driver or query stream.',
  COMMENT COLUMN `run_id` 'Execution of the workload; empty where the source names none.',
  COMMENT COLUMN `unit_of_work` 'What is counted: accounts, transactions, operations, queries.',
  COMMENT COLUMN `operation` 'Kind of operation; empty is all together. Rows of one kind are not added to those of all.',
  COMMENT COLUMN `units` 'Units of work done in the interval. [units of work; delta; null: first sample, or not reported]',
  COMMENT COLUMN `users` 'Users, threads or jobs that drive it. [users; gauge; null: not reported]',
  COMMENT COLUMN `response_ms` 'Mean response time of the interval; weigh it by units. [ms; gauge; null: not reported]',
  COMMENT COLUMN `response_max_ms` 'Longest response time. [ms; gauge; null: not reported]',
  COMMENT COLUMN `response_p50_ms` 'Median of the response times; never averaged. [ms; gauge; null: not reported]',
  COMMENT COLUMN `response_p95_ms` '95th percentile of the response times; never averaged. [ms; gauge; null: not reported]',
  COMMENT COLUMN `response_p99_ms` '99th percentile of the response times; never averaged. [ms; gauge; null: not reported]';

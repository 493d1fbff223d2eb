CREATE TABLE `wait` (
  `ts` TIMESTAMP_LTZ(3),
  `interval_s` DOUBLE,
  `system` STRING,
  `source` STRING,
  `agent_id` STRING,
  `seq` BIGINT,
  `boot_id` STRING,
  `collected_at` TIMESTAMP_LTZ(3),
  `run` STRING,
  `task` STRING,
  `bucket` BIGINT,
  `bucket_name` STRING,
  `wait_group` STRING,
  `waits` DOUBLE,
  `wait_ms` DOUBLE,
  `contributing_jobs` DOUBLE,
  `pt` AS PROCTIME()
) WITH (
  'connector' = 'kafka',
  'topic' = 'counterflow.wait.v1',
  'properties.bootstrap.servers' = '{bootstrap_servers}',
  'properties.group.id' = '{group_id}',
  'properties.isolation.level' = 'read_committed',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true',
  'json.timestamp-format.standard' = 'ISO-8601'
);

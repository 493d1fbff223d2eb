CREATE TABLE `disk_bucket` (
  `ts` TIMESTAMP_LTZ(3),
  `interval_s` DOUBLE,
  `system` STRING,
  `source` STRING,
  `agent_id` STRING,
  `seq` BIGINT,
  `boot_id` STRING,
  `collected_at` TIMESTAMP_LTZ(3),
  `run` STRING,
  `disk` STRING,
  `operation` STRING,
  `bucket` BIGINT,
  `upper_us` DOUBLE,
  `operations` DOUBLE,
  `response_ms` DOUBLE,
  `service_ms` DOUBLE,
  `pt` AS PROCTIME()
) WITH (
  'connector' = 'kafka',
  'topic' = 'counterflow.disk_bucket.v1',
  'properties.bootstrap.servers' = '{bootstrap_servers}',
  'properties.group.id' = '{group_id}',
  'properties.isolation.level' = 'read_committed',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true',
  'json.timestamp-format.standard' = 'ISO-8601'
);

CREATE TABLE `deadletter` (
  `ts` TIMESTAMP_LTZ(3),
  `interval_s` DOUBLE,
  `system` STRING,
  `source` STRING,
  `agent_id` STRING,
  `seq` BIGINT,
  `boot_id` STRING,
  `collected_at` TIMESTAMP_LTZ(3),
  `run` STRING,
  `stage` STRING,
  `origin` STRING,
  `byte_offset` BIGINT,
  `reason` STRING,
  `error` STRING,
  `payload_base64` STRING,
  `payload_bytes` BIGINT,
  `pt` AS PROCTIME()
) WITH (
  'connector' = 'kafka',
  'topic' = 'counterflow.deadletter.v1',
  'properties.bootstrap.servers' = '{bootstrap_servers}',
  'properties.group.id' = '{group_id}',
  'properties.isolation.level' = 'read_committed',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json',
  'json.ignore-parse-errors' = 'true',
  'json.timestamp-format.standard' = 'ISO-8601'
);

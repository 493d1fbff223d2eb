CREATE TABLE `footprint` (
  `ts` TIMESTAMP_LTZ(3),
  `interval_s` DOUBLE,
  `system` STRING,
  `n` BIGINT,
  `command` STRING,
  `cpu_ms` DOUBLE,
  `cpu_cores` DOUBLE,
  `cpu_base` STRING,
  `memory_mb` DOUBLE,
  `threads` DOUBLE,
  PRIMARY KEY (`system`, `command`, `ts`) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'counterflow.footprint.v1',
  'properties.bootstrap.servers' = '{bootstrap_servers}',
  'key.format' = 'json',
  'key.json.timestamp-format.standard' = 'ISO-8601',
  'value.format' = 'json',
  'value.json.timestamp-format.standard' = 'ISO-8601',
  'value.json.encode.ignore-null-fields' = 'true',
  'sink.delivery-guarantee' = 'at-least-once'
);

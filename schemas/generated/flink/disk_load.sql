CREATE TABLE `disk_load` (
  `ts` TIMESTAMP_LTZ(3),
  `interval_s` DOUBLE,
  `system` STRING,
  `n` BIGINT,
  `disk` STRING,
  `leaf` BOOLEAN,
  `transfers_per_s` DOUBLE,
  `reads_per_s` DOUBLE,
  `writes_per_s` DOUBLE,
  `read_mb` DOUBLE,
  `written_mb` DOUBLE,
  `rw_ratio` DOUBLE,
  `kb_per_transfer` DOUBLE,
  `response_ms` DOUBLE,
  `busy_pct` DOUBLE,
  PRIMARY KEY (`system`, `disk`, `ts`) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'counterflow.disk_load.v1',
  'properties.bootstrap.servers' = '{bootstrap_servers}',
  'key.format' = 'json',
  'key.json.timestamp-format.standard' = 'ISO-8601',
  'value.format' = 'json',
  'value.json.timestamp-format.standard' = 'ISO-8601',
  'value.json.encode.ignore-null-fields' = 'true',
  'sink.delivery-guarantee' = 'at-least-once'
);

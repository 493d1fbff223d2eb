CREATE TABLE `job_cpu` (
  `ts` TIMESTAMP_LTZ(3),
  `interval_s` DOUBLE,
  `system` STRING,
  `n` BIGINT,
  `grouping` STRING,
  `name` STRING,
  `cpu_ms` DOUBLE,
  `cpu_cores` DOUBLE,
  `sql_cpu_ms` DOUBLE,
  `tasks` DOUBLE,
  PRIMARY KEY (`system`, `grouping`, `name`, `ts`) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'counterflow.job_cpu.v1',
  'properties.bootstrap.servers' = '{bootstrap_servers}',
  'key.format' = 'json',
  'key.json.timestamp-format.standard' = 'ISO-8601',
  'value.format' = 'json',
  'value.json.timestamp-format.standard' = 'ISO-8601',
  'value.json.encode.ignore-null-fields' = 'true',
  'sink.delivery-guarantee' = 'at-least-once'
);

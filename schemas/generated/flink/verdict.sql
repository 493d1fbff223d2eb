CREATE TABLE `verdict` (
  `ts` TIMESTAMP_LTZ(3),
  `interval_s` DOUBLE,
  `system` STRING,
  `n` BIGINT,
  `rule` STRING,
  `entity_type` STRING,
  `entity` STRING,
  `state` STRING,
  `signal` STRING,
  `stale` BOOLEAN,
  `reason` STRING,
  `since` TIMESTAMP_LTZ(3),
  `evidence` STRING,
  `parameters` STRING,
  PRIMARY KEY (`rule`, `system`, `entity_type`, `entity`, `ts`) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'counterflow.verdict.v1',
  'properties.bootstrap.servers' = '{bootstrap_servers}',
  'key.format' = 'json',
  'key.json.timestamp-format.standard' = 'ISO-8601',
  'value.format' = 'json',
  'value.json.timestamp-format.standard' = 'ISO-8601',
  'value.json.encode.ignore-null-fields' = 'true',
  'sink.delivery-guarantee' = 'at-least-once'
);

CREATE TABLE IF NOT EXISTS counterflow.deadletter {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval that the row covers. [s; gauge; null: the row describes no interval or its length is unknown]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system the counters belong to.' CODEC(ZSTD(1)),
  `source` LowCardinality(String) COMMENT 'Format that the row was read from.' CODEC(ZSTD(1)),
  `agent_id` LowCardinality(String) COMMENT 'Agent that published the row; also its Kafka transactional.id.' CODEC(ZSTD(1)),
  `seq` UInt64 COMMENT 'Number of the record within its agent, contiguous over all datasets and restarts: a gap is a loss, a repeat a duplicate. [records; cumulative]' CODEC(Delta, ZSTD(1)),
  `boot_id` LowCardinality(Nullable(String)) COMMENT 'Run of the recorder, or boot of the system, that the counters belong to; cumulative counters compare only within one. [null: the source names no run]' CODEC(ZSTD(1)),
  `collected_at` DateTime64(3, 'UTC') COMMENT 'When the agent read the row, UTC, by the agent\'s clock.' CODEC(Delta, ZSTD(1)),
  `run` LowCardinality(Nullable(String)) COMMENT 'Label of a measurement run. [null: the agent labels no run]' CODEC(ZSTD(1)),
  `stage` LowCardinality(String) COMMENT 'Part that refused it.' CODEC(ZSTD(1)),
  `origin` String COMMENT 'Where the bytes stand: `path:line`, or `topic:partition:offset`.' CODEC(ZSTD(1)),
  `byte_offset` Nullable(UInt64) COMMENT 'Offset of the bytes in the file. [bytes; gauge; null: not from a file]' CODEC(T64, ZSTD(1)),
  `reason` LowCardinality(String) COMMENT 'Reason of the parser, `schema`, or the exception code of the server.' CODEC(ZSTD(1)),
  `error` String COMMENT 'What was expected and what was found.' CODEC(ZSTD(1)),
  `payload_base64` String COMMENT 'The refused bytes, base64, the first 64 KiB of them.' CODEC(ZSTD(1)),
  `payload_bytes` UInt64 COMMENT 'Length of the refused bytes. [bytes; gauge]' CODEC(T64, ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, origin, stage, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One piece of input that was refused anywhere, with its bytes.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.deadletter_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'deadletter' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.deadletter
GROUP BY agent_id, day;

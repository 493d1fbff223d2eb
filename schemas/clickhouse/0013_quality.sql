CREATE TABLE IF NOT EXISTS counterflow.quality {on_cluster}
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
  `file` String COMMENT 'Path of the file as the agent was given it.' CODEC(ZSTD(1)),
  `line` UInt64 COMMENT 'Number of the line, from 1; 0 where the anomaly is of the file. [lines; gauge]' CODEC(T64, ZSTD(1)),
  `byte_offset` UInt64 COMMENT 'Offset of the line in the file. [bytes; gauge]' CODEC(T64, ZSTD(1)),
  `section` LowCardinality(Nullable(String)) COMMENT 'Section of the line. [null: the line names none]' CODEC(ZSTD(1)),
  `snapshot` LowCardinality(Nullable(String)) COMMENT 'Snapshot of the line (Tnnnn). [null: outside a snapshot]' CODEC(ZSTD(1)),
  `reason` LowCardinality(String) COMMENT 'One of a closed list; see the page on data quality.' CODEC(ZSTD(1)),
  `kept` LowCardinality(String) COMMENT '`all`: repaired or only noted; `part`: some fields of the line; `none`: refused, its bytes are in deadletter.' CODEC(ZSTD(1)),
  `detail` String COMMENT 'What was expected, what was found, what was done.' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, file, line, reason, detail, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One anomaly met in one file, and what was kept of the line.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.quality_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'quality' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.quality
GROUP BY agent_id, day;

-- What arrived, by sequence number, although ReplacingMergeTree merges duplicates away.
-- One row an agent, dataset and day of reading; filled by a view on every table that agents fill.
CREATE TABLE IF NOT EXISTS counterflow.ledger {on_cluster}
(
  agent_id LowCardinality(String) COMMENT 'Agent that published the rows.' CODEC(ZSTD(1)),
  dataset LowCardinality(String) COMMENT 'Dataset of the rows; deadletter where a record was refused on the way.' CODEC(ZSTD(1)),
  day Date COMMENT 'Day on which the agent read the rows, UTC.',
  rows SimpleAggregateFunction(sum, UInt64) COMMENT 'Rows inserted, duplicates counted.' CODEC(T64, ZSTD(1)),
  seqs AggregateFunction(groupBitmap, UInt64) COMMENT 'Their sequence numbers, as a set.' CODEC(ZSTD(1))
)
ENGINE = {engine_prefix}AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (agent_id, dataset, day)
TTL day + INTERVAL 430 DAY
SETTINGS non_replicated_deduplication_window = 100000, replicated_deduplication_window = 100000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'Rows and sequence numbers that arrived, by agent, dataset and day.';

CREATE VIEW IF NOT EXISTS counterflow.loss {on_cluster} AS
SELECT
  agent_id,
  bitmapMin(arrived) AS first_seq,
  bitmapMax(arrived) AS last_seq,
  landed,
  deadletters,
  last_seq - first_seq + 1 - bitmapCardinality(arrived) AS lost,
  landed + deadletters - bitmapCardinality(arrived) AS duplicates
FROM
(
  SELECT
    agent_id,
    sumIf(rows, dataset != 'deadletter') AS landed,
    sumIf(rows, dataset = 'deadletter') AS deadletters,
    groupBitmapMergeState(seqs) AS arrived
  FROM counterflow.ledger
  WHERE agent_id != 'unknown' -- dead letters in which no agent and no seq could be read
  GROUP BY agent_id
)
COMMENT 'Records lost and doubled between an agent and the tables, by sequence number; what is still under way counts as lost until it has landed.';

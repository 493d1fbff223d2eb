-- What became of dead letters. They are never changed or deleted before their time: each that was published again, or
-- dropped for a reason, has a row here.
CREATE TABLE IF NOT EXISTS counterflow.deadletter_handled {on_cluster}
(
  id String COMMENT 'Dead letter, as the view deadletter_open names it.' CODEC(ZSTD(1)),
  action LowCardinality(String) COMMENT '`replayed` or `dropped`.' CODEC(ZSTD(1)),
  reason String COMMENT 'Why it was dropped, or where it was published: topic.' CODEC(ZSTD(1)),
  handled_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'When, UTC.' CODEC(Delta, ZSTD(1))
)
ENGINE = {engine_prefix}ReplacingMergeTree(handled_at)
ORDER BY id
TTL toDateTime(handled_at) + INTERVAL 430 DAY
COMMENT 'Dead letters that were published again or dropped.';

CREATE VIEW IF NOT EXISTS counterflow.deadletter_open {on_cluster} AS
SELECT lower(hex(sipHash64(system, origin, stage, ts))) AS id, *
FROM counterflow.deadletter FINAL
WHERE id NOT IN (SELECT id FROM counterflow.deadletter_handled)
COMMENT 'Dead letters that nobody has handled yet.';

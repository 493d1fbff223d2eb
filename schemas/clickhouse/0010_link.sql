CREATE TABLE IF NOT EXISTS counterflow.link {on_cluster}
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
  `link` LowCardinality(String) COMMENT 'Name of the interface or port.' CODEC(ZSTD(1)),
  `link_type` LowCardinality(String) COMMENT 'Network interface, Fibre Channel adapter, shared Ethernet adapter, or a physical adapter below one; Ethernet line description, physical or logical port of an SR-IOV adapter, network redundancy group, its link, RDMA link, RDMA connection.' CODEC(ZSTD(1)),
  `out_kb` Nullable(Float64) COMMENT 'Data sent in the interval. [KB of 1,024 bytes; delta; null: not reported]' CODEC(ZSTD(1)),
  `in_kb` Nullable(Float64) COMMENT 'Data received in the interval. [KB of 1,024 bytes; delta; null: not reported]' CODEC(ZSTD(1)),
  `out_packets` Nullable(Float64) COMMENT 'Packets sent in the interval (Fibre Channel: frames). [packets; delta; null: not reported]' CODEC(ZSTD(1)),
  `in_packets` Nullable(Float64) COMMENT 'Packets received in the interval (Fibre Channel: frames). [packets; delta; null: not reported]' CODEC(ZSTD(1)),
  `out_errors` Nullable(Float64) COMMENT 'Packets not sent for errors. [packets; delta; null: not reported]' CODEC(ZSTD(1)),
  `in_errors` Nullable(Float64) COMMENT 'Packets received with errors. [packets; delta; null: not reported]' CODEC(ZSTD(1)),
  `out_dropped` Nullable(Float64) COMMENT 'Packets dropped on the way out. [packets; delta; null: not reported]' CODEC(ZSTD(1)),
  `in_dropped` Nullable(Float64) COMMENT 'Packets dropped on the way in. [packets; delta; null: not reported]' CODEC(ZSTD(1)),
  `collisions` Nullable(Float64) COMMENT 'Collisions. [packets; delta; null: not reported]' CODEC(ZSTD(1)),
  `out_bytes_per_packet` Nullable(Float64) COMMENT 'Mean size of a sent packet. [bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `in_bytes_per_packet` Nullable(Float64) COMMENT 'Mean size of a received packet. [bytes; gauge; null: not reported]' CODEC(ZSTD(1)),
  `state` LowCardinality(Nullable(String)) COMMENT 'State as the source words it: UP, DOWN, ACTIVE. [null: not reported]' CODEC(ZSTD(1)),
  `group` LowCardinality(Nullable(String)) COMMENT 'What the link belongs to: the network redundancy group, or the mirrored pair. [null: it belongs to none]' CODEC(ZSTD(1)),
  `physical_port` LowCardinality(Nullable(String)) COMMENT 'Adapter and physical port that carry the link; links of several systems share one. [null: not reported]' CODEC(ZSTD(1)),
  `peer` LowCardinality(Nullable(String)) COMMENT 'Address at the other end. [null: not reported]' CODEC(ZSTD(1)),
  `line_bits_s` Nullable(Float64) COMMENT 'Rate of the line or of the physical port, each way. [bits/s; gauge; null: not reported]' CODEC(ZSTD(1)),
  `capacity_pct` Nullable(Float64) COMMENT 'Share of the physical port that the hypervisor guarantees the logical port. [%; percent; null: not a logical port, or not reported]' CODEC(ZSTD(1)),
  `link_count` Nullable(Float64) COMMENT 'Links of the group. [links; gauge; null: not a group]' CODEC(ZSTD(1)),
  `active_link_count` Nullable(Float64) COMMENT 'Links of the group that are up. [links; gauge; null: not a group]' CODEC(ZSTD(1)),
  `load_balance_link_count` Nullable(Float64) COMMENT 'Links that share the load of the group. [links; gauge; null: not a group]' CODEC(ZSTD(1)),
  `connections` Nullable(Float64) COMMENT 'Connections. [connections; gauge; null: not reported]' CODEC(ZSTD(1)),
  `prev_ts` Nullable(DateTime64(3, 'UTC')) COMMENT 'Time of the preceding sample of the running counts, UTC. [null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `out_bytes` Nullable(Float64) COMMENT 'Data sent since the counter began. [bytes; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `in_bytes` Nullable(Float64) COMMENT 'Data received since the counter began. [bytes; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `out_messages` Nullable(Float64) COMMENT 'Messages sent since the counter began. [messages; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `in_messages` Nullable(Float64) COMMENT 'Messages received since the counter began. [messages; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `dropped` Nullable(Float64) COMMENT 'Packets dropped since the counter began. [packets; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `rnr_naks` Nullable(Float64) COMMENT 'Receiver-not-ready refusals received and sent since the counter began. [packets; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `failures` Nullable(Float64) COMMENT 'Failures of the link since the counter began. [failures; cumulative; null: the source keeps no running count]' CODEC(Delta, ZSTD(1)),
  `prev_out_bytes` Nullable(Float64) COMMENT '`out_bytes` at prev_ts. [bytes; cumulative; null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_in_bytes` Nullable(Float64) COMMENT '`in_bytes` at prev_ts. [bytes; cumulative; null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_out_messages` Nullable(Float64) COMMENT '`out_messages` at prev_ts. [messages; cumulative; null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_in_messages` Nullable(Float64) COMMENT '`in_messages` at prev_ts. [messages; cumulative; null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_dropped` Nullable(Float64) COMMENT '`dropped` at prev_ts. [packets; cumulative; null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_rnr_naks` Nullable(Float64) COMMENT '`rnr_naks` at prev_ts. [packets; cumulative; null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  `prev_failures` Nullable(Float64) COMMENT '`failures` at prev_ts. [failures; cumulative; null: no preceding sample, or the counters restarted]' CODEC(Delta, ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(collected_at)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, link_type, link, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One network interface or port of one system over one interval. Outbound and inbound are never added.';

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.link_to_ledger {on_cluster} TO counterflow.ledger AS
SELECT agent_id, 'link' AS dataset, toDate(collected_at) AS day, count() AS rows, groupBitmapState(seq) AS seqs
FROM counterflow.link
GROUP BY agent_id, day;

CREATE MATERIALIZED VIEW IF NOT EXISTS counterflow.link_to_1m {on_cluster} TO counterflow.metric_1m AS
SELECT metric, system, entity AS instance, minute AS ts, toUInt64(1) AS n, x AS total, x AS lo, x AS hi
FROM
(
  SELECT
    system, concat(`link_type`, '/', `link`) AS entity,
    toDateTime(toStartOfMinute(ts + toIntervalMillisecond(59999))) AS minute,
    metric, assumeNotNull(value_or_null) AS x
  FROM counterflow.link
  ARRAY JOIN
    ['link.out_kb', 'link.in_kb', 'link.out_packets', 'link.in_packets', 'link.out_errors', 'link.in_errors', 'link.out_dropped', 'link.in_dropped', 'link.collisions', 'link.out_bytes_per_packet', 'link.in_bytes_per_packet', 'link.line_bits_s', 'link.capacity_pct', 'link.link_count', 'link.active_link_count', 'link.load_balance_link_count', 'link.connections', 'link.out_bytes', 'link.in_bytes', 'link.out_messages', 'link.in_messages', 'link.dropped', 'link.rnr_naks', 'link.failures', 'link.prev_out_bytes', 'link.prev_in_bytes', 'link.prev_out_messages', 'link.prev_in_messages', 'link.prev_dropped', 'link.prev_rnr_naks', 'link.prev_failures'] AS metric,
    [toNullable(toFloat64(`out_kb`)), toNullable(toFloat64(`in_kb`)), toNullable(toFloat64(`out_packets`)), toNullable(toFloat64(`in_packets`)), toNullable(toFloat64(`out_errors`)), toNullable(toFloat64(`in_errors`)), toNullable(toFloat64(`out_dropped`)), toNullable(toFloat64(`in_dropped`)), toNullable(toFloat64(`collisions`)), toNullable(toFloat64(`out_bytes_per_packet`)), toNullable(toFloat64(`in_bytes_per_packet`)), toNullable(toFloat64(`line_bits_s`)), toNullable(toFloat64(`capacity_pct`)), toNullable(toFloat64(`link_count`)), toNullable(toFloat64(`active_link_count`)), toNullable(toFloat64(`load_balance_link_count`)), toNullable(toFloat64(`connections`)), toNullable(toFloat64(`out_bytes`)), toNullable(toFloat64(`in_bytes`)), toNullable(toFloat64(`out_messages`)), toNullable(toFloat64(`in_messages`)), toNullable(toFloat64(`dropped`)), toNullable(toFloat64(`rnr_naks`)), toNullable(toFloat64(`failures`)), toNullable(toFloat64(`prev_out_bytes`)), toNullable(toFloat64(`prev_in_bytes`)), toNullable(toFloat64(`prev_out_messages`)), toNullable(toFloat64(`prev_in_messages`)), toNullable(toFloat64(`prev_dropped`)), toNullable(toFloat64(`prev_rnr_naks`)), toNullable(toFloat64(`prev_failures`))] AS value_or_null
  WHERE value_or_null IS NOT NULL
);

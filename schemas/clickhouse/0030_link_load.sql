CREATE TABLE IF NOT EXISTS counterflow.link_load {on_cluster}
(
  `ts` DateTime64(3, 'UTC') COMMENT 'End of the interval, UTC.' CODEC(Delta, ZSTD(1)),
  `interval_s` Nullable(Float64) COMMENT 'Length of the interval. [s; gauge; null: the inputs give no length]' CODEC(ZSTD(1)),
  `system` LowCardinality(String) COMMENT 'Name of the system.' CODEC(ZSTD(1)),
  `n` UInt64 COMMENT 'Distinct input rows the result is made of; less than the manifest\'s rows means provisional. [rows; gauge]' CODEC(T64, ZSTD(1)),
  `link` LowCardinality(String) COMMENT 'Name of the link as in the dataset link.' CODEC(ZSTD(1)),
  `link_type` LowCardinality(String) COMMENT 'Its type as in the dataset link.' CODEC(ZSTD(1)),
  `group` LowCardinality(Nullable(String)) COMMENT 'What the link belongs to: the network redundancy group, or the mirrored pair. [null: it belongs to none]' CODEC(ZSTD(1)),
  `physical_port` LowCardinality(Nullable(String)) COMMENT 'Adapter and physical port that carry the link. [null: neither reported nor configured]' CODEC(ZSTD(1)),
  `peer` LowCardinality(Nullable(String)) COMMENT 'Address at the other end. [null: not reported]' CODEC(ZSTD(1)),
  `own_out_bytes_s` Nullable(Float64) COMMENT 'Bytes the link sent a second. [bytes/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `own_in_bytes_s` Nullable(Float64) COMMENT 'Bytes the link received a second. [bytes/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `own_out_msgs_s` Nullable(Float64) COMMENT 'Messages the link sent a second. [messages/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `own_in_msgs_s` Nullable(Float64) COMMENT 'Messages the link received a second. [messages/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `own_msgs_s` Nullable(Float64) COMMENT 'Messages a second, sent and received: a count of work, not a load of the line. [messages/s; rate; null: one of both directions unknown]' CODEC(ZSTD(1)),
  `out_packets_s` Nullable(Float64) COMMENT 'Packets sent a second. [packets/s; rate; null: not reported]' CODEC(ZSTD(1)),
  `in_packets_s` Nullable(Float64) COMMENT 'Packets received a second. [packets/s; rate; null: not reported]' CODEC(ZSTD(1)),
  `bytes_per_message` Nullable(Float64) COMMENT 'Bytes a message, sent and received. [bytes; gauge; null: no message or bytes unknown]' CODEC(ZSTD(1)),
  `line_bits_s` Nullable(Float64) COMMENT 'Rate of the line or of the physical port, each way; the one figure in bits. [bits/s; gauge; null: not reported]' CODEC(ZSTD(1)),
  `out_line_pct` Nullable(Float64) COMMENT 'Bytes sent of what the line takes. [%; percent; null: bytes or line rate unknown]' CODEC(ZSTD(1)),
  `in_line_pct` Nullable(Float64) COMMENT 'Bytes received of what the line takes. [%; percent; null: bytes or line rate unknown]' CODEC(ZSTD(1)),
  `capacity_pct` Nullable(Float64) COMMENT 'Share of the physical port that the hypervisor guarantees the logical port of the link. [%; percent; null: not known, or several logical ports of the system share the physical port]' CODEC(ZSTD(1)),
  `out_capacity_pct` Nullable(Float64) COMMENT 'Bytes sent of the guaranteed share of the line; above 100 the link borrows. [%; percent; null: bytes, line rate or capacity unknown]' CODEC(ZSTD(1)),
  `in_capacity_pct` Nullable(Float64) COMMENT 'Bytes received of the guaranteed share of the line; above 100 the link borrows. [%; percent; null: bytes, line rate or capacity unknown]' CODEC(ZSTD(1)),
  `phys_out_bytes_s` Nullable(Float64) COMMENT 'Bytes a second that all links of the physical port sent. [bytes/s; rate; null: physical port of the link, or bytes of one of its logical ports, unknown]' CODEC(ZSTD(1)),
  `phys_in_bytes_s` Nullable(Float64) COMMENT 'Bytes a second that all links of the physical port received. [bytes/s; rate; null: physical port of the link, or bytes of one of its logical ports, unknown]' CODEC(ZSTD(1)),
  `phys_line_pct` Nullable(Float64) COMMENT 'Busier direction of the physical port, of what the line takes. [%; percent; null: bytes of the physical port or line rate unknown]' CODEC(ZSTD(1)),
  `adapter_share_pct` Nullable(Float64) COMMENT 'Bytes of the link, of all bytes of its physical port, both directions. [%; percent; null: bytes of the link or of its physical port unknown]' CODEC(ZSTD(1)),
  `link_count` Nullable(Float64) COMMENT 'Links of the group. [links; gauge; null: not a group]' CODEC(ZSTD(1)),
  `active_link_count` Nullable(Float64) COMMENT 'Links of the group that are up. [links; gauge; null: not a group]' CODEC(ZSTD(1)),
  `load_balance_count` Nullable(Float64) COMMENT 'Links that share the load of the group. [links; gauge; null: not a group]' CODEC(ZSTD(1)),
  `drops_s` Nullable(Float64) COMMENT 'Packets dropped a second. [packets/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `rnr_nak_s` Nullable(Float64) COMMENT 'Receiver-not-ready refusals a second. [packets/s; rate; null: not reported, first sample, restart, or gap]' CODEC(ZSTD(1)),
  `reset` Nullable(Bool) COMMENT 'A running count is less than in the preceding sample; the rates are then null. [null: no preceding sample of a running count]' CODEC(ZSTD(1)),
  `failover` Nullable(Bool) COMMENT 'A link failed in the interval. [null: no preceding count of failures]' CODEC(ZSTD(1)),
  landed_at DateTime('UTC') MATERIALIZED now() COMMENT 'When the row was inserted, UTC; not in SELECT *.' CODEC(Delta, ZSTD(1)),
  CONSTRAINT ts_sane CHECK ts >= '2000-01-01'
)
ENGINE = {engine_prefix}ReplacingMergeTree(n)
PARTITION BY toYYYYMMDD(ts)
ORDER BY (system, link_type, link, ts)
TTL landed_at + INTERVAL 400 DAY
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1, min_bytes_for_wide_part = 134217728
COMMENT 'One link over one interval, with what the physical port below it carried meanwhile. Outbound and inbound are never added.';

-- How full is a link, and how full is the port below it? One row per link and interval. Formulas and caveats: README.md;
-- columns: schemas/datasets/link_load.yaml.
--
-- physical   the rows of logical ports, of every system, and of the physical port itself, at the same point of a grid of
--            5 s. A sample counts for every point of its interval, a listing for those that follow until there is a newer
--            one; either for 5 min at most. A link takes the newest point that its own interval has reached. So each
--            port counts once whatever its cadence.
--
-- A port's own row names the physical port; an NRG or RDMA link takes it from link_wire
-- (docs/decisions/0008-links-and-verdicts.md). `n` counts the row and what was set beside it (samples, line rates,
-- capacities of ports), and 1,000 times the `n` of the wire: the result that knows more replaces the one that knew
-- less, also where a port is taken back.

CREATE TEMPORARY VIEW sampled AS
SELECT
  *,
  COALESCE(out_bytes < prev_out_bytes, FALSE)
    OR COALESCE(in_bytes < prev_in_bytes, FALSE)
    OR COALESCE(out_messages < prev_out_messages, FALSE)
    OR COALESCE(in_messages < prev_in_messages, FALSE)
    OR COALESCE(dropped < prev_dropped, FALSE)
    OR COALESCE(rnr_naks < prev_rnr_naks, FALSE)
    OR COALESCE(failures < prev_failures, FALSE) AS fell
FROM link;

-- counted_s: the divisor of running counts, null where they allow no rate
CREATE TEMPORARY VIEW timed AS
SELECT
  *,
  CASE WHEN apart_s > 0 AND NOT fell AND (interval_s IS NULL OR apart_s <= 2 * interval_s) THEN apart_s END AS counted_s
FROM sampled;

CREATE TEMPORARY VIEW loads AS
SELECT
  ts,
  CASE WHEN apart_s > 0 THEN apart_s ELSE interval_s END AS interval_s,
  `system`, link, link_type, `group`, physical_port, peer,
  COALESCE((out_bytes - prev_out_bytes) / counted_s, out_kb * 1024 / NULLIF(interval_s, 0)) AS own_out_bytes_s,
  COALESCE((in_bytes - prev_in_bytes) / counted_s, in_kb * 1024 / NULLIF(interval_s, 0)) AS own_in_bytes_s,
  (out_messages - prev_out_messages) / counted_s AS own_out_msgs_s,
  (in_messages - prev_in_messages) / counted_s AS own_in_msgs_s,
  out_packets / NULLIF(interval_s, 0) AS out_packets_s,
  in_packets / NULLIF(interval_s, 0) AS in_packets_s,
  NULLIF(line_bits_s, 0) AS line_bits_s,
  NULLIF(capacity_pct, 0) AS capacity_pct,
  link_count, active_link_count,
  load_balance_link_count AS load_balance_count,
  COALESCE((dropped - prev_dropped) / counted_s, (out_dropped + in_dropped) / NULLIF(interval_s, 0)) AS drops_s,
  (rnr_naks - prev_rnr_naks) / counted_s AS rnr_nak_s,
  CASE WHEN prev_ts IS NOT NULL THEN fell END AS `reset`,
  failures > prev_failures AS failover,
  EXTRACT(EPOCH FROM ts) + EXTRACT(MILLISECOND FROM ts) / 1000e0 AS ends_s,
  EXTRACT(EPOCH FROM ts) / 5 AS point,
  pt
FROM timed;

-- An INSERT of its own: a union with the sums below has no key, and Flink would delete each result before writing it anew.
INSERT INTO link_load (
  ts, interval_s, `system`, n, link, link_type, `group`, physical_port, peer,
  own_out_bytes_s, own_in_bytes_s, own_out_msgs_s, own_in_msgs_s, own_msgs_s, out_packets_s, in_packets_s,
  bytes_per_message, line_bits_s, out_line_pct, in_line_pct, capacity_pct, out_capacity_pct, in_capacity_pct,
  phys_out_bytes_s, phys_in_bytes_s, phys_line_pct, adapter_share_pct,
  link_count, active_link_count, load_balance_count, drops_s, rnr_nak_s, `reset`, failover
)
SELECT
  ts, interval_s, `system`, 1, link, link_type, `group`, physical_port, peer,
  own_out_bytes_s, own_in_bytes_s, own_out_msgs_s, own_in_msgs_s,
  own_out_msgs_s + own_in_msgs_s,
  out_packets_s, in_packets_s,
  (own_out_bytes_s + own_in_bytes_s) / NULLIF(own_out_msgs_s + own_in_msgs_s, 0),
  line_bits_s,
  100 * own_out_bytes_s * 8 / line_bits_s,
  100 * own_in_bytes_s * 8 / line_bits_s,
  capacity_pct,
  100 * own_out_bytes_s * 8 / (line_bits_s * capacity_pct / 100),
  100 * own_in_bytes_s * 8 / (line_bits_s * capacity_pct / 100),
  CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE),
  link_count, active_link_count, load_balance_count, drops_s, rnr_nak_s, `reset`, failover
FROM loads
WHERE physical_port IS NULL AND link_type NOT IN ('nrg', 'rdma_link');

-- What is set beside links: ports at points. A sample counts for the points of its interval; a listing, which has no
-- interval, for the points that follow it.
CREATE TEMPORARY VIEW reaching AS
SELECT
  *,
  CASE WHEN interval_s IS NULL THEN point + 59 ELSE point END AS last_slot,
  CASE WHEN interval_s IS NULL THEN 60
    ELSE CAST(LEAST(point - CAST(FLOOR((ends_s - interval_s) / 5) AS BIGINT), 60) AS INT) END AS slots,
  CAST(CAST(ends_s * 1000 AS BIGINT) AS STRING) || ' ' AS since
FROM loads
WHERE physical_port IS NOT NULL AND link_type IN ('logical_port', 'physical_port');

CREATE TEMPORARY VIEW spread AS
SELECT
  physical_port, `system`, link_type AS port_type, link AS port, slot,
  interval_s IS NOT NULL AS sampled, own_out_bytes_s AS out_bytes_s, own_in_bytes_s AS in_bytes_s,
  since || CAST(line_bits_s AS STRING) AS line_since, since || CAST(capacity_pct AS STRING) AS capacity_since
FROM slots_of_reaching;

-- Bytes and capacity of a port arrive in rows of their own, and each may arrive twice. Of listed values the newest
-- holds: prefixed with a time of 13 digits, it is the greatest text.
CREATE TEMPORARY VIEW ports AS
SELECT
  physical_port, `system`, port_type, port, slot, MAX(CASE WHEN sampled THEN 1 ELSE 0 END) AS sampled,
  MAX(out_bytes_s) AS out_bytes_s, MAX(in_bytes_s) AS in_bytes_s,
  MAX(line_since) AS line_since, CAST(SUBSTRING(MAX(capacity_since), 15) AS DOUBLE) AS capacity_pct
FROM spread
GROUP BY physical_port, `system`, port_type, port, slot;

CREATE TEMPORARY VIEW once AS
SELECT * FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY `system`, link_type, link, ts ORDER BY pt) AS arrival
  FROM loads
  WHERE physical_port IS NOT NULL OR link_type IN ('nrg', 'rdma_link')
) WHERE arrival = 1;

CREATE TEMPORARY VIEW wires AS
SELECT `system`, link_type, link, ts, n, physical_port, logical_port, pair, capacity_pct, line_bits_s
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY `system`, link_type, link, ts ORDER BY n DESC) AS place
  FROM link_wire
) WHERE place = 1;

CREATE TEMPORARY VIEW carried AS
SELECT
  *, physical_port AS port_of, CAST(NULL AS STRING) AS port_id, CAST(NULL AS STRING) AS pair, CAST(0 AS BIGINT) AS wire_n,
  CAST(NULL AS DOUBLE) AS site_capacity_pct, CAST(NULL AS DOUBLE) AS site_line_bits_s
FROM once
WHERE link_type NOT IN ('nrg', 'rdma_link')
UNION ALL
SELECT o.*, w.physical_port, w.logical_port, w.pair, w.n, w.capacity_pct, w.line_bits_s
FROM once AS o
INNER JOIN wires AS w
  ON w.`system` = o.`system` AND w.link_type = o.link_type AND w.link = o.link AND w.ts = o.ts;

-- Each link by itself, again with its wire, and again with each port: the sums below always have a row, so that no
-- result is deleted before it is written anew, as with a join of sums.
CREATE TEMPORARY VIEW pairs AS
SELECT
  o.*, CAST(NULL AS STRING) AS port_of, CAST(NULL AS STRING) AS port_id, CAST(NULL AS STRING) AS pair,
  CAST(0 AS BIGINT) AS wire_n, CAST(NULL AS DOUBLE) AS site_capacity_pct, CAST(NULL AS DOUBLE) AS site_line_bits_s,
  CAST(NULL AS STRING) AS port_type, CAST(NULL AS BOOLEAN) AS own_port, 0 AS sampled,
  CAST(NULL AS DOUBLE) AS port_out_bytes_s, CAST(NULL AS DOUBLE) AS port_in_bytes_s,
  CAST(NULL AS STRING) AS port_line_since, CAST(NULL AS DOUBLE) AS port_capacity_pct
FROM once AS o
UNION ALL
SELECT
  c.*, CAST(NULL AS STRING), CAST(NULL AS BOOLEAN), 0, CAST(NULL AS DOUBLE), CAST(NULL AS DOUBLE), CAST(NULL AS STRING),
  CAST(NULL AS DOUBLE)
FROM carried AS c
UNION ALL
SELECT
  c.*, p.port_type, p.`system` = c.`system` AND COALESCE(p.port = c.port_id, TRUE), p.sampled, p.out_bytes_s, p.in_bytes_s,
  p.line_since, p.capacity_pct
FROM carried AS c
INNER JOIN ports AS p ON p.physical_port = c.port_of AND p.slot = c.point;

CREATE TEMPORARY VIEW sums AS
SELECT
  ts, `system`, link, link_type,
  1 + 1000 * MAX(wire_n) + SUM(sampled) + COUNT(port_line_since) + COUNT(port_capacity_pct) AS n,
  MAX(interval_s) AS interval_s, MAX(`group`) AS of_group, MAX(pair) AS pair, MAX(port_of) AS physical_port,
  MAX(peer) AS peer,
  MAX(own_out_bytes_s) AS own_out_bytes_s, MAX(own_in_bytes_s) AS own_in_bytes_s,
  MAX(own_out_msgs_s) AS own_out_msgs_s, MAX(own_in_msgs_s) AS own_in_msgs_s,
  MAX(out_packets_s) AS out_packets_s, MAX(in_packets_s) AS in_packets_s,
  COALESCE(MAX(site_line_bits_s), MAX(line_bits_s), CAST(SUBSTRING(MAX(port_line_since), 15) AS DOUBLE)) AS line_bits_s,
  COALESCE(MAX(site_capacity_pct), MAX(capacity_pct)) AS capacity_pct,
  MAX(port_capacity_pct) FILTER (WHERE own_port) AS port_capacity_pct,
  COUNT(port_capacity_pct) FILTER (WHERE own_port) AS own_ports,
  SUM(port_out_bytes_s) FILTER (WHERE port_type = 'physical_port') AS whole_out_bytes_s,
  SUM(port_in_bytes_s) FILTER (WHERE port_type = 'physical_port') AS whole_in_bytes_s,
  SUM(port_out_bytes_s) FILTER (WHERE port_type = 'logical_port') AS parts_out_bytes_s,
  SUM(port_in_bytes_s) FILTER (WHERE port_type = 'logical_port') AS parts_in_bytes_s,
  SUM(sampled) FILTER (WHERE port_type = 'logical_port') AS parts,
  COUNT(port_out_bytes_s) FILTER (WHERE port_type = 'logical_port') AS parts_out,
  COUNT(port_in_bytes_s) FILTER (WHERE port_type = 'logical_port') AS parts_in,
  MAX(link_count) AS link_count, MAX(active_link_count) AS active_link_count,
  MAX(load_balance_count) AS load_balance_count,
  MAX(drops_s) AS drops_s, MAX(rnr_nak_s) AS rnr_nak_s,
  MAX(CAST(`reset` AS INT)) = 1 AS `reset`, MAX(CAST(failover AS INT)) = 1 AS failover
FROM pairs
GROUP BY `system`, link_type, link, ts;

CREATE TEMPORARY VIEW placed AS
SELECT
  ts, interval_s, `system`, n, link, link_type,
  CASE link_type WHEN 'nrg' THEN pair WHEN 'rdma_link' THEN pair || ' ' || of_group ELSE of_group END AS `group`,
  physical_port, peer,
  own_out_bytes_s, own_in_bytes_s, own_out_msgs_s, own_in_msgs_s, out_packets_s, in_packets_s, line_bits_s,
  COALESCE(capacity_pct, CASE WHEN own_ports = 1 THEN port_capacity_pct END) AS capacity_pct,
  COALESCE(whole_out_bytes_s, CASE WHEN parts_out = parts THEN parts_out_bytes_s END) AS phys_out_bytes_s,
  COALESCE(whole_in_bytes_s, CASE WHEN parts_in = parts THEN parts_in_bytes_s END) AS phys_in_bytes_s,
  link_count, active_link_count, load_balance_count, drops_s, rnr_nak_s, `reset`, failover
FROM sums;

INSERT INTO link_load (
  ts, interval_s, `system`, n, link, link_type, `group`, physical_port, peer,
  own_out_bytes_s, own_in_bytes_s, own_out_msgs_s, own_in_msgs_s, own_msgs_s, out_packets_s, in_packets_s,
  bytes_per_message, line_bits_s, out_line_pct, in_line_pct, capacity_pct, out_capacity_pct, in_capacity_pct,
  phys_out_bytes_s, phys_in_bytes_s, phys_line_pct, adapter_share_pct,
  link_count, active_link_count, load_balance_count, drops_s, rnr_nak_s, `reset`, failover
)
SELECT
  ts, interval_s, `system`, n, link, link_type, `group`, physical_port, peer,
  own_out_bytes_s, own_in_bytes_s, own_out_msgs_s, own_in_msgs_s,
  own_out_msgs_s + own_in_msgs_s,
  out_packets_s, in_packets_s,
  (own_out_bytes_s + own_in_bytes_s) / NULLIF(own_out_msgs_s + own_in_msgs_s, 0),
  line_bits_s,
  100 * own_out_bytes_s * 8 / line_bits_s,
  100 * own_in_bytes_s * 8 / line_bits_s,
  capacity_pct,
  100 * own_out_bytes_s * 8 / (line_bits_s * capacity_pct / 100),
  100 * own_in_bytes_s * 8 / (line_bits_s * capacity_pct / 100),
  phys_out_bytes_s, phys_in_bytes_s,
  100 * CASE WHEN phys_out_bytes_s > phys_in_bytes_s THEN phys_out_bytes_s ELSE phys_in_bytes_s END * 8 / line_bits_s,
  100 * (own_out_bytes_s + own_in_bytes_s) / NULLIF(phys_out_bytes_s + phys_in_bytes_s, 0),
  link_count, active_link_count, load_balance_count, drops_s, rnr_nak_s, `reset`, failover
FROM placed;

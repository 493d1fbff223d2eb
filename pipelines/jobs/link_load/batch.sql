-- The results of link_load, from the definitions in schemas/datasets/link_load.yaml and README.md.
WITH
  measured AS
  (
    SELECT
      system, link_type, link, ts, l.landed_at AS at, l.group AS own_group, l.physical_port AS own_port, l.peer AS of_peer,
      (toUnixTimestamp64Milli(ts) - toUnixTimestamp64Milli(prev_ts)) / 1000 AS apart_s,
      if(apart_s > 0, apart_s, l.interval_s) AS seconds,
      arrayExists(
        x -> ifNull(x.1 < x.2, 0),
        [
          (out_bytes, prev_out_bytes), (in_bytes, prev_in_bytes), (out_messages, prev_out_messages),
          (in_messages, prev_in_messages), (l.dropped, prev_dropped), (rnr_naks, prev_rnr_naks), (failures, prev_failures)
        ]
      ) AS fell,
      if(apart_s > 0 AND NOT fell AND ifNull(apart_s <= 2 * l.interval_s, 1), apart_s, NULL) AS counted_s,
      nullIf(l.interval_s, 0) AS delta_s,
      ifNull((out_bytes - prev_out_bytes) / counted_s, 1024 * out_kb / delta_s) AS sent,
      ifNull((in_bytes - prev_in_bytes) / counted_s, 1024 * in_kb / delta_s) AS received,
      (out_messages - prev_out_messages) / counted_s AS sent_messages,
      (in_messages - prev_in_messages) / counted_s AS received_messages,
      l.out_packets / delta_s AS sent_packets, l.in_packets / delta_s AS received_packets,
      nullIf(l.line_bits_s, 0) AS own_line, nullIf(l.capacity_pct, 0) AS guaranteed,
      ifNull((l.dropped - prev_dropped) / counted_s, (out_dropped + in_dropped) / delta_s) AS dropping,
      (rnr_naks - prev_rnr_naks) / counted_s AS refusing,
      if(isNull(prev_ts), NULL, fell) AS restarted,
      failures > prev_failures AS failed,
      l.link_count AS links, l.active_link_count AS active, l.load_balance_link_count AS balancing,
      toInt64(intDiv(toUnixTimestamp(ts), 5)) AS point,
      -- the points of the grid of 5 s that a port counts for: those of its interval, or those that follow a listing
      if(isNull(seconds), point, greatest(point - 59, 1 + toInt64(floor((toUnixTimestamp64Milli(ts) / 1000 - seconds) / 5))))
        AS first_point,
      if(isNull(seconds), point + 59, point) AS last_point
    FROM counterflow.link AS l FINAL
    WHERE ts >= {from:DateTime64(3, 'UTC')} - INTERVAL 10 MINUTE AND ts < {to:DateTime64(3, 'UTC')} + INTERVAL 10 MINUTE
  ),
  -- an NRG or RDMA link takes its port from its wire
  wired AS
  (
    SELECT
      m.*, link_type IN ('nrg', 'rdma_link') AS by_wire, if(by_wire, w.physical_port, own_port) AS port,
      w.logical_port AS port_id, ifNull(1000 * w.n, 0) AS wire_n, w.capacity_pct AS site_guaranteed, w.landed_at AS wire_at,
      multiIf(link_type = 'nrg', w.pair, link_type = 'rdma_link', concat(w.pair, ' ', own_group), own_group) AS of_group,
      ifNull(w.line_bits_s, own_line) AS line
    FROM measured AS m
    LEFT JOIN
    (
      SELECT *, landed_at FROM counterflow.link_wire FINAL
      WHERE ts >= {from:DateTime64(3, 'UTC')} - INTERVAL 10 MINUTE AND ts < {to:DateTime64(3, 'UTC')} + INTERVAL 10 MINUTE
    ) AS w USING (system, link_type, link, ts)
  ),
  ports AS
  (
    SELECT
      port, system AS port_system, link_type AS port_type, link AS port_name, arrayJoin(range(first_point, last_point + 1)) AS point,
      max(isNotNull(seconds)) AS sampled, max(sent) AS port_sent, max(received) AS port_received, max(at) AS port_at,
      maxIf((ts, line), isNotNull(line)) AS newest_line, countIf(isNotNull(line)) > 0 AS has_line,
      argMaxIf(guaranteed, ts, isNotNull(guaranteed)) AS port_guaranteed
    FROM wired
    WHERE isNotNull(port) AND link_type IN ('logical_port', 'physical_port') AND first_point <= last_point
    GROUP BY ALL
  ),
  beside AS
  (
    SELECT
      l.system AS system, l.link_type AS link_type, l.link AS link, l.ts AS ts,
      sum(p.sampled) + countIf(p.has_line) + count(p.port_guaranteed) AS stated,
      max(p.port_at) AS stated_at,
      argMaxIf(p.newest_line.2, p.newest_line.1, p.has_line) AS port_line,
      countIf(p.port_system = l.system AND ifNull(p.port_name = l.port_id, 1) AND isNotNull(p.port_guaranteed)) AS own_ports,
      maxIf(p.port_guaranteed, p.port_system = l.system AND ifNull(p.port_name = l.port_id, 1)) AS own_guaranteed,
      sumIf(p.port_sent, p.port_type = 'physical_port') AS whole_sent,
      sumIf(p.port_received, p.port_type = 'physical_port') AS whole_received,
      sumIf(p.port_sent, p.port_type = 'logical_port') AS parts_sent,
      sumIf(p.port_received, p.port_type = 'logical_port') AS parts_received,
      sumIf(p.sampled, p.port_type = 'logical_port') AS parts,
      countIf(p.port_type = 'logical_port' AND isNotNull(p.port_sent)) AS parts_known_sent,
      countIf(p.port_type = 'logical_port' AND isNotNull(p.port_received)) AS parts_known_received
    FROM wired AS l
    INNER JOIN ports AS p ON p.port = l.port AND p.point = l.point
    GROUP BY system, link_type, link, ts
  ),
  placed AS
  (
    SELECT
      *, ifNull(line, port_line) AS bits,
      ifNull(ifNull(site_guaranteed, guaranteed), if(own_ports = 1, own_guaranteed, NULL)) AS share,
      ifNull(whole_sent, if(parts = parts_known_sent, parts_sent, NULL)) AS port_out,
      ifNull(whole_received, if(parts = parts_known_received, parts_received, NULL)) AS port_in
    FROM wired
    LEFT JOIN beside USING (system, link_type, link, ts)
    WHERE ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}
  )
SELECT
  system, link_type, link, ts, toUInt64(1 + wire_n + ifNull(stated, 0)) AS n,
  greatest(at, ifNull(stated_at, at), ifNull(wire_at, at)) AS landed_at,
  seconds AS interval_s, of_group AS group, port AS physical_port, of_peer AS peer,
  sent AS own_out_bytes_s, received AS own_in_bytes_s, sent_messages AS own_out_msgs_s, received_messages AS own_in_msgs_s,
  sent_messages + received_messages AS own_msgs_s, sent_packets AS out_packets_s, received_packets AS in_packets_s,
  (sent + received) / nullIf(sent_messages + received_messages, 0) AS bytes_per_message,
  bits AS line_bits_s,
  800 * sent / bits AS out_line_pct,
  800 * received / bits AS in_line_pct,
  share AS capacity_pct,
  80000 * sent / bits / share AS out_capacity_pct,
  80000 * received / bits / share AS in_capacity_pct,
  port_out AS phys_out_bytes_s,
  port_in AS phys_in_bytes_s,
  if(isNull(port_out + port_in), NULL, 800 * greatest(port_out, port_in) / bits) AS phys_line_pct,
  100 * (sent + received) / nullIf(port_out + port_in, 0) AS adapter_share_pct,
  links AS link_count, active AS active_link_count, balancing AS load_balance_count,
  dropping AS drops_s, refusing AS rnr_nak_s, restarted AS reset, failed AS failover
FROM placed

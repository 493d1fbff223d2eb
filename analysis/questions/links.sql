-- How full are links, and the ports below them? OUT and IN are never added; shares are of the busiest interval.
-- section: Links and Db2 Mirror
SELECT
  system,
  link_type,
  link,
  round(sum(own_out_bytes_s * interval_s) / nullIf(sumIf(interval_s, own_out_bytes_s IS NOT NULL), 0) / 1e6, 2) AS out_mb_s,
  round(sum(own_in_bytes_s * interval_s) / nullIf(sumIf(interval_s, own_in_bytes_s IS NOT NULL), 0) / 1e6, 2) AS in_mb_s,
  round(sum(own_msgs_s * interval_s) / nullIf(sumIf(interval_s, own_msgs_s IS NOT NULL), 0), 1) AS msgs_s,
  round(max(greatest(out_line_pct, in_line_pct)), 1) AS line_pct_max,
  argMaxIf(l.capacity_pct, (ifNull(greatest(out_capacity_pct, in_capacity_pct), -1), ts), l.capacity_pct IS NOT NULL) AS capacity_pct,
  round(max(greatest(out_capacity_pct, in_capacity_pct)), 1) AS of_capacity_pct_max,
  round(max(phys_line_pct), 1) AS port_line_pct_max,
  sum(reset) AS resets
FROM counterflow.link_load AS l FINAL
WHERE <chosen>
GROUP BY system, link_type, link
ORDER BY greatest(coalesce(out_mb_s, 0), coalesce(in_mb_s, 0)) DESC, system, link_type, link
LIMIT 20

-- Who else uses the adapter? What the physical port carried, including the link's own bytes; OUT and IN are never added.
-- section: Links and Db2 Mirror
SELECT
  l.system AS system,
  l.link_type AS link_type,
  l.link AS link,
  any(l.physical_port) AS physical_port,
  round(sum(l.own_out_bytes_s * l.interval_s) / nullIf(sumIf(l.interval_s, l.own_out_bytes_s IS NOT NULL), 0) / 1e6, 2) AS own_out_mb_s,
  round(sum(l.phys_out_bytes_s * l.interval_s) / nullIf(sumIf(l.interval_s, l.phys_out_bytes_s IS NOT NULL), 0) / 1e6, 2) AS port_out_mb_s,
  round(sum(l.own_in_bytes_s * l.interval_s) / nullIf(sumIf(l.interval_s, l.own_in_bytes_s IS NOT NULL), 0) / 1e6, 2) AS own_in_mb_s,
  round(sum(l.phys_in_bytes_s * l.interval_s) / nullIf(sumIf(l.interval_s, l.phys_in_bytes_s IS NOT NULL), 0) / 1e6, 2) AS port_in_mb_s,
  round(min(l.adapter_share_pct), 1) AS own_share_pct_min,
  round(max(l.phys_line_pct), 1) AS port_line_pct_max
FROM counterflow.link_load AS l FINAL
WHERE (l.phys_out_bytes_s IS NOT NULL OR l.phys_in_bytes_s IS NOT NULL)
  AND <chosen l>
GROUP BY system, link_type, link
ORDER BY port_out_mb_s DESC NULLS LAST, system, link_type, link
LIMIT 50

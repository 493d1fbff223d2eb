-- How much headroom does each RoCE link have below its capacity? In the busiest interval; gbit of 10^9 bits, each direction separately.
-- section: Links and Db2 Mirror
SELECT
  l.system AS system,
  l.link_type AS link_type,
  l.link AS link,
  round(
    argMax(l.line_bits_s * l.capacity_pct / 100, (ifNull(greatest(l.out_capacity_pct, l.in_capacity_pct), -1), l.ts)) / 1e9, 2
  ) AS capacity_gbit_s,
  round(max(l.own_out_bytes_s) * 8 / 1e9, 2) AS out_gbit_s_max,
  round(max(l.own_in_bytes_s) * 8 / 1e9, 2) AS in_gbit_s_max,
  round(max(greatest(l.out_capacity_pct, l.in_capacity_pct)), 1) AS of_capacity_pct_max,
  round(100 - of_capacity_pct_max, 1) AS headroom_pct,
  argMax(l.ts, greatest(l.out_capacity_pct, l.in_capacity_pct)) AS fullest_at
FROM counterflow.link_load AS l FINAL
WHERE l.capacity_pct IS NOT NULL
  AND <chosen l>
GROUP BY system, link_type, link
ORDER BY headroom_pct, system, link_type, link
LIMIT 50

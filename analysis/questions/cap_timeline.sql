-- Where does the hypervisor cap a RoCE link, since when? Gb of 10^9 bits; share is of the adapter's bytes, 1 is the capacity.
-- section: Links and Db2 Mirror
SELECT
  system, link_type, link, formatDateTime(begin, '%F %T') AS since, state, signal, capacity_pct, out_gb_s, in_gb_s, share, adapter_pct
FROM (
  SELECT *, max(link_type = 'nrg') OVER (PARTITION BY system, course) AS as_its_group
  FROM (
    SELECT
      v.system AS system,
      v.entity_type AS link_type,
      v.entity AS link,
      v.ts AS ts,
      v.ts - toIntervalMillisecond(toUInt64(1000 * ifNull(v.interval_s, 0))) AS begin,
      v.state AS state,
      v.signal AS signal,
      l.capacity_pct AS capacity_pct,
      round(l.own_out_bytes_s * 8 / 1e9, 2) AS out_gb_s,
      round(l.own_in_bytes_s * 8 / 1e9, 2) AS in_gb_s,
      round(l.adapter_share_pct / l.capacity_pct, 2) AS share,
      round(l.phys_line_pct, 1) AS adapter_pct,
      lagInFrame(tuple(v.state, v.signal, l.capacity_pct)) OVER (
        PARTITION BY v.system, v.entity_type, v.entity ORDER BY v.ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
      ) AS before,
      before != tuple(v.state, v.signal, l.capacity_pct) AS changed,
      cityHash64(arraySort(groupArray((v.ts, v.state, v.signal, ifNull(l.own_out_bytes_s, -1), ifNull(l.own_in_bytes_s, -1)))
        OVER (PARTITION BY v.system, v.entity_type, v.entity))) AS course
    FROM counterflow.verdict AS v FINAL
    LEFT JOIN counterflow.link_load AS l FINAL
      ON l.system = v.system AND l.link_type = v.entity_type AND l.link = v.entity AND l.ts = v.ts
    WHERE v.rule = 'roce_cap'
      AND <chosen v>
  )
)
-- a link with the states and bytes of its group, since the group has no other, is the group
WHERE changed AND (link_type = 'nrg' OR NOT as_its_group)
ORDER BY system, link_type, link, ts
LIMIT 40

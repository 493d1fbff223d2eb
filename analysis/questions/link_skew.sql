-- Does each node of a mirrored pair receive what the other sends? A difference of more than a fifth is noted.
-- section: Links and Db2 Mirror
WITH sides AS (
  SELECT
    -- the two ends of an RDMA link have different names: `group` is the pair and both addresses
    `group`, link_type, if(link_type = 'nrg', link, '') AS link, system, ts, interval_s, own_out_bytes_s, own_in_bytes_s
  FROM counterflow.link_load FINAL
  WHERE `group` IS NOT NULL AND own_out_bytes_s IS NOT NULL AND own_in_bytes_s IS NOT NULL
    AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
),
spans AS (
  SELECT
    `group`, link_type, link, system,
    sum(own_out_bytes_s * interval_s) / sum(interval_s) AS out_bytes_s,
    sum(own_in_bytes_s * interval_s) / sum(interval_s) AS in_bytes_s
  FROM (
    SELECT s.*
    FROM sides AS s
    INNER JOIN (
      -- the time that every node of the pair has
      SELECT `group`, link_type, link, max(first) AS from_ts, min(last) AS to_ts
      FROM (
        SELECT `group`, link_type, link, system, min(ts) AS first, max(ts) AS last
        FROM sides GROUP BY `group`, link_type, link, system
      )
      GROUP BY `group`, link_type, link
      HAVING count() = 2
    ) AS common USING (`group`, link_type, link)
    WHERE s.ts >= common.from_ts AND s.ts <= common.to_ts
  )
  GROUP BY `group`, link_type, link, system
)
SELECT
  a.`group` AS pair,
  a.link AS link,
  a.system AS from_system,
  b.system AS to_system,
  round(a.out_bytes_s / 1e6, 3) AS sent_mb_s,
  round(b.in_bytes_s / 1e6, 3) AS received_mb_s,
  round(100 * abs(a.out_bytes_s - b.in_bytes_s) / nullIf(greatest(a.out_bytes_s, b.in_bytes_s), 0), 1) AS skew_pct,
  if(skew_pct > <node_skew_pct.watch>, 'skewed', '') AS note
FROM spans AS a
INNER JOIN spans AS b ON a.`group` = b.`group` AND a.link_type = b.link_type AND a.link = b.link
WHERE a.system != b.system
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, a.system))
ORDER BY pair, link, from_system

-- How large is a message on a mirror link, and how many are there? Bytes over messages of the same intervals.
-- section: Links and Db2 Mirror
SELECT
  l.system AS system,
  l.link_type AS link_type,
  l.link AS link,
  round(sum(l.own_msgs_s * l.interval_s)) AS messages,
  round(max(l.own_msgs_s), 1) AS messages_per_s_max,
  round(sumIf((l.own_out_bytes_s + l.own_in_bytes_s) * l.interval_s, l.own_msgs_s IS NOT NULL)
    / nullIf(sumIf(l.own_msgs_s * l.interval_s, l.own_out_bytes_s IS NOT NULL
      AND l.own_in_bytes_s IS NOT NULL), 0), 1) AS bytes_per_message_avg
FROM counterflow.link_load AS l FINAL
WHERE l.own_msgs_s IS NOT NULL
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, l.system))
  AND l.ts > {since:DateTime64(3)} AND l.ts <= {until:DateTime64(3)}
GROUP BY system, link_type, link
ORDER BY messages DESC, system, link_type, link
LIMIT 50

-- How large is a message on a mirror link, and how many are there? Each direction separately, bytes over messages.
-- section: Links and Db2 Mirror
SELECT
  l.system AS system,
  l.link_type AS link_type,
  l.link AS link,
  round(sum(l.own_out_msgs_s * l.interval_s)) AS out_messages,
  round(sum(l.own_in_msgs_s * l.interval_s)) AS in_messages,
  round(max(l.own_out_msgs_s), 1) AS out_messages_per_s_max,
  round(max(l.own_in_msgs_s), 1) AS in_messages_per_s_max,
  round(sumIf(l.own_out_bytes_s * l.interval_s, l.own_out_msgs_s IS NOT NULL)
    / nullIf(sumIf(l.own_out_msgs_s * l.interval_s, l.own_out_bytes_s IS NOT NULL), 0), 1) AS out_bytes_per_message,
  round(sumIf(l.own_in_bytes_s * l.interval_s, l.own_in_msgs_s IS NOT NULL)
    / nullIf(sumIf(l.own_in_msgs_s * l.interval_s, l.own_in_bytes_s IS NOT NULL), 0), 1) AS in_bytes_per_message
FROM counterflow.link_load AS l FINAL
WHERE (l.own_out_msgs_s IS NOT NULL OR l.own_in_msgs_s IS NOT NULL)
  AND <chosen l>
GROUP BY system, link_type, link
ORDER BY out_messages DESC NULLS LAST, system, link_type, link
LIMIT 50

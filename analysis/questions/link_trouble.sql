-- Where do links lose packets or fall over? Drops, receivers not ready, resets and fail-overs.
-- section: Links and Db2 Mirror
SELECT
  l.system AS system,
  l.link_type AS link_type,
  l.link AS link,
  round(sum(l.drops_s * l.interval_s)) AS dropped,
  round(max(l.drops_s), 2) AS drops_per_s_max,
  round(sum(l.rnr_nak_s * l.interval_s)) AS receiver_not_ready,
  sum(l.reset) AS resets,
  sum(l.failover) AS failovers,
  sum(l.active_link_count < l.link_count) AS intervals_with_links_down,
  count() AS intervals
FROM counterflow.link_load AS l FINAL
WHERE <chosen l>
GROUP BY system, link_type, link
ORDER BY dropped DESC NULLS LAST, receiver_not_ready DESC NULLS LAST, resets DESC NULLS LAST, system, link_type, link
LIMIT 50

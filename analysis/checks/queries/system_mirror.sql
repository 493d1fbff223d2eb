-- mirrored: The system has network redundancy groups; `link` of the types nrg and nrg_link.
-- resync_links_shared: Links of MIRROR_RESYNC that MIRROR_DATABASE also has; `link.group`, `link.peer`.
SELECT
  system,
  CAST(count() > 0 AS Bool) AS mirrored,
  if(
    countIf(group = 'MIRROR_RESYNC' AND peer IS NOT NULL) = 0 OR countIf(group = 'MIRROR_DATABASE' AND peer IS NOT NULL) = 0,
    NULL,
    length(arrayIntersect(
      groupUniqArrayIf(assumeNotNull(peer), group = 'MIRROR_RESYNC' AND peer IS NOT NULL),
      groupUniqArrayIf(assumeNotNull(peer), group = 'MIRROR_DATABASE' AND peer IS NOT NULL)
    ))
  ) AS resync_links_shared
FROM counterflow.link FINAL
WHERE link_type IN ('nrg', 'nrg_link') AND <chosen>
GROUP BY system

-- mirror_distance_km: Length of the line between the nodes, km; `config` mirror, distance_km of the site file, or label mirror_distance_km of the source.
SELECT system, argMax(toFloat64OrNull(config.value), ts) AS mirror_distance_km
FROM counterflow.config FINAL
WHERE (section, name) IN (('mirror', 'distance_km'), ('labels', 'mirror_distance_km')) AND ts <= {until:DateTime64(3)}
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  AND system IN (
    SELECT system FROM counterflow.manifest WHERE ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  )
GROUP BY system

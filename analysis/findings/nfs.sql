-- How many NFS operations did the system do, as a client and as a server?
-- rule: none, always stated where there were any
SELECT
  system,
  'note' AS severity,
  argMin(ts, (-operations, ts)) AS at,
  concat('NFS ', side, ': ', toString(round(sum(operations * seconds) / sum(seconds), 1)), ' operations/s on average, ',
    toString(round(max(operations), 1)), ' at most; most often ', argMin(busiest, (-operations, ts))) AS finding
FROM
(
  SELECT
    system, if(startsWith(section, 'NFSCLI'), 'client', 'server') AS side, c.ts AS ts,
    any(interval_s) AS seconds, sum(value) AS operations,
    argMax(concat(toString(counter), ' of version ', substring(section, 8)), value) AS busiest
  FROM counterflow.counter AS c FINAL
  WHERE match(section, '^NFS(CLI|SVR)V') AND value IS NOT NULL AND interval_s > 0
    AND <chosen>
  GROUP BY system, side, ts
)
GROUP BY system, side
HAVING sum(operations) > 0

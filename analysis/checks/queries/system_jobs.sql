-- full_opens_per_s: Full opens a second in the interval that had most; `job.full_opens`.
-- full_handshakes_per_s: Full TLS handshakes a second in the interval that had most; `job.ssl_full_handshakes`.
-- client_handshakes_per_s: Those of them that authenticated the client too; `job.ssl_client_handshakes`.
-- qdbmsrvr_pools: Numbers of the memory pools that QDBMSRVR jobs ran in; `job.job_pool`.
WITH intervals AS (
  SELECT
    system,
    ts,
    sum(full_opens) / nullIf(max(interval_s), 0) AS opens_s,
    sum(ssl_full_handshakes) / nullIf(max(interval_s), 0) AS handshakes_s,
    sum(ssl_client_handshakes) / nullIf(max(interval_s), 0) AS client_handshakes_s,
    groupUniqArrayIf(trimLeft(job_pool, '0 '), job_name = 'QDBMSRVR' AND job_pool IS NOT NULL) AS pools
  FROM counterflow.job FINAL
  WHERE source = 'ibmi_tables' AND <chosen>
  GROUP BY system, ts
)
SELECT
  system,
  max(opens_s) AS full_opens_per_s,
  max(handshakes_s) AS full_handshakes_per_s,
  argMax(tuple(client_handshakes_s), handshakes_s).1 AS client_handshakes_per_s,
  nullIf(arrayStringConcat(arraySort(groupUniqArrayArray(pools)), ', '), '') AS qdbmsrvr_pools
FROM intervals
GROUP BY system

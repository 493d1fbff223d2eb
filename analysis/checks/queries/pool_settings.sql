-- paging: Paging option of the pool; `config` MEMORY_POOL, PAGING_OPTION.
SELECT system, trimLeft(item, '0 ') AS subject, argMax(config.value, ts) AS paging
FROM counterflow.config FINAL
WHERE source = 'ibmi_tables' AND section = 'MEMORY_POOL' AND name = 'PAGING_OPTION' AND ts <= {until:DateTime64(3)}
  AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
  AND (system, subject) IN (
    SELECT system, trimLeft(pool, '0 ') FROM counterflow.pool FINAL
    WHERE source = 'ibmi_tables' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  )
GROUP BY system, subject

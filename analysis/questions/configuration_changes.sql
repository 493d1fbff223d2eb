-- What was changed on a system? Settings whose value differs from the one before; the newest first.
-- section: Data and pipeline
SELECT system, section, item, name, changed_at, value_before, value
FROM (
  SELECT
    c.system AS system, c.section AS section, c.item AS item, c.name AS name, c.ts AS changed_at, c.value AS value,
    lagInFrame(toNullable(c.value)) OVER (
      PARTITION BY c.system, c.source, c.section, c.item, c.name ORDER BY c.ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW
    ) AS value_before
  FROM counterflow.config AS c FINAL
  WHERE <chosen c>
)
WHERE value_before != value
ORDER BY changed_at DESC, system, section, item, name
LIMIT 100

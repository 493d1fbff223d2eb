-- What is wrong with the data?
-- rule: to watch where a line, a field or a file was refused; repaired ones are stated; a copy of a file adds none
SELECT
  system,
  if(countIf(kept = 'none') > 0, 'watch', 'note') AS severity,
  minOrNullIf(q.ts, q.ts != q.collected_at) AS at, -- one without a time of its own has the time at which it was read
  concat('data: ', replaceAll(reason, '_', ' '), ' ', toString(uniqExact(q.ts, line, byte_offset, detail) AS times),
    if(times = 1, ' time, ', ' times, '),
    'first in ', argMin(concat(file, if(line > 0, concat(':', toString(line)), '')), (q.ts, line)), ': ',
    argMin(detail, (q.ts, line))) AS finding
FROM counterflow.quality AS q FINAL
WHERE <chosen>
  AND (q.ts != q.collected_at OR (system != 'unknown' AND agent_id != 'no agent')) -- `look` names a file that gave nothing
GROUP BY system, reason

-- What the columns of the view of open dead letters mean.

ALTER TABLE counterflow.deadletter_open {on_cluster}
  COMMENT COLUMN `id` 'Name of the dead letter: a digest of system, origin, stage and ts.',
  COMMENT COLUMN `ts` 'End of the interval, UTC.',
  COMMENT COLUMN `interval_s` 'Length of the interval that the row covers. [s; gauge; null: the row describes no interval or its length is unknown]',
  COMMENT COLUMN `system` 'Name of the system the counters belong to.',
  COMMENT COLUMN `source` 'Format that the row was read from.',
  COMMENT COLUMN `agent_id` 'Agent that published the row; also its Kafka transactional.id.',
  COMMENT COLUMN `seq` 'Number of the record within its agent, contiguous over all datasets and restarts: a gap is a loss, a repeat a duplicate. [records; cumulative]',
  COMMENT COLUMN `boot_id` 'Run of the recorder, or boot of the system, that the counters belong to; cumulative counters compare only within one. [null: the source names no run]',
  COMMENT COLUMN `collected_at` 'When the agent read the row, UTC, by the agent\'s clock.',
  COMMENT COLUMN `run` 'Label of a measurement run. [null: the agent labels no run]',
  COMMENT COLUMN `stage` 'Part that refused it.',
  COMMENT COLUMN `origin` 'Where the bytes stand: `path:line`, or `topic:partition:offset`.',
  COMMENT COLUMN `byte_offset` 'Offset of the bytes in the file. [bytes; gauge; null: not from a file]',
  COMMENT COLUMN `reason` 'Reason of the parser, `schema`, or the exception code of the server.',
  COMMENT COLUMN `error` 'What was expected and what was found.',
  COMMENT COLUMN `payload_base64` 'The refused bytes, base64, the first 64 KiB of them.',
  COMMENT COLUMN `payload_bytes` 'Length of the refused bytes. [bytes; gauge]';

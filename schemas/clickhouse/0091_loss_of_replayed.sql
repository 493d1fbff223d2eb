-- A record that was refused and landed later, published again by `counterflow deadletter replay`, is a landed one: its
-- dead letter counts no more, and it is not doubled.
CREATE OR REPLACE VIEW counterflow.loss {on_cluster} AS
SELECT
  agent_id,
  bitmapMin(arrived) AS first_seq,
  bitmapMax(arrived) AS last_seq,
  row_count AS landed,
  bitmapCardinality(arrived) - bitmapCardinality(of_tables) AS deadletters,
  last_seq - first_seq + 1 - bitmapCardinality(arrived) AS lost,
  row_count - bitmapCardinality(of_tables) AS duplicates
FROM
(
  SELECT
    agent_id,
    sumIf(rows, dataset != 'deadletter') AS row_count,
    groupBitmapMergeStateIf(seqs, dataset != 'deadletter') AS of_tables,
    groupBitmapMergeState(seqs) AS arrived
  FROM counterflow.ledger
  WHERE agent_id != 'unknown' -- dead letters in which no agent and no seq could be read
  GROUP BY agent_id
)
COMMENT 'Records lost and doubled between an agent and the tables, by sequence number; what is still under way counts as lost until it has landed.';

ALTER TABLE counterflow.loss {on_cluster}
  COMMENT COLUMN `agent_id` 'Agent that published the records.',
  COMMENT COLUMN `first_seq` 'Smallest sequence number that arrived.',
  COMMENT COLUMN `last_seq` 'Largest sequence number that arrived.',
  COMMENT COLUMN `landed` 'Rows that are in the tables, duplicates counted. [records; delta]',
  COMMENT COLUMN `deadletters` 'Records that were refused on the way, are dead letters and in no other table. [records; delta]',
  COMMENT COLUMN `lost` 'Sequence numbers between the first and the last that are nowhere; what is under way is among them until it lands. [records; gauge]',
  COMMENT COLUMN `duplicates` 'Rows of the tables beyond one for each sequence number. [records; gauge]';

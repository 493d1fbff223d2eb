-- Which physical port carries a link?
--
-- One row per sample of an NRG or RDMA link. `known` holds the samples and the settings that job.yaml selects, in the
-- order in which they arrive; pipelines/wiring follows the hops from the link to the port, and `wired` holds what it
-- finds. A sample is wired again where a setting that arrives later changes its port.
--
-- `n` is 1, plus 1 for every setting known of the system: the wire that knows more replaces the one that knew less.
--
-- Sources: schemas/datasets/link_wire.yaml; hops: README.md.

CREATE TEMPORARY VIEW known AS
SELECT
  `system`, link_type, link,
  CAST(NULL AS STRING) AS section, CAST(NULL AS STRING) AS item, CAST(NULL AS STRING) AS name, CAST(NULL AS STRING) AS `value`,
  EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts) AS ts_ms
FROM link
UNION ALL
SELECT
  `system`, CAST(NULL AS STRING), CAST(NULL AS STRING), section, item, name, `value`,
  EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts)
FROM config;

INSERT INTO link_wire (
  ts, `system`, n, link_type, link, physical_port, logical_port, pair, capacity_pct, line_bits_s, hops, missing, contradiction
)
SELECT
  TO_TIMESTAMP_LTZ(ts_ms, 3), `system`, n, link_type, link, physical_port, logical_port, pair, capacity_pct, line_bits_s,
  hops, missing, contradiction
FROM wired;

-- Which physical port carries a link?
--
-- One row per sample of an NRG or RDMA link. `known` holds the samples and the settings of each system, in the order in
-- which they arrive; pipelines/wiring follows the hops from the link to the port, and `wired` holds what it finds. A
-- sample is wired again where a setting that arrives later changes its port.
--
-- `n` is 1, plus 1 for every setting known of the system: the wire that knows more replaces the one that knew less.
--
-- Sources: schemas/datasets/link_wire.yaml; hops: docs/kpis/link-load.md.

CREATE TEMPORARY VIEW known AS
SELECT
  `system`, link_type, link,
  CAST(NULL AS STRING) AS section, CAST(NULL AS STRING) AS item, CAST(NULL AS STRING) AS name, CAST(NULL AS STRING) AS `value`,
  EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts) AS ts_ms
FROM link
WHERE link_type IN ('nrg', 'rdma_link')
UNION ALL
SELECT
  `system`, CAST(NULL AS STRING), CAST(NULL AS STRING), section, item, name, `value`,
  EXTRACT(EPOCH FROM ts) * 1000 + EXTRACT(MILLISECOND FROM ts)
FROM config
WHERE section = 'port'
  OR name = 'LINE_DESCRIPTION' AND section IN ('NRG_LINK_INFO', 'RDMA_LINK_INFO', 'NETSTAT_INTERFACE_INFO')
  OR section = 'NRG_LINK_INFO' AND name = 'LINK_IN_USE'
  OR section = 'QAPMETH' AND name = 'ETMPORT'
  OR section = 'HARDWARE_RESOURCE_INFO' AND name = 'LOCATION_CODE'
  OR section = 'logical_port' AND name = 'location_code'
  OR section = 'MIRROR_INFO' AND name IN ('PRIMARY_NODE', 'SECONDARY_NODE');

INSERT INTO link_wire (
  ts, `system`, n, link_type, link, physical_port, logical_port, pair, capacity_pct, line_bits_s, hops, missing, contradiction
)
SELECT
  TO_TIMESTAMP_LTZ(ts_ms, 3), `system`, n, link_type, link, physical_port, logical_port, pair, capacity_pct, line_bits_s,
  hops, missing, contradiction
FROM wired;

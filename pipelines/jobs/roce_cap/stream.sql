-- Does the hypervisor cap a RoCE (SR-IOV) link?
--
-- The rule judges each NRG and RDMA link (pipelines/rules/roce_cap.py, README.md): `intervals` are its
-- input, `judged` are its verdicts. A verdict is written again where an interval that arrives late, or is completed by
-- its physical port, changes it (pipelines/verdicts).
--
-- Other links have no messages, without which the rule cannot judge.

CREATE TEMPORARY VIEW intervals AS
SELECT
  `system`, link_type AS entity_type, link AS entity, CAST(ts AS STRING) AS ts, n, interval_s,
  own_out_bytes_s, own_in_bytes_s, own_msgs_s, phys_out_bytes_s, phys_in_bytes_s, line_bits_s, capacity_pct,
  link_count, load_balance_count, drops_s, rnr_nak_s, `reset`, failover
FROM link_load
-- a first sample has no length and no rates: nothing to judge
WHERE link_type IN ('nrg', 'rdma_link') AND interval_s IS NOT NULL;

INSERT INTO verdict (
  ts, interval_s, `system`, n, rule, entity_type, entity,
  state, `signal`, stale, reason, since, evidence, parameters
)
SELECT
  TO_TIMESTAMP_LTZ(ts_ms, 3), interval_s, `system`, n, 'roce_cap', entity_type, entity,
  state, `signal`, stale, reason, TO_TIMESTAMP_LTZ(since_ms, 3), evidence, parameters
FROM judged;

-- The intervals that roce_cap judges: those of NRG and RDMA links. A first sample has no length and no rates.
SELECT *, link_type AS entity_type, link AS entity
FROM counterflow.link_load FINAL
WHERE link_type IN ('nrg', 'rdma_link') AND interval_s IS NOT NULL
  AND ts >= {from:DateTime64(3, 'UTC')} AND ts < {to:DateTime64(3, 'UTC')}

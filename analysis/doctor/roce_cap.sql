-- The newest interval of each NRG and RDMA link, and which of physical load, line rate and capacity is unknown, and why.
WITH
  links AS
  (
    SELECT
      system, link_type, link, min(ts) AS since, max(ts) AS newest,
      argMax((physical_port, line_bits_s, capacity_pct, phys_out_bytes_s, phys_in_bytes_s), ts) AS known
    FROM ({judged}
    )
    WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
    GROUP BY system, link_type, link
  ),
  wires AS
  (
    SELECT system, link_type, link, argMax((missing, contradiction, hops), ts) AS wire, max(ts) AS wired
    FROM counterflow.link_wire FINAL
    WHERE empty({systems:Array(String)}) OR has({systems:Array(String)}, system)
    GROUP BY system, link_type, link
  )
SELECT
  toString(links.system) AS system, links.link AS entity, since, newest,
  multiIf(
    wired = toDateTime64(0, 3, 'UTC'), 'the job link_wire has not found its port',
    isNotNull(wire.1), concat(ifNull(wire.1, ''), if(isNull(wire.2), '', concat('; sources differ: ', wire.2))),
    isNull(known.4) OR isNull(known.5),
      concat('no bytes of all links of ', ifNull(known.1, 'its port'), ' arrive'),
    isNull(known.2), concat('no rate of the line of ', ifNull(known.1, 'its port'), ' arrives'),
    isNull(known.3), concat('no capacity of its logical port on ', ifNull(known.1, 'its port'), ' arrives'),
    ''
  ) AS why,
  multiIf(
    wired = toDateTime64(0, 3, 'UTC'), 'counterflow jobs list',
    wire.1 LIKE '%HMC%', 'collect the HMC of the system: its listing (hmc_lshwres) and its processed metrics (hmc_pcm)',
    isNotNull(wire.1), concat(
      'add to `ports` of the site file: {system: ', toString(links.system), ', link: "', links.link,
      '", from: ', formatDateTime(since, '%Y-%m-%dT%H:%i:%SZ', 'UTC'), ', physical_port: …}; or collect the view that has the hop'
    ),
    isNull(known.4) OR isNull(known.5),
      'collect the processed metrics of the HMC (hmc_pcm) for every partition on the port',
    concat(
      'list the ports of the HMC (hmc_lshwres); or add to `ports` of the site file: {system: ', toString(links.system),
      ', link: "', links.link, '", from: ', formatDateTime(since, '%Y-%m-%dT%H:%i:%SZ', 'UTC'),
      if(isNull(known.2), ', line_bits_s: …}', ', capacity_pct: …}')
    )
  ) AS advice
FROM links
LEFT JOIN wires USING (system, link_type, link)
ORDER BY system, entity

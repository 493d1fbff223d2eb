-- The newest interval of each NRG and RDMA link, and which of physical load, line rate and capacity are unknown, and why.
-- Of several missing inputs the one that was missing longest comes first.
WITH
  links AS
  (
    SELECT
      system, link_type, link, min(ts) AS since, max(ts) AS newest,
      argMax((physical_port, line_bits_s, capacity_pct, phys_out_bytes_s, phys_in_bytes_s), ts) AS known,
      countIf(isNull(phys_out_bytes_s) OR isNull(phys_in_bytes_s)) AS without_load,
      countIf(isNull(line_bits_s)) AS without_line, countIf(isNull(capacity_pct)) AS without_capacity
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
  ),
  (SELECT groupUniqArray(toString(source)) FROM counterflow.manifest WHERE counted = 'link') AS arrived
SELECT
  toString(links.system) AS system, links.link AS entity, since, newest,
  concat('{system: ', toString(links.system), ', link: "', links.link, '", from: ',
    formatDateTime(since, '%Y-%m-%dT%H:%i:%SZ', 'UTC'), ', ') AS entry,
  ifNull(known.1, 'its port') AS port,
  arraySort(x -> (-x.1, x.2), arrayFilter(x -> x.5, [
    (without_load, 1, concat('no bytes of all links of ', port, ' arrive'),
      'collect the processed metrics of the HMC (hmc_pcm) for every partition on the port', isNull(known.4) OR isNull(known.5)),
    (without_line, 2, concat('no rate of the line of ', port, ' arrives'),
      concat('list the ports of the HMC (hmc_lshwres); or add to `ports` of the site file: ', entry, 'line_bits_s: …}'),
      isNull(known.2)),
    (without_capacity, 3, concat('no capacity of its logical port on ', port, ' arrives'),
      concat('list the ports of the HMC (hmc_lshwres); or add to `ports` of the site file: ', entry, 'capacity_pct: …}'),
      isNull(known.3))
  ])) AS lacking,
  multiIf(
    wired = toDateTime64(0, 3, 'UTC'), 'the job link_wire has not found its port',
    isNotNull(wire.1), concat(ifNull(wire.1, ''), if(isNull(wire.2), '', concat('; sources differ: ', wire.2))),
    arrayStringConcat(arrayMap(x -> x.3, lacking), '; ')
  ) AS why,
  multiIf(
    wired = toDateTime64(0, 3, 'UTC'), 'counterflow jobs list',
    isNotNull(wire.1), concat(
      'add to `ports` of the site file, which suffices for the hop: ', entry, 'physical_port: …}; or ',
      multiIf(
        wire.1 NOT LIKE '%HMC%', 'collect the view that has the hop',
        hasAll(arrived, ['hmc_lshwres', 'hmc_pcm']), 'list the ports of this partition, too (hmc_lshwres)',
        concat('collect of the HMC of the system: ',
          arrayStringConcat(arrayFilter(x -> NOT has(arrived, x), ['hmc_lshwres', 'hmc_pcm']), ', '))
      )
    ),
    arrayStringConcat(arrayDistinct(arrayMap(x -> x.4, lacking)), '; ')
  ) AS advice
FROM links
LEFT JOIN wires USING (system, link_type, link)
ORDER BY system, entity

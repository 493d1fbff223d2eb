"""A partition as a whole, derived from its jobs: waits of the system, memory pools and disks.

The jobs' waits, faults and transfers add up to these rows, so that the tables can be compared with each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from math import exp, inf
from random import Random

from counterflow.simulate.case import Placed, SimulatedInterval
from counterflow.simulate.layout import Row, interval_fields
from counterflow.simulate.model import Disks, MirrorRun, Partition
from counterflow.simulate.spread import apportion, uneven

BUCKETS = range(1, 33)
"""Wait buckets of a set, by number: QAPMJOBWT has a count and a time for each."""
BOUNDARIES_US = (15, 250, 1000, 4000, 8000, 16_000, 64_000, 256_000, 500_000, 1_024_000)
"""Upper bounds of the response-time buckets of QAPMDISKRB, except the last, in the collection's configuration."""
READ_KB, WRITE_KB, SECTOR_BYTES = 16, 16, 520
UNIT_NOISE = 0.05
"""Deviation of a unit's load and operation times from the mean."""
SAMPLES_S = 2
"""Samples a second that check whether a unit is busy."""
CAPACITY = 280_000_000_000


def tables(
    system: str, placed: Sequence[Placed[MirrorRun]], jobs: Sequence[Row], waits: Sequence[Row], random: Random
) -> dict[str, list[Row]]:
    """Return the rows of the partition by table, from those of its jobs in QAPMJOBMI and QAPMJOBWT.

    The result is empty where no run describes its disks.
    """
    rows: dict[str, list[Row]] = {"QAPMCONF": [], "QAPMISUM": [], "QAPMPOOLB": [], "QAPMDISK": [], "QAPMDISKRB": []}
    by_interval = {number: list(of) for number, of in groupby(jobs, key=lambda row: row["INTNUM"])}
    waited = {number: list(of) for number, of in groupby(waits, key=lambda row: row["INTNUM"])}
    for one in placed:
        for partition in one.run.partitions:
            if partition.system != system or partition.disks is None:
                continue
            if not rows["QAPMCONF"]:
                rows["QAPMCONF"] += _configuration(one)
            for interval in one.intervals:
                of, at = by_interval[interval.number], interval_fields(interval)
                rows["QAPMISUM"].append(at | _waits(waited[interval.number]))
                rows["QAPMPOOLB"] += [at | row for row in _pools(partition, interval, of)]
                for disk, buckets in _disks(partition.disks, interval, of, random):
                    rows["QAPMDISK"].append(at | disk)
                    rows["QAPMDISKRB"].append(at | buckets)
    return {table: found for table, found in rows.items() if found}


def _configuration(first: Placed[MirrorRun]) -> Iterator[Row]:
    begin = first.begin
    values: Row = {"1": f"{begin:%y%m%d}1", "2": f"{begin:%H%M%S}"}
    values |= {f"G{key}": f"{us:010d}" for key, us in zip("123456789A", BOUNDARIES_US, strict=True)}
    yield from ({"GRES": "", "GKEY": key, "GDES": value} for key, value in values.items())


def _waits(of: Sequence[Row]) -> Row:
    row: Row = {"JWDSEQ": 1}
    for n in BUCKETS:
        row |= {name: _total(of, name) for name in (f"JWCT{n:02d}", f"JWTM{n:02d}")}
        row[f"JWJC{n:02d}"] = sum(1 for job in of if job[f"JWTM{n:02d}"])
    return row


def _pools(partition: Partition, interval: SimulatedInterval, jobs: Sequence[Row]) -> Iterator[Row]:
    for pool in partition.pools:
        faults = _total((job for job in jobs if job.get("JBPOOL") == pool.number), "JBTFLT")
        yield {
            "PONBR": pool.number,
            "PONAME": pool.name,
            "POACTL": pool.activity_level,
            "POSIZ": pool.size_mb * 1024,
            "PORES": pool.size_mb * 1024 // 4 if pool.name == "*MACHINE" else 0,
            "PODBF": faults,
            "PONDBF": 0,
            "PODBPG": faults * READ_KB // 4,
            "PONDPG": 0,
            "POAW": faults,
            "POWI": round(pool.ineligible_s * interval.seconds),
            "POAI": round(pool.ineligible_s * interval.seconds),
        }


def _disks(disks: Disks, interval: SimulatedInterval, jobs: Sequence[Row], random: Random) -> Iterator[tuple[Row, Row]]:
    """Yield the rows of each unit in QAPMDISK and QAPMDISKRB."""
    shares, slower = (uneven(disks.units, random, UNIT_NOISE) for _ in range(2))
    reads, writes = (apportion(_total(jobs, name), shares) for name in ("JBDBR", "JBDBW"))
    for at, (read, written, times) in enumerate(zip(reads, writes, slower, strict=True), 1):
        unit = Disks(1, disks.service_ms * times, disks.wait_ms * times)
        samples, operations = SAMPLES_S * interval.seconds, read + written
        busy = min(1.0, operations * unit.service_ms / 1000 / interval.seconds)
        queued = operations * (unit.service_ms + unit.wait_ms) / 1000 / interval.seconds
        name: Row = {"DSDRN": f"DMP{at:03d}"}
        disk: Row = {
            "DSARM": f"{at:04d}",
            "DSTYPE": "2145",
            "DSASP": 1,
            "DSCAP": CAPACITY,
            "DSAVL": CAPACITY * 3 // 10,
            "DSRDS": read,
            "DSWRTS": written,
            "DSBLKR": read * READ_KB * 1024 // SECTOR_BYTES,
            "DSBLKW": written * WRITE_KB * 1024 // SECTOR_BYTES,
            "DSSECT": SECTOR_BYTES,
            "DSNBSY": round(samples * (1 - busy)),
            "DSSMPL": samples,
            "DSQUEL": round(samples * queued),
            "DSSRVT": round(operations * unit.service_ms),
            "DSWT": round(operations * unit.wait_ms),
        }
        yield name | disk, name | _buckets("R", read, unit) | _buckets("W", written, unit)


def _buckets(kind: str, operations: int, disks: Disks) -> Row:
    """Return the operations by response time: an exponential distribution, as with a queue of independent arrivals."""
    mean_us = 1000 * (disks.service_ms + disks.wait_ms)
    edges = [0.0, *(us / mean_us for us in BOUNDARIES_US), inf]
    slower = [exp(-edge) for edge in edges]
    beyond = [
        (1 + edge) * exp(-edge) if edge < inf else 0.0 for edge in edges
    ]  # share of the time, not of the operations
    counts = apportion(operations, [a - b for a, b in pairwise(slower)])
    times = apportion(round(operations * mean_us), [a - b for a, b in pairwise(beyond)])
    served = disks.service_ms / (disks.service_ms + disks.wait_ms)
    row: Row = {}
    for n, (count, us) in enumerate(zip(counts, times, strict=True), 1):
        row |= {f"DSRBKCT{kind}{n}": count, f"DSRBKRT{kind}{n}": us, f"DSRBKST{kind}{n}": round(us * served)}
    return row


def _total(rows: Iterable[Row], name: str) -> int:
    return sum(int(row[name]) for row in rows if name in row)

"""The model of a Db2 Mirror case: runs of jobs and links on partitions. Rates are a second, means of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from counterflow.simulate.case import SimulatedRun


class OnDisk(NamedTuple):
    """Disk operations of jobs in a memory pool, a second; reads include page faults, and jobs wait for every one."""

    pool: str
    faults_s: float
    reads_s: float
    writes_s: float


@dataclass(frozen=True)
class Jobs:
    """Jobs of one kind in one partition; rates are those of all of them together.

    Parameters
    ----------
    name : first six characters of their names, followed by a number.
    count : number of concurrent jobs, all of them in every interval.
    user, subsystem : user profile and subsystem.
    cores : processors that they use.
    transactions_s, response_s : transactions, and the mean time of one.
    reads_s : logical database reads, including those for update.
    reads_for_update_s : part of `reads_s`.
    inserts_s, changes_s : logical writes; updates and deletes.
    type, subtype : letters of the job type.
    on_disk : their work on the partition's disks; None where neither it nor their waits are stated.
    held_up : mean number of threads that wait, by wait bucket, for anything but disks.
    """

    name: str
    count: int
    user: str
    subsystem: str
    cores: float
    transactions_s: float = 0.0
    response_s: float = 0.0
    reads_s: float = 0.0
    reads_for_update_s: float = 0.0
    inserts_s: float = 0.0
    changes_s: float = 0.0
    type: str = "B"
    subtype: str = " "
    on_disk: OnDisk | None = None
    held_up: Mapping[int, float] = field(default_factory=dict)


class Flow(NamedTuple):
    """Traffic of an RDMA link, seen from one end."""

    out_bytes_s: float
    in_bytes_s: float
    out_msgs_s: float
    in_msgs_s: float


class Trouble(NamedTuple):
    """Packets a second of an RDMA link that were dropped, and for which its receiver was not ready."""

    dropped_s: float
    refused_s: float


@dataclass(frozen=True)
class Link:
    """One end of an RDMA link over a logical port.

    Parameters
    ----------
    server : managed system whose adapter holds the logical port; its partitions share the physical port.
    capacity_pct : share of the physical port that the logical port is guaranteed.
    mirror : whether it carries a network redundancy group of Db2 Mirror.
    """

    server: str
    capacity_pct: float
    flow: Flow
    mirror: bool
    trouble: Trouble


class Pool(NamedTuple):
    """A memory pool; `ineligible_s` counts threads a second for which it has no activity level."""

    number: str
    name: str
    size_mb: int
    activity_level: int
    ineligible_s: float = 0.0


class Disks(NamedTuple):
    """Disk units that share the load about evenly, and their mean operation times."""

    units: int
    service_ms: float
    wait_ms: float


@dataclass(frozen=True)
class Partition:
    """One partition during a run.

    Parameters
    ----------
    cores, cpu_pct : processors, and their utilisation; None where not stated.
    pools, disks : memory and disks of jobs whose disk work is described.
    """

    system: str
    jobs: tuple[Jobs, ...] = ()
    cores: float | None = None
    cpu_pct: float | None = None
    link: Link | None = None
    pools: tuple[Pool, ...] = ()
    disks: Disks | None = None


@dataclass(frozen=True, kw_only=True)
class MirrorRun(SimulatedRun):
    """One measurement of all partitions."""

    partitions: tuple[Partition, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(partition.system for partition in self.partitions)

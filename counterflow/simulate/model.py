"""What a case of Db2 Mirror simulates: runs of jobs and links on partitions. Rates are a second, means of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class OnDisk(NamedTuple):
    """Disk operations of jobs in a memory pool, a second; a page fault is one of the reads, and jobs wait for all."""

    pool: str
    faults_s: float
    reads_s: float
    writes_s: float


@dataclass(frozen=True)
class Jobs:
    """Jobs of one kind in one partition; rates are those of all of them together.

    Parameters
    ----------
    name : first six characters of their names, a number follows.
    count : how many run at a time; all of them in every interval.
    user, subsystem : user profile and subsystem.
    cores : processors they keep busy.
    transactions_s, response_s : transactions, and the mean time of one.
    reads_s : logical database reads, those for update among them.
    reads_for_update_s : part of `reads_s`; None where the release does not count them apart.
    inserts_s, changes_s, commits_s : logical writes; updates and deletes; commits.
    sql : whether the logical I/O is SQL's; else it is native.
    type, subtype : letters of the job type.
    on_disk : what they do on the disks of the partition; None where nothing says, nor what they wait for.
    held_up : threads that wait on average, by wait bucket, for anything but disks.
    """

    name: str
    count: int
    user: str
    subsystem: str
    cores: float
    transactions_s: float = 0.0
    response_s: float = 0.0
    reads_s: float = 0.0
    reads_for_update_s: float | None = None
    inserts_s: float = 0.0
    changes_s: float = 0.0
    commits_s: float = 0.0
    sql: bool = False
    type: str = "B"
    subtype: str = " "
    on_disk: OnDisk | None = None
    held_up: Mapping[int, float] = field(default_factory=dict)


class Flow(NamedTuple):
    """What an RDMA link carries, seen from one end."""

    out_bytes_s: float
    in_bytes_s: float
    out_msgs_s: float
    in_msgs_s: float


class Trouble(NamedTuple):
    """Packets of an RDMA link a second that were dropped, and that its receiver was not ready for."""

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
    trouble : None on a release that does not count it.
    """

    server: str
    capacity_pct: float
    flow: Flow
    mirror: bool
    trouble: Trouble | None = None


class Pool(NamedTuple):
    """A memory pool; `ineligible_s` are threads a second that it has no activity level for."""

    number: str
    name: str
    size_mb: int
    activity_level: int
    ineligible_s: float = 0.0


class Disks(NamedTuple):
    """Disk units that share the load about evenly, and the mean times of an operation."""

    units: int
    service_ms: float
    wait_ms: float


@dataclass(frozen=True)
class Partition:
    """One partition during a run.

    Parameters
    ----------
    cores, cpu_pct : processors, and how busy they are; None where nothing says.
    pools, disks : memory and disks of jobs that say what they do on disk.
    """

    system: str
    jobs: tuple[Jobs, ...] = ()
    cores: float | None = None
    cpu_pct: float | None = None
    link: Link | None = None
    pools: tuple[Pool, ...] = ()
    disks: Disks | None = None


@dataclass(frozen=True)
class Run:
    """One measurement.

    Parameters
    ----------
    name : how it is told from the others of the case.
    intervals : its length.
    partitions : all that are measured.
    published : what the document prints of it, as printed, by the name of the figure.
    """

    name: str
    intervals: int
    partitions: tuple[Partition, ...]
    published: Mapping[str, str] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the partitions by name."""
        return tuple(partition.system for partition in self.partitions)

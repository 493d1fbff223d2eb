"""What a case of Db2 Mirror simulates: runs of jobs and links on partitions. Rates are a second, means of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


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


class Flow(NamedTuple):
    """What an RDMA link carries, seen from one end."""

    out_bytes_s: float
    in_bytes_s: float
    out_msgs_s: float
    in_msgs_s: float


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


@dataclass(frozen=True)
class Partition:
    """One partition during a run; `cpu_pct` is of its `cores`, None where nothing says how busy it is."""

    system: str
    jobs: tuple[Jobs, ...] = ()
    cores: float | None = None
    cpu_pct: float | None = None
    link: Link | None = None


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

"""A recording of nmon on Linux on IBM Z: layout of nmon 16, without sections for which there are no figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from counterflow.simulate.nmon import COMMON, NOTE, Host, Snapshot, common, date, join

METRICS = COMMON | {"DISKREADS": "Disk Rd/s", "DISKWRITES": "Disk Wrt/s"}
FIRST_S = 1
"""Length of the first snapshot."""


def recording(host: Host, interval_s: int, snapshots: Sequence[Snapshot]) -> Iterator[str]:
    """Yield the lines."""
    yield from _header(host, interval_s, snapshots)
    for number, snapshot in enumerate(snapshots, 1):
        yield from _rows(host, f"T{number:04d}", snapshot)


def _header(host: Host, interval_s: int, snapshots: Sequence[Snapshot]) -> Iterator[str]:
    name, start = host.name, snapshots[0].end - timedelta(seconds=FIRST_S)
    yield from (
        NOTE,
        "AAA,progname,nmon",
        f"AAA,command,nmon -f -s {interval_s} -c {len(snapshots)}",
        "AAA,version,16h",
        f"AAA,disks,{len(host.disks)},",
        f"AAA,host,{name}",
        "AAA,user,root",
        "AAA,OS,Linux,4.15.0-36-generic,#39-Ubuntu SMP,s390x",
        f"AAA,runname,{name}",
        f"AAA,time,{start:%H:%M.%S}",
        f"AAA,date,{date(start)}",
        f"AAA,interval,{interval_s}",
        f"AAA,snapshots,{len(snapshots)}",
        f"AAA,cpus,{host.processors}",
    )
    yield f"CPU_ALL,CPU Total {name},User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs"
    yield (
        f"MEM,Memory MB {name},memtotal,hightotal,lowtotal,swaptotal,memfree,highfree,lowfree,swapfree,memshared,"
        "cached,active,bigfree,buffers,swapcached,inactive"
    )
    for metric, title in METRICS.items():
        yield f"{metric},{title} {name},{','.join(host.disks)}"


def _rows(host: Host, tag: str, snapshot: Snapshot) -> Iterator[str]:
    yield f"ZZZZ,{tag},{snapshot.end:%H:%M:%S},{date(snapshot.end)}"
    sys_pct = round(0.3 * snapshot.cpu_pct, 1)
    shares = (snapshot.cpu_pct - sys_pct, sys_pct, snapshot.wait_pct, 100 - snapshot.cpu_pct - snapshot.wait_pct, 0.0)
    yield f"CPU_ALL,{tag},{join(shares, 1)},,{host.processors}"
    total = host.memory_mb
    yield f"MEM,{tag},{total}.0,-0.0,-0.0,0.0,{total / 50:.1f},-0.0,-0.0,0.0,13.0,{total / 2:.1f},0.0,-1.0,25.0,0.0,0.0"
    yield from common(tag, snapshot.disks)
    yield f"DISKREADS,{tag},{join((d.reads for d in snapshot.disks), 1)}"
    yield f"DISKWRITES,{tag},{join((d.writes for d in snapshot.disks), 1)}"

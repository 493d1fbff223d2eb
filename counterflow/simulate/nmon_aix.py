"""A recording of nmon on a capped AIX partition: layout of topas_nmon, without sections for which there are no figures.

Processors have three decimals, where topas_nmon writes two for PCPU_ALL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from counterflow.simulate.nmon import COMMON, NOTE, Host, Snapshot, common, date, join

METRICS = COMMON | {
    "DISKRIO": "Disk IO Reads per second",
    "DISKWIO": "Disk IO Writes per second",
    "DISKSERV": "Disk Service Time msec/xfer",
    "DISKWAIT": "Disk Wait Queue Time msec/xfer",
}
USER_SHARE = 0.78
LPAR = (
    "PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,weight,PoolIdle,usedAllCPU%,usedPoolCPU%,SharedCPU,Capped,"
    "EC_User%,EC_Sys%,EC_Wait%,EC_Idle%,VP_User%,VP_Sys%,VP_Wait%,VP_Idle%,Folded,Pool_id"
)


def recording(host: Host, interval_s: int, snapshots: Sequence[Snapshot]) -> Iterator[str]:
    """Yield the lines."""
    yield from _header(host, interval_s, snapshots)
    for number, snapshot in enumerate(snapshots, 1):
        yield from _rows(host, f"T{number:04d}", snapshot)


def _header(host: Host, interval_s: int, snapshots: Sequence[Snapshot]) -> Iterator[str]:
    name, start = host.name, snapshots[0].end - timedelta(seconds=interval_s)
    yield from (
        NOTE,
        "AAA,progname,topas_nmon",
        f"AAA,command,topas_nmon -f -T -d -s {interval_s} -c {len(snapshots)}",
        "AAA,version,TOPAS-NMON",
        "AAA,build,AIX",
        f"AAA,host,{name}",
        "AAA,user,root",
        "AAA,AIX,6.1.4.3",
        f"AAA,runname,{name}",
        f"AAA,time,{start:%H:%M:%S}",
        f"AAA,date,{date(start)}",
        f"AAA,interval,{interval_s}",
        f"AAA,snapshots,{len(snapshots)}",
        "AAA,hardware,Architecture PowerPC Implementation POWER5 64 bit",
        f"AAA,cpus,{host.threads},{host.threads}",
        f"AAA,LPARNumberName,1,{name}",
        f"AAA,NodeName,{name}",
        "AAA,timestampsize,0",
        "BBBB,0000,name,size(GB),disc attach type",
    )
    for number, disk in enumerate(host.disks, 1):
        yield f"BBBB,{number:04d},{disk},100.00,FC SCSI"
    yield f"CPU_ALL,CPU Total {name},User%,Sys%,Wait%,Idle%,Busy,PhysicalCPUs "
    yield f"PCPU_ALL,PCPU Total {name},User  ,Sys  ,Wait  ,Idle  , Entitled Capacity "
    real = "Real Free %,Virtual free %,Real free(MB),Virtual free(MB),Real total(MB),Virtual total(MB)"
    yield f"MEM,Memory {name},{real}"
    for metric, title in METRICS.items():
        yield f"{metric},{title} {name},{','.join(host.disks)}"
    yield f"BBBL,14,Entitled Capacity,{host.processors}"
    yield f"LPAR,Logical Partition {name},{LPAR}"
    yield "TOP,%CPU Utilisation"
    yield "TOP,+PID,Time,%CPU,%Usr,%Sys,Threads,Size,ResText,ResData,CharIO,%RAM,Paging,Command,WLMclass"


def _rows(host: Host, tag: str, snapshot: Snapshot) -> Iterator[str]:
    yield f"ZZZZ,{tag},{snapshot.end:%H:%M:%S},{date(snapshot.end)}"
    pct = snapshot.cpu_pct
    user_pct = round(USER_SHARE * pct, 1)
    shares = (user_pct, pct - user_pct, 0.0, 100 - pct)
    used = [share / 100 * host.processors for share in shares[:2]]
    consumed = pct / 100 * host.processors
    yield f"CPU_ALL,{tag},{join(shares, 1)},,{host.threads}"
    yield f"PCPU_ALL,{tag},{join((*used, 0, 0), 3)},{host.processors:.2f}"
    modes = join((*shares[:2], 0, 0), 2)
    yield (
        f"LPAR,{tag},{consumed:.3f},{host.processors},{host.threads},{host.processors},{host.processors:.2f},128,0.00,"
        f"{pct:.2f},{pct:.2f},1,1,{modes},{modes},0,0"
    )
    free = host.memory_mb / 8
    yield f"MEM,{tag},12.5,99.1,{free:.1f},8119.8,{host.memory_mb:.1f},8192.0"
    yield from common(tag, snapshot.disks)
    yield f"DISKRIO,{tag},{join((d.reads for d in snapshot.disks), 1)}"
    yield f"DISKWIO,{tag},{join((d.writes for d in snapshot.disks), 1)}"
    yield f"DISKSERV,{tag},{join((d.service_ms for d in snapshot.disks), 1)}"
    yield f"DISKWAIT,{tag},{join((0.0 for _ in snapshot.disks), 1)}"
    for p in snapshot.processes:
        yield (
            f"TOP,{p.pid:07d},{tag},{p.cpu_pct:.2f},{p.cpu_pct * USER_SHARE:.2f},{p.cpu_pct * (1 - USER_SHARE):.2f},"
            f"{p.threads},{p.text_kb + p.data_kb},{p.text_kb},{p.data_kb},{int(p.cpu_pct * 4000)},"
            f"{p.data_kb / (10.24 * host.memory_mb):.0f},0,{p.command},Unclassified"
        )

"""Generate an AIX nmon recording: deterministic, streamed, in the layout that topas_nmon documents and writes.

The figures are made up, but consistent in every way that real recordings were found to be: user, system, wait and
idle cores add up to PhysicalCPU; CPU_ALL is relative to the larger of entitlement and consumption; VP_* to the virtual
processors; DISKXFER = DISKRIO + DISKWIO = transfers of DISKBSIZE KB; the load sometimes exceeds the entitlement.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO

START = datetime(2026, 3, 2, 8, 0, 0)  # noqa: DTZ001 - a recording has local times
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")

DISK_METRICS = {
    "DISKBUSY": "Disk %Busy",
    "DISKREAD": "Disk Read KB/s",
    "DISKWRITE": "Disk Write KB/s",
    "DISKXFER": "Disk transfers per second",
    "DISKRXFER": "Transfers from disk (reads) per second",
    "DISKBSIZE": "Disk Block Size",
    "DISKRIO": "Disk IO Reads per second",
    "DISKWIO": "Disk IO Writes per second",
    "DISKAVGRIO": "Disk IO Average Reads per second",
    "DISKAVGWIO": "Disk IO Average Writes per second",
    "DISKSERV": "Disk Service Time msec/xfer",
    "DISKREADSERV": "Disk Read Service Time msec/xfer",
    "DISKWRITESERV": "Disk Write Service Time msec/xfer",
    "DISKWAIT": "Disk Wait Queue Time msec/xfer",
}

ACCOUNTED = 0.87
"""Share of the partition's user and system time to which the rows of TOP add up, as measured on real recordings."""

COMMANDS = (  # command, weight among the processes, threads, text KB, data KB, user, arguments
    ("db2sysc", 1.10, 64, 96, 76_800, "db2inst1", "db2sysc 0"),
    ("asnqcap", 0.32, 9, 2_120, 41_200, "qrepl", "asnqcap capture_server=SAMPLE, capture_schema=ASN"),
    ("asnqapp", 0.41, 17, 2_340, 48_900, "qrepl", "asnqapp apply_server=TARGET, apply_schema=ASN"),
    ("amqzlaa0", 0.18, 12, 48, 9_400, "mqm", "/usr/mqm/bin/amqzlaa0 -mQM1 -fip0"),
    ("amqrmppa", 0.09, 21, 52, 11_800, "mqm", "/usr/mqm/bin/amqrmppa -m QM1"),
    ("db2fmp", 0.05, 6, 24, 15_300, "db2fenc1", "db2fmp ( ,1,0,0,0,0,0,0,0,1,0,8a6678,14,1e014)"),
    ("syncd", 0.01, 16, 8, 596, "root", "/usr/sbin/syncd 60"),
)


@dataclass(frozen=True)
class Shape:
    """The size and content of a recording."""

    snapshots: int = 1440
    interval: int = 60
    disks: int = 1200
    disks_per_line: int = 150
    logical: int = 28
    virtual: int = 7
    entitled: float = 2.5
    pool: int = 16
    processes: int = 24
    seed: int = 1
    host: str = "aixgen"


def generate(out: BinaryIO, shape: Shape) -> None:
    """Write the recording of `shape`; the same shape always gives the same bytes."""
    recording = Recording(shape)
    out.write(("\n".join(recording.header()) + "\n").encode())
    for number in range(1, shape.snapshots + 1):
        out.write(("\n".join(recording.snapshot(number)) + "\n").encode())
    out.write(("\n".join(recording.trailer()) + "\n").encode())


class Recording:
    """The lines of a recording: its header, its snapshots from number 1 on, each an interval later, and its trailer."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.random = random.Random(shape.seed)
        names = [f"hdisk{n}" for n in range(shape.disks)]
        step = shape.disks_per_line
        self.segments = [names[n : n + step] for n in range(0, len(names), step)]
        self.states = [self._disk_state() for _ in range(2003)]
        self.columns = list(zip(*self.states, strict=True))
        self.nets = ("en0", "en1", "lo0")
        self.adapters = ("fcs0", "fcs1", "fcs2", "fcs3")
        self.file_systems = ("/", "/home", "/usr", "/var", "/tmp", "/opt", "/db2/data", "/db2/log", "/var/mqm")
        self.pids = [4_000_000 + 65_538 * n for n in range(shape.processes)]

    def _disk_state(self) -> tuple[str, ...]:
        """Return the 14 figures of one disk over one interval; a third of the disks is idle."""
        r = self.random
        if r.random() < 0.34:
            return ("0.0",) * len(DISK_METRICS)
        reads = round(r.expovariate(1 / 60), 1)
        writes = round(r.expovariate(1 / 40), 1)
        read_size, write_size = r.choice((4.0, 8.0, 16.0, 64.0)), r.choice((4.0, 8.0, 32.0))
        read_kb, write_kb = reads * read_size, writes * write_size
        transfers = reads + writes
        size = (read_kb + write_kb) / transfers if transfers else 0.0
        read_ms, write_ms = r.uniform(0.3, 6.0) if reads else 0.0, r.uniform(0.2, 2.0) if writes else 0.0
        service = (reads * read_ms + writes * write_ms) / transfers if transfers else 0.0
        busy = min(100.0, transfers * service / 10)
        figures: tuple[float, ...] = (busy, read_kb, write_kb, transfers, reads, size, reads, writes)
        figures += (read_size if reads else 0.0, write_size if writes else 0.0)
        figures += (service, read_ms, write_ms, service * busy / 200)
        return tuple(f"{figure:.1f}" for figure in figures)

    # header

    def header(self) -> Iterator[str]:
        """Yield the lines before the first snapshot."""
        s, host = self.shape, self.shape.host
        yield from (
            "AAA,note,generated by bench/generate_nmon.py: no real system was recorded",
            "AAA,progname,topas_nmon",
            f"AAA,command,topas_nmon -f -T -A -d -P -V -^ -l {s.disks_per_line} -s {s.interval} -c {s.snapshots}",
            "AAA,version,TOPAS-NMON",
            "AAA,build,AIX",
            f"AAA,disks_per_line,{s.disks_per_line}",
            f"AAA,host,{host}",
            "AAA,user,root",
            "AAA,AIX,7.2.5.3",
            "AAA,TL,05",
            f"AAA,runname,{host}",
            f"AAA,time,{START:%H:%M:%S}",
            f"AAA,date,{_date(START)}",
            f"AAA,interval,{s.interval}",
            f"AAA,snapshots,{s.snapshots}",
            "AAA,hardware,Architecture PowerPC Implementation POWER9 64 bit",
            f"AAA,cpus,{8 * s.virtual},{s.logical}",
            "AAA,kernel, HW-type=CHRP=Common H/W Reference Platform Bus=PCI LPAR=Dynamic Multi-Processor 64 bit",
            "AAA,SerialNumber,0000000",
            f"AAA,LPARNumberName,6,{host}",
            "AAA,MachineType,IBM,9009-42A",
            f"AAA,NodeName,{host}",
            "AAA,timestampsize,0",
            "AAA,note0, Warning - use the UNIX sort command to order this file before loading into a spreadsheet",
            "BBBB,0000,name,size(GB),disc attach type",
        )
        for n, segment in enumerate(self.segments):
            for m, disk in enumerate(segment):
                yield f"BBBB,{n * s.disks_per_line + m + 1:04d},{disk},100.00,FC SCSI"
        yield f"CPU_ALL,CPU Total {host},User%,Sys%,Wait%,Idle%,Busy,PhysicalCPUs "
        yield f"PCPU_ALL,PCPU Total {host},User  ,Sys  ,Wait  ,Idle  , Entitled Capacity "
        yield f"SCPU_ALL,SCPU Total {host},User  ,Sys  ,Wait  ,Idle   "
        for kind, sign in (("CPU", "%"), ("PCPU", " "), ("SCPU", " ")):
            for n in range(1, s.logical + 1):
                yield f"{kind}{n:02d},{kind} {n} {host},User{sign},Sys{sign},Wait{sign},Idle{sign}"
        real = "Real Free %,Virtual free %,Real free(MB),Virtual free(MB),Real total(MB),Virtual total(MB)"
        yield f"MEM,Memory {host},{real}"
        yield f"MEMNEW,Memory New {host},Process%,FScache%,System%,Free%,Pinned%,User%"
        uses = "%numperm,%minperm,%maxperm,minfree,maxfree,%numclient,%maxclient, lruable pages"
        yield f"MEMUSE,Memory Use {host},{uses}"
        yield f"PAGE,Paging {host},faults,pgin,pgout,pgsin,pgsout,reclaims,scans,cycles"
        yield f"PAGING,PagingSpace MB Free {host},hd6"
        calls = "Runnable,Swap-in,pswitch,syscall,read,write,fork,exec,sem,msg,asleep_bufio,asleep_rawio,asleep_diocio"
        yield f"PROC,Processes {host},{calls}"
        yield f"FILE,File I/O {host},iget,namei,dirblk,readch,writech,ttyrawch,ttycanch,ttyoutch"
        yield f"PROCAIO,Asynchronous I/O {host},aioprocs,aiorunning,aiocpu"
        both = (f"{net}-{what}" for what in ("read-KB/s", "write-KB/s") for net in self.nets)
        yield f"NET,Network I/O {host},{','.join(both)}"
        both = (f"{net}-{what}" for what in ("reads/s", "writes/s") for net in self.nets)
        yield f"NETPACKET,Network Packets {host},{','.join(both)}"
        both = (f"{net}-{what}" for what in ("readsize", "writesize") for net in self.nets)
        yield f"NETSIZE,Network Size {host},{','.join(both)}"
        three = (f"{net}-{what}" for what in ("ierrs", "oerrs", "collisions") for net in self.nets)
        yield f"NETERROR,Network Errors {host},{','.join(three)}"
        for metric, title in DISK_METRICS.items():
            for n, segment in enumerate(self.segments):
                yield f"{metric}{n or ''},{title} {host},{','.join(segment)}"
        three = (f"{fc}_{what}" for fc in self.adapters for what in ("read-KB/s", "write-KB/s", "xfer-tps"))
        yield f"IOADAPT,Disk Adapter {host},{','.join(three)}"
        for section, title in (
            ("FCREAD", "Fibre Channel Read KB/s"),
            ("FCWRITE", "Fibre Channel Write KB/s"),
            ("FCXFERIN", "Fibre Channel Tranfers In/s"),
            ("FCXFEROUT", "Fibre Channel Tranfers Out/s"),
        ):
            yield f"{section},{title},{','.join(self.adapters)}"
        yield f"BBBL,03,CPU in sys,{s.pool}"
        yield "BBBL,07,capped,0"
        yield f"BBBL,14,Entitled Capacity,{s.entitled}  "
        yield (
            f"LPAR,Logical Partition {host},PhysicalCPU,virtualCPUs,logicalCPUs,poolCPUs,entitled,weight,PoolIdle,"
            "usedAllCPU%,usedPoolCPU%,SharedCPU,Capped,EC_User%,EC_Sys%,EC_Wait%,EC_Idle%,VP_User%,VP_Sys%,VP_Wait%,"
            "VP_Idle%,Folded,Pool_id"
        )
        for section, title in (
            ("VGBUSY", "Disk Busy"),
            ("VGREAD", "Disk Read KB/s"),
            ("VGWRITE", "Disk Write KB/s"),
            ("VGXFER", "Disk Xfer"),
            ("VGSIZE", "Disk Size KB"),
        ):
            yield f"{section},{title} Volume Group,rootvg,db2vg,mqvg"
        yield f"JFSFILE,JFS Filespace %Used {host},{','.join(self.file_systems)}"
        yield f"JFSINODE,JFS Inode %Used {host},{','.join(self.file_systems)}"
        yield "TOP,%CPU Utilisation"
        yield "TOP,+PID,Time,%CPU,%Usr,%Sys,Threads,Size,ResText,ResData,CharIO,%RAM,Paging,Command,WLMclass"
        yield "UARG,+Time,PID,PPID,COMM,THCOUNT,USER,GROUP,FullCommand"
        yield "BBBP,000,oslevel"
        yield 'BBBP,001,oslevel,"7200-05-03-2135"'

    def trailer(self) -> Iterator[str]:
        """Yield the lines behind the last snapshot."""
        yield "BBBP,002,vmstat -v"
        yield 'BBBP,003,vmstat -v,"              4194304 memory pages, of which 1048576 are lruable"'

    # snapshots

    def snapshot(self, number: int) -> Iterator[str]:
        """Yield the lines of a snapshot."""
        s, r = self.shape, self.random
        tag = f"T{number:04d}"
        now = START + timedelta(seconds=s.interval * number)
        yield f"ZZZZ,{tag},{now:%H:%M:%S},{_date(now)}"
        load = 0.5 + 0.42 * math.sin(number / 7) + r.uniform(-0.06, 0.06)
        user, system, wait = 0.62 * load * s.entitled * 1.3, 0.21 * load * s.entitled * 1.3, 0.01 * s.entitled
        idle = 0.18 * s.entitled * (1.1 - load * 0.6)
        consumed = user + system + wait + idle
        base = max(consumed, s.entitled)
        modes = (user, system, wait, idle)
        share = [r.uniform(0.2, 1.0) for _ in range(s.logical)]
        total = sum(share)
        engines = [tuple(mode * part / total for mode in modes) for part in share]
        for n, engine in enumerate(engines, 1):
            percent = [100 * mode / max(sum(engine), 1e-9) for mode in engine]
            yield f"CPU{n:02d},{tag},{_join(percent, 1)}"
        for kind in ("PCPU", "SCPU"):
            for n, engine in enumerate(engines, 1):
                yield f"{kind}{n:02d},{tag},{_join(engine, 2)}"
        percent = [100 * mode / base for mode in (user, system, wait)]
        yield f"CPU_ALL,{tag},{_join([*percent, 100 - sum(percent)], 1)},,{s.logical}"
        yield f"PCPU_ALL,{tag},{_join(modes, 2)},{s.entitled:.2f}"
        yield f"SCPU_ALL,{tag},{_join(modes, 2)}"
        entitled = _join([100 * mode / base for mode in modes], 2)
        virtual = _join([100 * mode / s.virtual for mode in modes], 2)
        pool = 100 * consumed / s.pool
        yield (
            f"LPAR,{tag},{consumed:.3f},{s.virtual},{s.logical},{s.pool},{s.entitled:.2f},128,"
            f"{s.pool - consumed - 2:.2f},{pool:.2f},{pool:.2f},1,0,{entitled},{virtual},0,0"
        )
        free = 4_000 + 1_500 * math.cos(number / 11)
        yield f"MEM,{tag},{free / 327.68:.1f},99.1,{free:.1f},8119.8,32768.0,8192.0"
        yield f"MEMNEW,{tag},{48 + 6 * load:.1f},{34 - 6 * load:.1f},{8.1:.1f},{free / 327.68:.1f},14.2,71.0"
        yield f"MEMUSE,{tag},31.4,3.0,90.0,960,1088,31.4,90.0, 7908352.0"
        yield f"PAGE,{tag},{_join([r.uniform(500, 4000), 210 * load, 140 * load, 0, 0, 0, 0, 0], 1)}"
        yield f"PAGING,{tag},8120"
        calls = ",".join(str(int(calls * load)) for calls in (4000, 90000, 30000, 9000))
        yield f"PROC,{tag},{load * 6:.2f},0.07,{calls},4,3,12,9,0,0,0"
        yield f"FILE,{tag},0,1916,0,{int(9e7 * load)},{int(3e6 * load)},0,0,0"
        yield f"PROCAIO,{tag},40,{int(12 * load)},0.3"
        nets = [(2000 * load, 900 * load), (14000 * load, 12000 * load), (3.0, 3.0)]
        yield f"NET,{tag},{_join([n[0] for n in nets] + [n[1] for n in nets], 1)}"
        yield f"NETPACKET,{tag},{_join([n[0] / 1.2 for n in nets] + [n[1] / 0.9 for n in nets], 1)}"
        yield f"NETSIZE,{tag},{_join([1228.8] * 3 + [921.6] * 3, 1)}"
        yield f"NETERROR,{tag},{_join([0.0] * 9, 1)}"
        picks = [[r.randrange(len(self.states)) for _ in segment] for segment in self.segments]
        for metric, column in zip(DISK_METRICS, self.columns, strict=True):
            for n, pick in enumerate(picks):
                yield f"{metric}{n or ''},{tag},{','.join([column[at] for at in pick])}"
        triplets = [(9000 * load, 4000 * load, 800 * load)] * len(self.adapters)
        yield f"IOADAPT,{tag},{_join([figure for triplet in triplets for figure in triplet], 1)}"
        for section, figure in (("FCREAD", 9000.0), ("FCWRITE", 4000.0), ("FCXFERIN", 500.0), ("FCXFEROUT", 300.0)):
            yield f"{section},{tag},{_join([figure * load] * len(self.adapters), 1)}"
        for section, figure in (
            ("VGBUSY", 9.0),
            ("VGREAD", 900.0),
            ("VGWRITE", 400.0),
            ("VGXFER", 90.0),
            ("VGSIZE", 14.0),
        ):
            yield f"{section},{tag},{_join([figure * load * part for part in (0.05, 1.0, 0.4)], 1)}"
        yield f"JFSFILE,{tag},{_join([39.4, 10.4, 64.3, 18.6, 2.3, 52.8, 71.0, 33.0 + load, 12.1], 1)}"
        yield f"JFSINODE,{tag},{_join([13.0, 0.2, 15.1, 1.0, 0.1, 7.0, 0.2, 0.1, 1.1], 1)}"
        if number > 1:
            yield from self._processes(tag, number, ACCOUNTED * (user + system))

    def _processes(self, tag: str, number: int, cores: float) -> Iterator[str]:
        weights = [COMMANDS[n % len(COMMANDS)][1] / (1 + n // len(COMMANDS)) for n in range(len(self.pids))]
        for n, pid in enumerate(self.pids):
            command, _, threads, text, data, user, arguments = COMMANDS[n % len(COMMANDS)]
            used = 100 * cores * weights[n] / sum(weights)
            size = text + data
            yield (
                f"TOP,{pid:07d},{tag},{used:.2f},{used * 0.8:.2f},{used * 0.2:.2f},{threads},{size},{text},{data},"
                f"{int(used * 4000)},{data / 335_544:.0f},0,{command},Unclassified"
            )
            if number == 2:
                yield f"UARG,{tag}, {pid},{1:8d}, {command},{threads:4d}, {user},staff, {arguments}"


def _join(figures: object, decimals: int) -> str:
    return ",".join(f"{figure:.{decimals}f}" for figure in figures)  # type: ignore[attr-defined]


def _date(when: datetime) -> str:
    return f"{when.day:02d}-{MONTHS[when.month - 1]}-{when.year}"

"""What every column of every section means, by operating system (nmon reference: 1.3, 1.6).

One table: a column either fills a column of a dataset, or it is a row of `counter` with unit and kind. What is not
in the table is still a row of `counter`, with neither. VIOS is AIX.

`rate` marks a figure per second that a record holds as the amount of its interval.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Measure(NamedTuple):
    """A column of a dataset filled with the value times `factor`, times the interval where it is a rate."""

    column: str
    factor: float = 1.0
    rate: bool = False


class Unit(NamedTuple):
    """Unit and kind of a value in `counter`; None where the recorder's documentation does not define them."""

    unit: str | None = None
    kind: str | None = None


class Family(NamedTuple):
    """A section whose values are rows of `counter`.

    `counter` names the counter where every column is an instance (a disk, a file system). Where a column holds
    instance and counter (`fcs0_read-KB/s`), `split` parts them. Else columns are counters of the section as a whole.
    `signed` figures may be negative; a figure equal to `ceiling` stands for any value from there on.
    """

    units: dict[str, Unit] = {}
    other: Unit = Unit()
    counter: str | None = None
    split: re.Pattern[str] | None = None
    signed: bool = False
    ceiling: int | None = None


class Links(NamedTuple):
    """A section of interfaces or ports: `split` parts name and figure, or every column is a port and fills `each`."""

    link_type: str
    measures: dict[str, Measure] = {}
    split: re.Pattern[str] | None = None
    each: Measure | None = None


def rate(column: str, factor: float = 1.0) -> Measure:
    return Measure(column, factor, rate=True)


PERCENT = Unit("%", "percent")
GAUGE = Unit(None, "gauge")
MB = Unit("MB of 1,048,576 bytes", "gauge")
PAGES = Unit("pages", "gauge")
CORES = Unit("cores", "gauge")
PER_S = Unit("1/s", "rate")
KB_PER_S = Unit("KB of 1,024 bytes/s", "rate")
BYTES_PER_S = Unit("bytes/s", "rate")
KB = Unit("KB of 1,024 bytes", "gauge")

# disk: one row per device, from the DISK sections (AIX and Linux name them alike; each has some of them)

DISK = {
    "DISKBUSY": Measure("busy_pct"),
    "DISKREAD": rate("read_kb"),
    "DISKWRITE": rate("written_kb"),
    "DISKXFER": rate("transfers"),
    "DISKREADS": rate("reads"),
    "DISKRIO": rate("reads"),
    "DISKWRITES": rate("writes"),
    "DISKWIO": rate("writes"),
    "DISKBSIZE": Measure("kb_per_transfer"),  # KB a transfer, although documented as a number of blocks
    "DISKAVGRIO": Measure("kb_per_read"),  # KB a read, although titled "Average Reads per second"
    "DISKAVGWIO": Measure("kb_per_write"),
    "DISKSERV": Measure("service_ms"),
    "DISKREADSERV": Measure("read_service_ms"),
    "DISKWRITESERV": Measure("write_service_ms"),
    "DISKWAIT": Measure("wait_ms"),
}
READS_AGAIN = "DISKRXFER"
"""Reads per second, repeated: fills `reads` without DISKRIO; beside it, only differing figures become a counter."""

GROUP = {
    "DGBUSY": Measure("busy_pct"),
    "DGREAD": rate("read_kb"),
    "DGWRITE": rate("written_kb"),
    "DGXFER": rate("transfers"),
    "DGREADS": rate("reads"),
    "DGWRITES": rate("writes"),
    "DGSIZE": Measure("kb_per_transfer"),
    "DGREADMERGE": rate("merged_reads"),
    "DGWRITEMERGE": rate("merged_writes"),
    "DGINFLIGHT": Measure("queue_length"),
    "DGBACKLOG": rate("backlog_ms"),
    "DGREADSERV": Measure("read_service_ms"),  # a sum: divided by DGREADS
    "DGWRITESERV": Measure("write_service_ms"),  # a sum: divided by DGWRITES
}
GROUP_SUMS = {"DGREADSERV": "DGREADS", "DGWRITESERV": "DGWRITES"}
GROUP_TIMES = ("DGREADSERV", "DGWRITESERV", "DGBACKLOG")


def group_times_per_second(release: str) -> bool | None:
    """Return whether a release of Linux nmon writes the times of disk groups per second, or None where that is unknown.

    Up to 16f they are sums of the interval (its source); 16n writes them per second (a recording at 5 s beside
    /proc/diskstats).
    """
    match = re.match(r"(\d+)([a-z]?)", release)
    if match is None:
        return None
    number = int(match[1]), match[2]
    return True if number >= (16, "n") else False if number <= (16, "f") else None


MEANS_OF = {
    "transfers": ("service_ms", "wait_ms", "kb_per_transfer"),
    "reads": ("read_service_ms", "kb_per_read"),
    "writes": ("write_service_ms", "kb_per_write"),
}
"""A mean of nothing is missing: null where both the mean and the number of its operations are 0."""

# system_cpu: one row per logical processor, and one for all

_PERCENTAGES = {
    "User%": Measure("user_pct"),
    "Sys%": Measure("sys_pct"),
    "Wait%": Measure("wait_pct"),
    "Idle%": Measure("idle_pct"),
    "Steal%": Measure("steal_pct"),
}
_PHYSICAL = {
    "User": Measure("physical_user_cores"),
    "Sys": Measure("physical_sys_cores"),
    "Wait": Measure("physical_wait_cores"),
    "Idle": Measure("physical_idle_cores"),
    "Entitled Capacity": Measure("entitled_cores"),
}
_SCALED = {
    "User": Measure("scaled_user_cores"),
    "Sys": Measure("scaled_sys_cores"),
    "Wait": Measure("scaled_wait_cores"),
    "Idle": Measure("scaled_idle_cores"),
}

ENGINES = {"CPU": _PERCENTAGES, "PCPU": _PHYSICAL, "SCPU": _SCALED}
"""CPUnnn, PCPUnn and SCPUnn of one number are one row."""

# pool and the row of system_cpu for all processors

FIELDS: dict[tuple[str, str], tuple[str, dict[str, Measure]]] = {
    ("Linux", "CPU_ALL"): ("system_cpu", {**_PERCENTAGES, "CPUs": Measure("logical_engines")}),
    ("AIX", "CPU_ALL"): (
        "system_cpu",
        # the column PhysicalCPUs holds logical processors
        {**_PERCENTAGES, "PhysicalCPUs": Measure("logical_engines"), "CPUs": Measure("logical_engines")},
    ),
    ("AIX", "PCPU_ALL"): ("system_cpu", _PHYSICAL),
    ("AIX", "SCPU_ALL"): ("system_cpu", _SCALED),
    ("AIX", "LPAR"): (
        "system_cpu",
        {
            "PhysicalCPU": Measure("physical_consumed_cores"),
            "virtualCPUs": Measure("virtual_engines"),
            "logicalCPUs": Measure("logical_engines"),
            "poolCPUs": Measure("pool_cores"),
            "entitled": Measure("entitled_cores"),
            "PoolIdle": Measure("pool_idle_cores"),
            "usedPoolCPU%": Measure("pool_used_pct"),
            "Folded": Measure("folded_engines"),
        },
    ),
    ("Linux", "LPAR"): (  # Linux on POWER: other columns under the same name
        "system_cpu",
        {
            "PhysicalCPU": Measure("physical_consumed_cores"),
            "Logical CPU": Measure("logical_engines"),
            "partition_active_processors": Measure("virtual_engines"),
            "partition_entitled_capacity": Measure("entitled_cores"),
            "pool_idle_time": Measure("pool_idle_cores"),
        },
    ),
    ("Linux", "MEM"): (
        "pool",
        {
            "memtotal": Measure("size_mb"),
            "memfree": Measure("free_mb"),
            "cached": Measure("cached_mb"),
            "buffers": Measure("buffers_mb"),
            "active": Measure("active_mb"),
            "inactive": Measure("inactive_mb"),
            "swaptotal": Measure("paging_space_mb"),
            "swapfree": Measure("paging_space_free_mb"),
        },
    ),
    ("Linux", "VM"): (  # raw deltas since the preceding row: amounts already
        "pool",
        {
            "pgfault": Measure("faults"),
            "pgmajfault": Measure("major_faults"),
            "pgpgin": Measure("file_pages_in_kb"),
            "pgpgout": Measure("file_pages_out_kb"),
            "pswpin": Measure("paging_space_pages_in"),
            "pswpout": Measure("paging_space_pages_out"),
        },
    ),
    ("AIX", "MEM"): (
        "pool",
        {
            "Real total(MB)": Measure("size_mb"),
            "Real free(MB)": Measure("free_mb"),
            "Virtual total(MB)": Measure("paging_space_mb"),
            "Virtual free(MB)": Measure("paging_space_free_mb"),
        },
    ),
    ("AIX", "MEMNEW"): (
        "pool",
        {
            "Process%": Measure("process_pct"),
            "FScache%": Measure("fscache_pct"),
            "System%": Measure("system_pct"),
            "Pinned%": Measure("pinned_pct"),
        },
    ),
    ("AIX", "PAGE"): (
        "pool",
        {
            "faults": rate("faults"),
            "pgin": rate("file_pages_in_kb", 4),
            "pgout": rate("file_pages_out_kb", 4),
            "pgsin": rate("paging_space_pages_in"),
            "pgsout": rate("paging_space_pages_out"),
            "scans": rate("page_scans"),
            "reclaims": rate("page_reclaims"),
        },
    ),
}

# link: names hold `-` and `_`, so the last one separates name and figure

_LAST_DASH = re.compile(r"(.+)-((?:reads?|writes?)(?:/s|-KB/s)|readsize|writesize|ierrs|oerrs|collisions?)")
_PHYSICAL_PORT = re.compile(
    r"(.+?)[_-](read-KB/s|write-KB/s|reads/s|writes/s|Transmit_Errors|Receive_Errors|Packets_Dropped|No_\w+)"
)
_TRAFFIC = {
    "read-KB/s": rate("in_kb"),
    "write-KB/s": rate("out_kb"),
    "read/s": rate("in_packets"),
    "write/s": rate("out_packets"),
    "reads/s": rate("in_packets"),
    "writes/s": rate("out_packets"),
}

LINKS = {
    "NET": Links("interface", _TRAFFIC, _LAST_DASH),
    "NETPACKET": Links("interface", _TRAFFIC, _LAST_DASH),
    "NETSIZE": Links(
        "interface",
        {"readsize": Measure("in_bytes_per_packet"), "writesize": Measure("out_bytes_per_packet")},
        _LAST_DASH,
    ),
    "NETERROR": Links(
        "interface",
        {
            "ierrs": rate("in_errors"),
            "oerrs": rate("out_errors"),
            "collisions": rate("collisions"),
            "collision": rate("collisions"),
        },
        _LAST_DASH,
    ),
    "SEA": Links("sea", _TRAFFIC, _LAST_DASH),
    "SEAPACKET": Links("sea", _TRAFFIC, _LAST_DASH),
    "SEACHPHY": Links("sea_physical", _TRAFFIC, _PHYSICAL_PORT),
    "FCREAD": Links("fc", each=rate("in_kb")),
    "FCWRITE": Links("fc", each=rate("out_kb")),
    "FCXFERIN": Links("fc", each=rate("in_packets")),
    "FCXFEROUT": Links("fc", each=rate("out_packets")),
}

# job: one row per process, from TOP

TOP = {
    "AIX": {
        "%CPU": rate("cpu_ms", 10),  # percent of one physical core
        "%Usr": rate("cpu_user_ms", 10),
        "%Sys": rate("cpu_sys_ms", 10),
        "Threads": Measure("threads"),
        "Size": Measure("size_kb"),
        "ResText": Measure("resident_text_kb"),
        "ResData": Measure("resident_data_kb"),
        "CharIO": rate("char_io_kb", 1 / 1024),
        "%RAM": Measure("memory_pct"),
        # Paging is a counter without a unit: recordings show 13 and 54, and paging space is used in pages of 4 KB
    },
    "Linux": {
        "%CPU": rate("cpu_ms", 10),  # percent of one logical processor
        "%Usr": rate("cpu_user_ms", 10),
        "%Sys": rate("cpu_sys_ms", 10),
        "Size": Measure("size_kb"),
        "ResSet": Measure("resident_kb"),
        "ResText": Measure("resident_text_kb"),
        "ResData": Measure("resident_data_kb"),
        "ShdLib": Measure("shared_kb"),
        "MinorFault": rate("minor_faults"),  # per second, as a real recorder shows and its source divides
        "MajorFault": rate("major_faults"),
        "Threads": Measure("threads"),
        "IOwaitTime": Measure("io_wait_ms", 10),  # clock ticks of 10 ms
    },
}
TOP_TEXT = {"Command": "command", "WLMclass": "workload_class"}
CPU_BASE = {"AIX": "physical", "Linux": "logical"}

# counter: everything else

_NFS = Family(other=PER_S)
_WLM = Family(other=PERCENT, counter="used")
_PAGE_EVENTS = (
    *("pgexct", "pgrclm", "pageins", "pageouts", "pgspgins", "pgspgouts", "numsios", "numiodone", "zerofills"),
    *("exfills", "scans", "cycles", "pgsteals"),
)
_MEMPAGES = Family(units=dict.fromkeys(_PAGE_EVENTS, Unit("pages")), other=PAGES)

_SHARED: dict[str, Family] = {
    "JFSFILE": Family(other=PERCENT, counter="%Used"),
    "JFSINODE": Family(other=PERCENT, counter="%Used"),
    **{f"NFS{side}V{v}": _NFS for side in ("CLI", "SVR") for v in (2, 3, 4)},
    **{f"WLM{what}": _WLM for what in ("CPU", "MEM", "BIO")},
}
COUNTERS: dict[str, dict[str, Family]] = {
    "AIX": {
        **_SHARED,
        "CPU_ALL": Family(units={"Busy": PERCENT}),
        "LPAR": Family(
            units={
                "weight": GAUGE,
                "usedAllCPU%": PERCENT,
                "PoolIdle": CORES,
                "SharedCPU": GAUGE,
                "Capped": GAUGE,
                "Pool_id": GAUGE,
                **{f"{base}_{mode}%": PERCENT for base in ("EC", "VP") for mode in ("User", "Sys", "Wait", "Idle")},
            }
        ),
        "MEM": Family(units={"Real Free %": PERCENT, "Virtual free %": PERCENT}),
        "MEMNEW": Family(other=PERCENT),
        "MEMUSE": Family(
            units={"minfree": PAGES, "maxfree": PAGES, "lruable pages": PAGES},
            other=PERCENT,
        ),
        "MEMPAGES4KB": _MEMPAGES,
        "MEMPAGES64KB": _MEMPAGES,
        "MEMPAGES16MB": _MEMPAGES,
        "MEMPAGES16GB": _MEMPAGES,
        "LARGEPAGE": Family(units={"SizeMB": MB}, other=PAGES),
        "PAGE": Family(units={"cycles": PER_S}),
        "PAGING": Family(other=MB, counter="free"),
        "PROC": Family(
            units=dict.fromkeys(["Runnable", "Swap-in", "asleep_bufio", "asleep_rawio", "asleep_diocio"], GAUGE),
            other=PER_S,
        ),
        "PROCAIO": Family(units={"aiocpu": PERCENT}, other=GAUGE),
        "FILE": Family(
            units=dict.fromkeys(["readch", "writech", "ttyrawch", "ttycanch", "ttyoutch"], BYTES_PER_S),
            other=PER_S,
            ceiling=2**31 - 1,
        ),
        "POOLS": Family(
            units=dict.fromkeys(["shcpus_in_sys", "max_pool_capacity", "entitled_pool_capacity", "entitled"], CORES)
            | {"Pool_id": GAUGE}
        ),
        "IOADAPT": Family(
            units={"read-KB/s": KB_PER_S, "write-KB/s": KB_PER_S, "xfer-tps": PER_S},
            split=re.compile(r"(.+)_([^_]+)"),
        ),
        "VGBUSY": Family(other=PERCENT, counter="busy"),
        "VGREAD": Family(other=KB_PER_S, counter="read"),
        "VGWRITE": Family(other=KB_PER_S, counter="write"),
        "VGXFER": Family(other=PER_S, counter="xfer"),
        "VGSIZE": Family(other=KB, counter="size"),
        "ESSREAD": Family(other=KB_PER_S, counter="read"),
        "ESSWRITE": Family(other=KB_PER_S, counter="write"),
        "ESSXFER": Family(other=PER_S, counter="xfer"),
    },
    "Linux": {
        **_SHARED,
        "CPU_ALL": Family(units={"Busy": PERCENT}),
        "CPUUTIL_ALL": Family(other=PERCENT),  # a sum over processors, not an average
        "CPUUTIL": Family(other=PERCENT),
        "LPAR": Family(other=GAUGE),
        "MEM": Family(other=MB),
        "VM": Family(other=Unit(None, "delta")),  # nr_* are gauges, see `unit_of`
        "PROC": Family(units={"Runnable": GAUGE, "Blocked": GAUGE}, other=PER_S),
        "MHZ": Family(other=Unit("MHz", "gauge"), counter="clock"),
        "GPU_UTIL": Family(other=PERCENT, counter="utilisation"),
        "GPU_MEM": Family(other=MB, counter="memory"),
        "GPU_UMEM": Family(other=PERCENT, counter="memory"),
        "GPU_TEMP": Family(other=Unit("°C", "gauge"), counter="temperature", signed=True),
        "GPU_WATTS": Family(other=Unit("W", "gauge"), counter="power"),
        "GPU_MHZ": Family(other=Unit("MHz", "gauge"), counter="clock"),
        "HUGEPAGES": Family(units={"HugeSizeMB": MB}, other=PAGES),
        "DGIOTIME": Family(other=Unit("ms"), counter="busy"),
    },
}
UNKNOWN = Family(signed=True)

_DEVICES = re.compile(r"(?:DISK|DG|ESS|VG)[A-Z]+")


def family(system: str, section: str) -> Family:
    """Return how the values of a section that fill no dataset become counters; `system` is AIX or Linux."""
    if (known := COUNTERS[system].get(section)) is not None:
        return known
    if _DEVICES.fullmatch(section):  # a figure of disks that this table does not know yet
        return Family(counter=section)
    return UNKNOWN


def unit_of(system: str, section: str, column: str) -> Unit:
    known = family(system, section)
    if section == "VM" and column.startswith("nr_"):
        return PAGES
    return known.units.get(column, known.other)

"""What every column of every section means, by operating system (nmon reference: 1.3, 1.6).

One table: a column either fills a column of a dataset, or it is a row of `counter` with unit and kind. What is not
in the table is still a row of `counter`, with neither. VIOS is AIX.

`rate` marks a figure per second that a record holds as the amount of its interval.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from counterflow.schemas.mapping import fills


class FilledMeasure(NamedTuple):
    """A column of a dataset filled with the value times `factor`, times the interval where it is a rate."""

    column: str
    factor: float = 1.0
    rate: bool = False


class CounterUnit(NamedTuple):
    """Unit and kind of a value in `counter`; None where the recorder's documentation does not define them."""

    unit: str | None = None
    kind: str | None = None


class Family(NamedTuple):
    """A section whose values are rows of `counter`.

    `counter` names the counter where every column is an instance (a disk, a file system). Where a column holds
    instance and counter (`fcs0_read-KB/s`), `split` parts them. Else columns are counters of the section as a whole.
    `signed` figures may be negative; a figure equal to `ceiling` stands for any value from there on.
    """

    units: dict[str, CounterUnit] = {}
    other: CounterUnit = CounterUnit()
    counter: str | None = None
    split: re.Pattern[str] | None = None
    signed: bool = False
    ceiling: int | None = None


PERCENT = CounterUnit("%", "percent")
GAUGE = CounterUnit(None, "gauge")
MB = CounterUnit("MB of 1,048,576 bytes", "gauge")
PAGES = CounterUnit("pages", "gauge")
CORES = CounterUnit("cores", "gauge")
PER_S = CounterUnit("1/s", "rate")
KB_PER_S = CounterUnit("KB of 1,024 bytes/s", "rate")
BYTES_PER_S = CounterUnit("bytes/s", "rate")
KB = CounterUnit("KB of 1,024 bytes", "gauge")


class FilledDataset(NamedTuple):
    """The dataset that a section fills, and its columns by their names; "" where every column is a device."""

    dataset: str
    measures: dict[str, FilledMeasure]


_SECTION = re.compile(r"[A-Z]+(?:_ALL|nnn)?")


def _filled() -> dict[str, dict[str, FilledDataset]]:
    found: dict[str, dict[str, FilledDataset]] = {"AIX": {}, "Linux": {}}
    for dataset in ("system_cpu", "pool", "disk", "link", "job"):
        for fill in fills("nmon", dataset):
            section, _, name = fill.counter.partition(" ")
            if not _SECTION.fullmatch(section):
                continue
            for system in [fill.remark] if fill.remark in found else found:
                filled = found[system].setdefault(section, FilledDataset(dataset, {}))
                filled.measures[name] = FilledMeasure(fill.column, fill.factor, fill.rate)
    return found


FILLED = _filled()
"""What `mapping.yaml` states of each section, by system. CPUnnn, PCPUnn and SCPUnn of one number are one row."""

DISKS = {section: filled.measures[""] for section, filled in FILLED["Linux"].items() if re.match("DISK|DG", section)}
"""Sections of disks, DISK* (AIX and Linux name them alike; each has some of them), and of groups of disks, DG*."""
READS_AGAIN = "DISKRXFER"
"""Reads per second, repeated: fills `reads` without DISKRIO; beside it, only differing figures become a counter."""

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

# link: names hold `-` and `_`, so the last one separates name and figure

_LAST_DASH = re.compile(r"(.+)-((?:reads?|writes?)(?:/s|-KB/s)|readsize|writesize|ierrs|oerrs|collisions?)")
_PHYSICAL_PORT = re.compile(
    r"(.+?)[_-](read-KB/s|write-KB/s|reads/s|writes/s|Transmit_Errors|Receive_Errors|Packets_Dropped|No_\w+)"
)
LINKS = {
    **dict.fromkeys(("NET", "NETPACKET", "NETSIZE", "NETERROR"), ("interface", _LAST_DASH)),
    **dict.fromkeys(("SEA", "SEAPACKET"), ("sea", _LAST_DASH)),
    "SEACHPHY": ("sea_physical", _PHYSICAL_PORT),
    **dict.fromkeys(("FCREAD", "FCWRITE", "FCXFERIN", "FCXFEROUT"), ("fc", None)),
}
"""The type of link of a section, and how the names of its columns are parted; None where every column is a port."""

TOP_TEXT = {"Command": "command", "WLMclass": "workload_class"}
CPU_BASE = {"AIX": "physical", "Linux": "logical"}

# counter: everything else

_NFS = Family(other=PER_S)
_WLM = Family(other=PERCENT, counter="used")
_PAGE_EVENTS = (
    *("pgexct", "pgrclm", "pageins", "pageouts", "pgspgins", "pgspgouts", "numsios", "numiodone", "zerofills"),
    *("exfills", "scans", "cycles", "pgsteals"),
)
_MEMPAGES = Family(units=dict.fromkeys(_PAGE_EVENTS, CounterUnit("pages")), other=PAGES)

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
        "VM": Family(other=CounterUnit(None, "delta")),  # nr_* are gauges, see `unit_of`
        "PROC": Family(units={"Runnable": GAUGE, "Blocked": GAUGE}, other=PER_S),
        "MHZ": Family(other=CounterUnit("MHz", "gauge"), counter="clock"),
        "GPU_UTIL": Family(other=PERCENT, counter="utilisation"),
        "GPU_MEM": Family(other=MB, counter="memory"),
        "GPU_UMEM": Family(other=PERCENT, counter="memory"),
        "GPU_TEMP": Family(other=CounterUnit("°C", "gauge"), counter="temperature", signed=True),
        "GPU_WATTS": Family(other=CounterUnit("W", "gauge"), counter="power"),
        "GPU_MHZ": Family(other=CounterUnit("MHz", "gauge"), counter="clock"),
        "HUGEPAGES": Family(units={"HugeSizeMB": MB}, other=PAGES),
        "DGIOTIME": Family(other=CounterUnit("ms"), counter="busy"),
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


def unit_of(system: str, section: str, column: str) -> CounterUnit:
    known = family(system, section)
    if section == "VM" and column.startswith("nr_"):
        return PAGES
    return known.units.get(column, known.other)

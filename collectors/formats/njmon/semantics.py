"""What the keys of an njmon sample mean: unit and kind, by section and key.

Source: njmon for Linux, versions 25 and 81 (the functions that print each section), and the kernel's documentation of
/proc/diskstats, /proc/stat and /proc/vmstat. Rates are per second of the recorder's own elapsed time.
"""

from __future__ import annotations

KB = "KB of 1,024 bytes"
MB = "MB of 1,048,576 bytes"
PERCENT = ("%", "percent")
Semantics = tuple[str | None, str | None]

CPU = {
    "user_pct": ("user", "nice"),
    "sys_pct": ("sys", "hardirq", "softirq"),
    "wait_pct": ("iowait",),
    "idle_pct": ("idle",),
    "steal_pct": ("steal",),
}
"""Columns of system_cpu: sums of these keys."""

DISK_MEANS = {"read_service_ms": ("rmsec", "reads"), "write_service_ms": ("wmsec", "writes")}
"""Milliseconds spent by all operations a second, over operations a second: ms from submission to completion."""

POOL_CUMULATIVE = {
    "faults": "pgfault",
    "major_faults": "pgmajfault",
    "file_pages_in_kb": "pgpgin",
    "file_pages_out_kb": "pgpgout",
    "paging_space_pages_in": "pswpin",
    "paging_space_pages_out": "pswpout",
}

JOB_IDENTITIES = {"pid", "ppid", "pgrp", "session", "tty_nr", "uid", "classid"}
"""Numbers of a process that name something."""

CONFIG_SECTIONS = {"identity", "tags", "os_release", "proc_version", "lscpu"}
CONFIG_NUMBERS = {
    "cpuinfo": {"cache_size", "physical_id", "siblings", "core_id", "cpu_cores"},
    "cpuinfo_power": {"power_timebase"},
    "filesystems": {"fs_freqs", "fs_passno", "fs_bsize", "fs_namelength"},
    "timestamp": {"snapshot_seconds", "snapshot_maxloops"},
    "stat_counters": {"btime"},
}
"""Numbers that describe and do not measure."""

_KEYS: dict[str, dict[str, Semantics]] = {
    "timestamp": dict.fromkeys(("sleeping", "execute_time", "sleep_overrun", "elapsed"), ("s", "gauge")),
    "disks": {
        "bsize": ("bytes", "gauge"),
        "discards": ("operations/s", "rate"),
        "discard_merge": ("operations/s", "rate"),
        "discard_sectors": ("sectors of 512 bytes/s", "rate"),
        "discard_busy": PERCENT,
        "flushes": ("operations/s", "rate"),
    },
    "networks": dict.fromkeys(("ififo", "iframe", "ofifo", "ocarrier"), ("packets/s", "rate")),
    "stat_counters": {
        "ctxt": ("switches/s", "rate"),
        "processes_forks": ("processes/s", "rate"),
        "procs_running": ("processes", "gauge"),
        "procs_blocked": ("processes", "gauge"),
    },
    "cpuinfo": dict.fromkeys(("cpu_mhz", "mhz_clock"), ("MHz", "gauge")),
    "proc_uptime": {"total_seconds": ("s", "gauge"), "days": ("days", "gauge"), "hours": ("hours", "gauge")},
    "filesystems": {
        **dict.fromkeys(("fs_size_mb", "fs_free_mb", "fs_used_mb", "fs_avail"), (MB, "gauge")),
        **dict.fromkeys(("fs_files", "fs_files_free"), ("inodes", "gauge")),
        "fs_full_percent": PERCENT,
    },
    "swaps": dict.fromkeys(("size", "used"), (KB, "gauge")),
    "processes": {
        **dict.fromkeys(("cpu_usr_total_secs", "cpu_sys_total_secs"), ("s", "cumulative")),
        "starttime_secs": ("s", "gauge"),
        "virtual_size_kb": (KB, "gauge"),
        "rss_pages": ("pages", "gauge"),
    },
    "ppc64_lparcfg": dict.fromkeys(("physical_consumed", "pool_idle_cpu"), ("cores", "gauge")),
}

_VMSTAT_COUNTED = ("nr_dirtied", "nr_written", "nr_vmscan_", "nr_foll_pin_", "nr_throttled_", "nr_tlb_")
_VMSTAT_KB = {"pgpgin", "pgpgout", "nr_kernel_stack"}


def semantics(section: str, key: str) -> Semantics:
    """Return unit and kind of a number; None where the source documents none."""
    if section == "proc_meminfo":
        return ("pages" if key.startswith("HugePages_") else KB), "gauge"
    if section == "proc_vmstat":
        return _vmstat(key)
    if section in ("cpu_total", "cpus"):
        return PERCENT
    return _KEYS.get(section, {}).get(key, (None, None))


def _vmstat(key: str) -> Semantics:
    """Return unit and kind of a line of /proc/vmstat: `nr_` are levels, in pages; the others are counts since boot."""
    if key.endswith("_rate"):
        return None, "rate"
    unit = KB if key in _VMSTAT_KB else "pages" if key.startswith("nr_") else None
    level = key == "workingset_nodes" or (key.startswith("nr_") and not key.startswith(_VMSTAT_COUNTED))
    return unit, "gauge" if level else "cumulative"

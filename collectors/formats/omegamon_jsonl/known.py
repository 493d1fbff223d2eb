"""The tables of OMEGAMON Data Provider as public sources show them, and their use here: the one place for both.

Names of fields are those of the filters that its makers publish for their starter dashboards (z-open-data.github.io,
OMEGAMON for z/OS and for Db2). That a field identifies the rows of a table is inferred from its name alone.
"""

from __future__ import annotations

PRODUCT, TABLE, WRITTEN, INTERVAL_S = "product_code", "table_name", "write_time", "interval_seconds"
INTRODUCED = (PRODUCT, TABLE, WRITTEN, INTERVAL_S)
"""Fields that OMEGAMON Data Connect introduces. The last was read in a configuration of its makers, not in a manual."""

SYSTEM = ("smf_id", "mvs_system")
"""Fields that name the system: in tables of km5, in tables of kd5."""
NODE = "managed_system"
"""The field that names it otherwise: `MYPLEX01:MY01:MVSSYS`."""
PLACE = (*SYSTEM, NODE, "originnode", "sysplex_name")
"""Fields that name the origin of the whole line."""

SUBSYSTEM, MEMBER = "db2_subsystem", "member_name"
OF_SUBSYSTEM = (MEMBER, "data_sharing_group", "db2_version")
"""Texts that describe the subsystem, whatever else the row describes."""
JOB = ("job_name", "jesjobid", "asid")
VOLUME = "volume"
_LONG = (SUBSYSTEM, "fieldname")

INSTANCE: dict[str, tuple[str, ...]] = {
    "km5.ascpuutil": JOB,
    "km5.km5msucap": ("record_type", "time_period"),
    "km5.km5wlmclpx": ("record_type", "lpar_name", "class_type", "workload_name", "class_name", "period"),
    "km5.km5wlmclrx": ("lpar_name", "class_type", "workload_name", "class_name", "period"),
    "km5.lpclust": ("cpc_serial", "cluster_name", "lpar_name", "processor_class"),
    "km5.m5stgcdth": ("job_name", "asid"),
    "km5.m5stgdeth": ("job_name", "asid"),
    "km5.m5stgfdth": ("job_name", "asid"),
    "km5.m5zcxcont": ("job_name", "container"),
    "km5.m5zcxins": ("job_name",),
    "km5.mplxcpcsum": ("cpc_serial_number", "lpar_name"),
    "km5.mrptcls": ("report_class",),
    "km5.syscpuutil": (),
    "ks3.dasdspac": (VOLUME,),
    "kd5.dp_srm_log": (SUBSYSTEM,),
    "kd5.dp_srm_sub": (SUBSYSTEM,),
    "kd5.dp_sy_exc": (SUBSYSTEM, "idname"),
    "kd5.edmpool": (SUBSYSTEM,),
    "kd5.gstqxst": _LONG,
    "kd5.opersys": (SUBSYSTEM,),
    "kd5.real225": (SUBSYSTEM, "addr_space_name"),
    "kd5.real2252": (SUBSYSTEM,),
    "kd5.real230": (SUBSYSTEM, "group_buffer_pool_id"),
    "kd5.real254": (SUBSYSTEM, "global_buffer_pool_name"),
    "kd5.realqbst": (SUBSYSTEM, "buffer_pool_id"),
    "kd5.realsqlc": (SUBSYSTEM, "description"),
    "kd5.statedmp": _LONG,
    "kd5.statlogs": _LONG,
    "kd5.statlokc": _LONG,
    "kd5.statqxst": _LONG,
}
"""The fields that identify the rows of a table. In any other table all its texts do."""

COLUMNS = {
    "busy_pct": "gcp:km5.syscpuutil.rmf_lpar_cpu_percent",
    "logical_engines": "gcp:km5.syscpuutil.cpus_online",
    "cpu_ms": "km5.ascpuutil.cpu_percent",
    "service_class": "km5.ascpuutil.svcclass",
    "used_pct": "ks3.dasdspac.percent_free_space",
}
"""The fields that fill a column of a dataset where the site names no others. The name of `rmf_lpar_cpu_percent`
states that it is RMF's utilisation of the partition; no captured line was at hand."""

SHARES = {
    "km5.ascpuutil": ("cpu_percent", "tcb_percent", "srb_percent", "ziip_percent", "ziip_on_cp_percent"),
}
"""Shares of one processor: of these figures of an address space, IBM's help of OMEGAMON for z/OS 5.5 has "can exceed
100%, the maximum value is n00%, where n is the number of processors"."""
FREE = {"ks3.dasdspac": ("percent_free_space",)}
"""Shares that are free, for columns that hold the share in use."""

LONG = {table for table, fields in INSTANCE.items() if fields == _LONG}
"""Tables with one row per counter; `value`, `delta` and `rate` may be texts there."""
LONG_NUMBERS = ("value", "delta", "rate", "sequence")
NO_NUMBER = ("N/A", "N/C", "N/P")


def is_unavailable(name: str, value: float) -> bool:
    """Return whether a value stands for none: IBM's help of OMEGAMON for z/OS calls a share of -1 "Unavailable"."""
    return value == -1 and ("percent" in name or "pct" in name)

"""The counters behind a row of a view: what a recorder would have to report for the view to have that row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]

_IBMI_GROUPS = {
    "accounting_code": "accounting_code",
    "subsystem": "subsystem",
    "user": "job_user",
    "job": "job_name",
    "generic_job": "job_name",
    "job_type": "job_type",
    "pool": "job_pool",
}


def behind(view: str, row: Row) -> Iterator[tuple[str, Row]]:
    """Yield the rows of counters, each with its dataset, that give a row of a view the figures in `row`."""
    envelope = {name: row[name] for name in ("ts", "interval_s", "system") if name in row}
    read = {"source": "nmon", "agent_id": "a", "seq": 1, "collected_at": row["ts"]}
    for dataset, columns in _VIEWS[view](row):
        yield dataset, {**envelope, **read, **{name: value for name, value in columns.items() if value is not None}}


def _of_interval(row: Row, name: str) -> float | None:
    """Return the amount of an interval, from its rate."""
    return None if row.get(name) is None else row[name] * row["interval_s"]


def _disk(row: Row) -> Iterator[tuple[str, Row]]:
    sizes = {f"{way}_kb": row[f"{way}_mb"] * 1024 for way in ("read", "written") if row.get(f"{way}_mb") is not None}
    counts = {name: _of_interval(row, f"{name}_per_s") for name in ("transfers", "reads", "writes")}
    response = row.get("response_ms")
    times = {"service_ms": response, "wait_ms": None if response is None else 0, "busy_pct": row.get("busy_pct")}
    yield "disk", {"disk": row.get("disk", "D1"), "device_type": "disk", "leaf": True, **counts, **sizes, **times}


def _process(row: Row) -> Iterator[tuple[str, Row]]:
    memory = None if row.get("memory_mb") is None else row["memory_mb"] * 1024
    cpu_ms = row["cpu_ms"] if row.get("cpu_ms") is not None else _of_interval(row, "cpu_cores")
    cpu_ms = cpu_ms if cpu_ms is None or row.get("cpu_ms") is not None else 1000 * cpu_ms
    used = {"cpu_ms": cpu_ms, "cpu_base": row.get("cpu_base"), "threads": row.get("threads")}
    sizes = {"resident_kb": memory, "shared_kb": None if memory is None else 0}
    yield "job", {"job": row["command"], "command": row["command"], **used, **sizes}


def _job(row: Row) -> Iterator[tuple[str, Row]]:
    named = {_IBMI_GROUPS[row["grouping"]]: row["name"]} if row["grouping"] != "partition" else {}
    used = {"cpu_ms": row.get("cpu_ms"), "sql_cpu_ms": row.get("sql_cpu_ms")}
    yield "job", {"job": f"{row['grouping']} {row['name']}", "source": "ibmi_tables", **named, **used}


def _queue(row: Row) -> Iterator[tuple[str, Row]]:
    counted = {"apply": "rows_applied", "capture_queue": "rows_published"}.get(row["component"], "rows_applied")
    same = ("component", "queue", "end_to_end_ms", "queue_ms", "apply_ms", "queue_depth", "queue_full_pct")
    applied = {"transactions_applied": 0 if row.get("idle") else row.get("transactions"), counted: row.get("row_count")}
    yield "replication", {"source": "qrep_monitor", **{name: row.get(name) for name in same}, **applied}


def _task(row: Row) -> Iterator[tuple[str, Row]]:
    groups = [name.removesuffix("_s") for name in row if name.endswith("_s") and name not in _NO_GROUPS]
    for bucket, group in enumerate(groups, 1):
        counts = {"wait_ms": 1000 * row[f"{group}_s"], "waits": row.get(f"{group}_waits")}
        about = {"task": row["task"], "bucket": bucket, "bucket_name": group, "wait_group": group}
        yield "wait", {"source": "ibmi_tables", **about, **counts}
    if row["task"] != "*":
        about = {name: row.get(name) for name in ("task", "job_name", "job_user", "subsystem")}
        yield "job", {"job": row.get("job", row["task"]), "source": "ibmi_tables", **about}


_NO_GROUPS = ("interval_s", "total_s", "held_up_s")
_VIEWS = {
    "disk_total": _disk,
    "footprint": _process,
    "job_cpu": _job,
    "replication_lag": _queue,
    "wait_signature": _task,
}

"""The views over one system and interval, each compared with a recomputation in plain Python, and by hand."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings
from tests.support.flink_line import Record, first_of_each, grouped, known, over, pct, same, seconds, sums, total
from tests.support.tables import empty_tables, insert

Rows = dict[tuple[str, ...], Record]
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
INTERVAL_S, INTERVALS = 15.0, 24
COLLECTED_S, COLLECTIONS = 900.0, 4
WAIT_GROUPS = (
    "dispatched_cpu",
    "cpu_queueing",
    "disk",
    "journaling",
    "operating_system_contention",
    "lock_contention",
    "ineligible",
    "other",
)


# By hand.


def stamped(system: str, **record: Any) -> Record:
    envelope = {"ts": "2026-05-04T09:15:00Z", "interval_s": 100.0, "source": "ibmi_tables", "agent_id": "test"}
    return {**envelope, "collected_at": "2026-05-04T09:15:09Z", "seq": 1, "system": system, **record}


HAND: list[tuple[str, Record]] = [
    # Performance Capabilities Reference 19.6, interactive: 50 faults/s, .008 s of disk response, 20 tps of .4 s
    ("pool", stamped("interactive", pool="03", faults=5000.0, size_mb=1000.0, reserved_mb=600.0)),
    ("disk", stamped("interactive", disk="DD001", leaf=True, transfers=10.0, service_ms=7.0, wait_ms=1.0)),
    ("job", stamped("interactive", job="a", job_pool="03", job_type="I", transactions=2000.0, response_s=800.0)),
    # the same, batch: 40 faults/s; one job, 48 % of the time at the processor
    ("pool", stamped("batch", pool="002", faults=4000.0, active_to_ineligible=3.0)),
    ("disk", stamped("batch", disk="DD001", leaf=True, transfers=10.0, service_ms=8.0, wait_ms=0.0)),
    ("disk", stamped("batch", disk="DD002", leaf=False, transfers=90.0, service_ms=80.0, wait_ms=0.0)),
    ("job", stamped("batch", job="a", job_pool="02", job_type="B", cpu_ms=40_000.0)),
    ("job", stamped("batch", job="b", job_pool="02", job_type="B", cpu_ms=8_000.0, secondary_thread=True)),
    # logical I/O of two jobs that share their first six characters, with and without reads for update; one without any
    *(
        (
            "job",
            stamped(
                system, job=job, job_name=name, job_user="ANN", subsystem="QBATCH", cpu_ms=50_000.0, job_cpu_ms=1e6,
                logical_reads=reads, logical_writes=writes, logical_other=other, logical_reads_for_update=for_update,
                commits=1.0, rollbacks=1.0 if system == "four" else None, accounting_code="DEPT7",
                summarised_tasks=tasks,
            ),
        )
        for system, first, second in (("four", 30.0, 10.0), ("three", 30.0, None))
        for job, name, reads, writes, other, for_update, tasks in (
            ("1", "ORDERS01", 60.0, 20.0, 20.0, first, None),
            ("2", "ORDERS02", 90.0, 5.0, 5.0, second, 5.0),
            ("3", "SLICTASK", None, None, None, None, None),
        )
    ),
    # waits of a task, of one whose job never comes, and of the system
    *(
        ("wait", stamped("four", task=task, bucket=bucket, bucket_name="x", wait_group=group, wait_ms=ms, waits=2.0))
        for task, bucket, group, ms in (
            ("00A1", 5, "disk", 20_000.0),
            ("00A1", 6, "disk", 5_000.0),
            ("00A1", 1, "dispatched_cpu", 75_000.0),
            ("00FF", 1, "dispatched_cpu", 100_000.0),
            ("*", 16, "lock_contention", 3_000.0),
        )
    ),
    ("job", stamped("four", job="4/JOE/PAY/00A1", task="00A1", job_name="PAY", job_user="JOE", subsystem="QINTER")),
]  # fmt: skip


def expected_by_hand() -> list[tuple[str, tuple[str, ...], Record]]:
    ts = "2026-05-04T09:15:00Z"
    return [
        ("pool_faulting", ("interactive", "3", ts), {"disk_response_ms": 8.0, "transactions_per_s": 20.0}),
        ("pool_faulting", ("interactive", "3", ts), {"response_s": 0.4, "fault_s": 0.02, "interactive_fault_pct": 5.0}),
        ("pool_faulting", ("interactive", "3", ts), {"reserved_pct": 60.0, "interactive_missing": None}),
        ("pool_faulting", ("interactive", "3", ts), {"batch_fault_pct": None, "batch_missing": "batch jobs"}),
        ("pool_faulting", ("batch", "2", ts), {"batch_jobs": 1.0, "batch_fault_pct": 32.0}),
        ("pool_faulting", ("batch", "2", ts), {"batch_cpu_pct": 48.0, "batch_fault_to_work_pct": 40.0}),
        ("pool_faulting", ("batch", "2", ts), {"interactive_missing": "interactive transactions"}),
        ("job_cpu", ("three", "accounting_code", "DEPT7", ts), {"cpu_ms": 150_000.0, "cpu_cores": 1.5, "tasks": 7.0}),
        ("job_cpu", ("batch", "job_type", "B", ts), {"cpu_ms": 48_000.0, "cpu_cores": 0.48}),
        ("wait_signature", ("four", "00A1", ts), {"disk_s": 25.0, "disk_waits": 4.0, "total_s": 100.0}),
        ("wait_signature", ("four", "00A1", ts), {"job_name": "PAY", "job_user": "JOE", "subsystem": "QINTER"}),
        ("wait_signature", ("four", "00A1", ts), {"dispatched_cpu_s": 75.0, "other_s": 0.0, "other_waits": None}),
        ("wait_signature", ("four", "*", ts), {"lock_contention_s": 3.0, "job": None}),
    ]


# The recomputation. It shares nothing with the SQL but the wording of the definitions.


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def transfers(row: Record) -> float | None:
    if row.get("transfers") is not None:
        return float(row["transfers"])
    return None if None in (row.get("reads"), row.get("writes")) else float(row["reads"] + row["writes"])


def response(row: Record) -> float | None:
    if transfers(row) == 0:
        return None
    if row.get("service_ms") is not None:
        return None if row.get("wait_ms") is None else float(row["service_ms"] + row["wait_ms"])
    sides = [(row.get("reads"), row.get("read_service_ms")), (row.get("writes"), row.get("write_service_ms"))]
    if all(count == 0 or None not in (count, each) for count, each in sides) and any(count for count, _ in sides):
        return float(sum(count * each for count, each in sides if count) / sum(count for count, _ in sides))
    return over(row.get("backlog_ms"), transfers(row))


def load(rows: Sequence[Record], *, alone: bool, **fields: Any) -> Record:
    """Return the figures of one disk, or of the leaves among several together."""
    seconds = max(known([row.get("interval_s") for row in rows]), default=None)
    leaves = rows if alone else [row for row in rows if row["leaf"]]
    both = [row for row in leaves if None not in (row.get("read_kb"), row.get("written_kb"))]
    sized = [row for row in both if transfers(row) is not None]
    timed = [row for row in leaves if None not in (response(row), transfers(row))]
    took = total([(response(row) or 0) * (transfers(row) or 0) for row in timed])
    moved = total([transfers(row) for row in timed])
    read, written = (total([row.get(name) for row in leaves]) for name in ("read_kb", "written_kb"))
    return {
        **fields,
        "interval_s": seconds,
        "transfers": total([transfers(row) for row in leaves]),
        "transfers_per_s": over(total([transfers(row) for row in leaves]), seconds),
        "reads": total([row.get("reads") for row in leaves]),
        "reads_per_s": over(total([row.get("reads") for row in leaves]), seconds),
        "writes": total([row.get("writes") for row in leaves]),
        "writes_per_s": over(total([row.get("writes") for row in leaves]), seconds),
        "read_mb": over(read, 1024),
        "written_mb": over(written, 1024),
        "rw_ratio": over(total([row["read_kb"] for row in both]), total([row["written_kb"] for row in both])),
        "kb_per_transfer": over(
            total([row["read_kb"] + row["written_kb"] for row in sized]), total([transfers(row) for row in sized])
        ),
        "response_ms": response(rows[0]) if alone else over(took, moved),
        "transfer_ms": took,
        "timed_transfers": moved,
        "busy_pct": max(known([row.get("busy_pct") for row in leaves]), default=None),
    }


def disk_total(published: Sequence[Record]) -> Rows:
    intervals = defaultdict(list)
    for row in first_of_each(published, "system", "disk", "ts"):
        intervals[row["system"], row["ts"]].append(row)
    return {(system, ts): load(rows, alone=False, system=system, ts=ts) for (system, ts), rows in intervals.items()}


def disk_load(published: Sequence[Record]) -> Rows:
    disks = {}
    for row in first_of_each(published, "system", "disk", "ts"):
        key = {"system": row["system"], "disk": row["disk"], "ts": row["ts"]}
        disks[tuple(key.values())] = load(
            [row],
            alone=True,
            **key,
            **{name: row.get(name) for name in ("source", "leaf", "asp", "service_ms", "wait_ms")},
            device_type=row.get("device_type", ""),
        )
    return disks


def footprint(published: Sequence[Record]) -> Rows:
    groups = defaultdict(list)
    for row in first_of_each(published, "system", "job", "ts"):
        groups[row["system"], row["command"], row["ts"]].append(row)
    results = {}
    for (system, command, ts), rows in groups.items():
        cpu_ms = total([row.get("cpu_ms") for row in rows])
        if any(row.get("resident_kb") is not None for row in rows):
            kb = total([row["resident_kb"] - row["shared_kb"] for row in rows])
        else:
            data, text = ([row.get(f"resident_{part}_kb") for row in rows] for part in ("data", "text"))
            kb = None if None in (total(data), total(text)) else sum(known(data)) + max(known(text))
        results[system, command, ts] = {
            "system": system,
            "command": command,
            "ts": ts,
            "processes": len(rows),
            "interval_s": seconds(rows),
            "cpu_ms": cpu_ms,
            "cpu_cores": over(cpu_ms, 1000 * seconds(rows)),
            "cpu_base": max((row["cpu_base"] for row in rows if row.get("cpu_base")), default=None),
            "memory_mb": over(kb, 1024),
            "threads": total([row.get("threads") for row in rows]),
        }
    return results


def by(rows: Sequence[Record], *key: str) -> dict[tuple[Any, ...], list[Record]]:
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for row in rows:
        groups[tuple(row.get(column) for column in key)].append(row)
    return groups


LOGICAL = ("logical_reads", "logical_writes", "logical_other")


def job_cpu(published: Sequence[Record]) -> Rows:
    groupings = {
        "accounting_code": "accounting_code",
        "subsystem": "subsystem",
        "user": "job_user",
        "job": "job_name",
        "generic_job": "job_name",
        "job_type": "job_type",
        "pool": "job_pool",
        "thread": "job",
    }
    return {
        (system, grouping, name, ts): {
            "system": system,
            "grouping": grouping,
            "name": name,
            "ts": ts,
            "interval_s": seconds(rows),
            "cpu_ms": sums(rows, "cpu_ms"),
            "cpu_cores": over(sums(rows, "cpu_ms"), 1000 * seconds(rows)),
            "sql_cpu_ms": sums(rows, "sql_cpu_ms"),
            "tasks": float(sum(row.get("summarised_tasks") or 1 for row in rows)),
        }
        for (system, grouping, name, ts), rows in grouped(published, **groupings).items()
    }


def pool_faulting(published: Mapping[str, Sequence[Record]]) -> Rows:
    pool_rows = first_of_each(published["pool"], "system", "pool", "ts")
    pools = by([{**row, "pool": row["pool"].lstrip("0")} for row in pool_rows], "system", "ts", "pool")
    job_rows = first_of_each(published["job"], "system", "job", "ts")
    named = [{**row, "pool": (row.get("job_pool") or "").lstrip("0")} for row in job_rows]
    jobs_of = by(named, "system", "ts", "pool")
    disks = by(first_of_each(published["disk"], "system", "disk", "ts"), "system", "ts")
    results: Rows = {}
    for (system, ts, number), [pool] in pools.items():
        all_disks = disks.get((system, ts), [])
        rows = jobs_of.get((system, ts, number), [])
        length = seconds([pool, *rows])
        timed = [row for row in all_disks if row["leaf"] and None not in (row.get("service_ms"), row.get("wait_ms"))]
        moved = sums(timed, "transfers")
        disk_s = over(total([(row["service_ms"] + row["wait_ms"]) * row["transfers"] for row in timed]), moved)
        disk_s = over(disk_s, 1000)
        interactive, working = ([row for row in rows if row.get("job_type") == letter] for letter in "IB")
        transactions, response_s = sums(interactive, "transactions"), sums(interactive, "response_s")
        batch = [row.get("summarised_tasks") or 1.0 for row in working if not row.get("secondary_thread")]
        cpu_s, faults = over(sums(working, "cpu_ms"), 1000), pool.get("faults")
        fault_s = None if faults is None or disk_s is None else faults * disk_s
        work_s = None if fault_s is None or cpu_s is None else fault_s + cpu_s
        lacking = "faults" if faults is None else "disk response" if disk_s is None else None
        results[system, number, ts] = {
            "system": system,
            "pool": number,
            "ts": ts,
            "interval_s": length,
            **{name: pool.get(name) for name in ("pool_name", "size_mb", "activity_level", "active_to_ineligible")},
            "reserved_pct": pct(pool.get("reserved_mb"), pool.get("size_mb")),
            "faults_per_s": over(faults, length),
            "disk_response_ms": None if disk_s is None else disk_s * 1000,
            "transactions_per_s": over(transactions, length),
            "response_s": over(response_s, transactions),
            "fault_s": over(fault_s, transactions),
            "interactive_fault_pct": pct(fault_s, response_s) if transactions else None,
            "interactive_missing": lacking or (None if transactions else "interactive transactions"),
            "batch_jobs": sum(batch) if batch else None,
            "batch_cpu_pct": pct(over(cpu_s, length), sum(batch)),
            "batch_fault_pct": pct(over(fault_s, length), sum(batch)),
            "batch_fault_to_work_pct": pct(fault_s, None if work_s is None or not batch else work_s),
            "batch_missing": lacking or (None if batch else "batch jobs"),
        }
    return results


def wait_signature(published: Mapping[str, Sequence[Record]]) -> Rows:
    of_task = by([row for row in published["job"] if row.get("task")], "system", "task", "ts")
    results: Rows = {}
    waits = by(first_of_each(published["wait"], "system", "task", "bucket", "ts"), "system", "task", "ts")
    for (system, task, ts), rows in waits.items():
        if task != "*" and (system, task, ts) not in of_task:
            continue
        about = of_task.get((system, task, ts), [])
        groups = by(rows, "wait_group")
        results[system, task, ts] = {
            "system": system,
            "task": task,
            "ts": ts,
            "interval_s": seconds(rows),
            **{
                name: max(known([row.get(name) for row in about]), default=None)
                for name in ("job", "job_name", "job_user", "subsystem")
            },
            "total_s": over(sums(rows, "wait_ms"), 1000),
            "held_up_s": sum((sums(groups.get((name,), []), "wait_ms") or 0.0) / 1000 for name in WAIT_GROUPS[1:-1]),
            **{f"{name}_s": (sums(groups.get((name,), []), "wait_ms") or 0.0) / 1000 for name in WAIT_GROUPS},
            **{f"{name}_waits": sums(groups.get((name,), []), "waits") for name in WAIT_GROUPS},
        }
    return results


def replication_lag(published: Sequence[Record]) -> Rows:
    results: Rows = {}
    for row in published:
        component, length = row["component"], row.get("interval_s")
        count = row.get({"apply": "rows_applied", "capture_queue": "rows_published"}.get(component, ""))
        transactions = row.get("transactions_applied")
        age = moment(row["ts"]) - moment(row["current_log_at"]) if row.get("current_log_at") else None
        idle: bool | None
        if component == "capture":
            asleep = row["ends_of_log"] if row.get("ends_of_log") is not None else row.get("log_reader_sleep_ms")
            idle = None if asleep is None else asleep > 0 and (None if age is None else age > length)
        else:
            did = transactions if transactions is not None else count
            idle = None if did is None else did == 0
        latencies = [row.get(name) for name in ("end_to_end_ms", "queue_ms", "apply_ms")]
        whole, queued, applied = [None, None, None] if idle else latencies
        missing = {"apply": "latencies" if None in latencies else None, "capture": None if age else "log time"}
        results[row["system"], component, row["program_schema"], row["queue"], row["ts"]] = {
            **{name: row.get(name) for name in ("system", "component", "queue", "ts", "interval_s", "program_schema")},
            **{name: row.get(name) for name in ("queue_depth", "queue_full_pct")},
            "idle": idle,
            "missing": missing.get(component) if not idle or component == "capture_queue" else "idle",
            "end_to_end_ms": whole,
            "capture_ms": None if None in (whole, queued, applied) else whole - queued - applied,
            "queue_ms": queued,
            "apply_ms": applied,
            "transactions": transactions,
            "row_count": count,
            "transactions_per_s": over(transactions, length),
            "rows_per_s": over(count, length),
            "rows_per_transaction": over(count, transactions) if component == "apply" else None,
            "log_latency_s": None if idle else age,
        }
        if component == "capture_queue" and idle:
            results[row["system"], component, row["program_schema"], row["queue"], row["ts"]]["missing"] = None
    return results


# The input.


def nmon(system: str, begin: datetime, seed: int, intervals: int = INTERVALS) -> list[tuple[str, Record]]:
    """Return rows of a system as the agent publishes them; what an AIX or a Linux system does not report is null."""
    chance = random.Random(seed)
    aix = seed % 2 == 0
    rows: list[tuple[str, Record]] = []
    for number in range(1, intervals + 1):
        ts = f"{begin + number * timedelta(seconds=INTERVAL_S):%FT%TZ}"
        envelope = {"ts": ts, "interval_s": INTERVAL_S, "system": system, "source": "nmon", "agent_id": "test"}
        for disk in range(6):
            reads, writes = (
                chance.choice([0.0, 0.0, chance.uniform(0, 900)]),
                chance.choice([0.0, chance.uniform(0, 900)]),
            )
            figures: Record = {
                "busy_pct": chance.uniform(0, 100),
                "read_kb": reads * 8,
                "written_kb": writes * chance.uniform(4, 64),
            }
            if aix:  # counts of transfers, service and wait apart; the split by direction is not always recorded
                figures |= {"transfers": reads + writes, "service_ms": chance.uniform(0, 20)}
                figures |= {"wait_ms": chance.choice([None, chance.uniform(0, 5)])}
            else:  # reads and writes, each with its time; some devices have the backlog alone
                timed = chance.random() < 0.7
                figures |= {"reads": reads, "writes": writes, "backlog_ms": chance.uniform(0, 1000)}
                figures |= {"read_service_ms": chance.uniform(0, 9) if timed and reads else None}
                figures |= {"write_service_ms": chance.uniform(0, 9) if timed and writes else None}
            if chance.random() < 0.1:  # a damaged field
                figures[chance.choice(list(figures))] = None
            leaf = disk < 4
            rows.append(("disk", {**envelope, "disk": f"disk{disk}", "device_type": "disk", "leaf": leaf, **figures}))
        for pid in chance.sample(range(100, 120), 8):
            process: Record = {"job": str(pid), "command": f"cmd{pid % 4}", "threads": float(chance.randint(1, 9))}
            if chance.random() < 0.9:
                process |= {"cpu_ms": chance.uniform(0, 15000), "cpu_base": "physical" if aix else "logical"}
            process |= {name: chance.uniform(0, 1e6) for name in ("resident_data_kb", "resident_text_kb")}
            if not aix:
                process |= {"resident_kb": chance.uniform(1e5, 1e6), "shared_kb": chance.uniform(0, 1e5)}
            rows.append(("job", {**envelope, **process}))
    for seq, (_, record) in enumerate(rows):
        record |= {"seq": seq, "collected_at": f"{NOW:%FT%TZ}"}
    return rows


def ibmi(system: str, begin: datetime, seed: int) -> list[tuple[str, Record]]:
    """Return rows of a partition as the agent publishes them, and a few of AIX, which the jobs leave out."""
    chance = random.Random(seed)
    rows: list[tuple[str, Record]] = []
    for number in range(1, COLLECTIONS + 1):
        ts = f"{begin + number * timedelta(seconds=COLLECTED_S):%FT%TZ}"
        envelope = {"ts": ts, "interval_s": COLLECTED_S, "system": system, "source": "ibmi_tables", "agent_id": "test"}
        for each in range(40):
            task = f"{each:016X}"
            name = chance.choice(["QZDASOINIT", "QZDASSINIT", "PAY", "QDBMSRVR", "ORDERS01", "ORDERS02"])
            row: Record = {"job": f"{each:06}/QUSER/{name}/{task}", "task": task, "job_name": name}
            row |= {"job_type": chance.choice("BBI"), "job_pool": chance.choice(["02", "03"])}
            row |= {"job_user": chance.choice(["QUSER", "ANN", None])}
            row |= {"subsystem": chance.choice(["QBATCH", "QUSRWRK"]), "cpu_ms": chance.uniform(0, 9e5)}
            row |= {"accounting_code": chance.choice(["", "DEPT7", None]), "job_cpu_ms": 1e9}
            if chance.random() < 0.8:  # what is in QAPMJOBOS too
                row |= {name: float(chance.choice([0, chance.randint(0, 10**6)])) for name in LOGICAL}
                if seed != 2:  # a release without a counter of reads for update
                    row |= {"logical_reads_for_update": float(chance.randint(0, int(row["logical_reads"])))}
                row |= {"commits": float(each), "rollbacks": 0.0, "transactions": 10.0 * each, "response_s": 1.0 * each}
            if chance.random() < 0.2:
                row |= {"secondary_thread": True} if chance.random() < 0.5 else {"summarised_tasks": 7.0}
            if chance.random() < 0.1:  # a damaged field
                row[chance.choice([*LOGICAL, "cpu_ms", "logical_reads_for_update"])] = None
            rows.append(("job", {**envelope, **row}))
            for bucket in chance.sample(range(1, 33), 3):
                waited: Record = {"task": task, "bucket": bucket, "bucket_name": f"bucket {bucket}"}
                waited |= {"wait_group": WAIT_GROUPS[bucket % 8], "wait_ms": chance.uniform(0, 1e5)}
                rows.append(("wait", {**envelope, **waited, "waits": chance.choice([None, 3.0])}))
        whole: Record = {**envelope, "task": "*", "bucket": 1, "bucket_name": "Dispatched CPU", "wait_ms": 5.0}
        rows.append(("wait", {**whole, "wait_group": "dispatched_cpu"}))
        for pool in ("01", "02", "03"):
            figures: Record = {"faults": chance.choice([None, chance.uniform(0, 1e5)]), "size_mb": 1000.0}
            figures |= {"reserved_mb": chance.uniform(0, 900), "pool_name": "*BASE", "active_to_ineligible": 0.0}
            rows.append(("pool", {**envelope, "pool": pool, **figures}))
        for disk in range(0 if number == 2 else 5):
            served: Record = {"transfers": chance.uniform(0, 1e5), "service_ms": chance.uniform(0, 9)}
            served |= {"wait_ms": chance.choice([None, 0.0, 3.0])}
            rows.append(("disk", {**envelope, "disk": f"DD{disk}", "leaf": disk < 4, **served}))
        aix: Record = {**envelope, "source": "nmon"}
        rows.append(("job", {**aix, "job": "4711", "command": "db2sysc", "cpu_ms": 15.0}))
        rows.append(("pool", {**aix, "pool": "memory", "size_mb": 10.0}))
    for seq, (_, record) in enumerate(rows):
        record |= {"seq": seq, "collected_at": f"{NOW:%FT%TZ}"}
    return rows


def queues(begin: datetime) -> Iterator[tuple[str, Record]]:
    for each in range(6):
        at = begin + each * timedelta(seconds=30)
        row: Record = {"ts": f"{at:%FT%TZ}", "interval_s": None if each == 4 else 30.0, "program_schema": "ASN"}
        idle = each == 2
        applied: Record = {
            "rows_applied": 0.0 if idle else 665_250.0,
            "transactions_applied": 0.0 if idle else 36_840.0,
        }
        if each == 3:
            applied["transactions_applied"] = None
        latencies: Record = {"end_to_end_ms": 2700.0, "queue_ms": 500.0, "apply_ms": None if each == 5 else 200.0}
        if idle:
            latencies = dict.fromkeys(latencies, 0.0)
        base = {"source": "qrep_monitor", "queue_depth": 3.0}
        yield "replication", {**row, **base, "component": "apply", "queue": "Q1", **applied, **latencies}
        published = {"rows_published": float(each % 3), "component": "capture_queue", "queue": "Q1"}
        yield "replication", {**row, **base, **published}
        read: Record = {
            "current_log_at": None if each == 4 else f"{at - timedelta(seconds=5 if each < 2 else 500):%FT%TZ}"
        }
        read |= {"ends_of_log": None if each == 1 else float(each), "log_reader_sleep_ms": 9.0 if each == 1 else None}
        read["interval_s"] = 30.0
        yield "replication", {**row, **read, "source": "qrep_monitor", "component": "capture", "queue": ""}


def everything() -> list[tuple[str, Record]]:
    """Return rows of AIX, Linux and IBM i, and of Q Replication, some of them delivered twice."""
    rows = [*HAND]
    for seed, system in enumerate(("live", "late", "twice"), 1):
        begin = NOW - timedelta(days=seed)
        rows += [*nmon(system, begin, seed), *ibmi(f"ibmi-{system}", begin, seed)]
    envelope = {"agent_id": "test", "collected_at": f"{NOW:%FT%TZ}", "seq": 1}
    rows += [(dataset, {"system": "replicated", **envelope, **row}) for dataset, row in queues(NOW)]
    again = [(dataset, {**record, "seq": 10_000}) for dataset, record in rows if record["system"].endswith("twice")]
    return [*rows, *again]


@pytest.fixture(scope="module")
def tables(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    with empty_tables(clickhouse) as client:
        published = by_dataset(everything())
        for dataset, rows in published.items():
            insert(client, dataset, *rows)
        yield client


def by_dataset(rows: Sequence[tuple[str, Record]]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for dataset, record in rows:
        found[dataset].append(record)
    return found


def view(client: ClickHouse, name: str, where: str = "1") -> Rows:
    """Return the rows of a view by key, without what is null."""
    iso = {"date_time_output_format": "iso"}
    rows = client.rows(f"SELECT * REPLACE (toDateTime(ts, 'UTC') AS ts) FROM counterflow.{name} WHERE {where}", iso)
    known_only = [{column: value for column, value in row.items() if value is not None} for row in rows]
    found = {tuple(row[column] for column in datasets()[name].key): row for row in known_only}
    assert len(found) == len(rows), "two rows of one key"
    return found


def test_every_figure_is_exact(tables: ClickHouse) -> None:
    published = by_dataset(everything())
    ours = {name: [row for row in rows if row["source"] == "ibmi_tables"] for name, rows in published.items()}
    expected = {
        "disk_total": disk_total(published["disk"]),
        "disk_load": disk_load(published["disk"]),
        "footprint": footprint([row for row in published["job"] if row["source"] != "ibmi_tables"]),
        "job_cpu": job_cpu(ours["job"]),
        "pool_faulting": pool_faulting(ours),
        "wait_signature": wait_signature(ours),
        "replication_lag": replication_lag(published["replication"]),
    }
    for name, rows in expected.items():
        found = view(tables, name, "command != ''" if name == "footprint" else "1")
        assert found.keys() == rows.keys(), (name, found.keys() ^ rows.keys())
        for key, row in rows.items():
            assert same(found[key], row), (name, key, found[key], row)


def test_examples_of_the_documents_come_out(tables: ClickHouse) -> None:
    for name, key, figures in expected_by_hand():
        row = view(tables, name)[key]
        assert {column: row.get(column) for column in figures} == {
            column: pytest.approx(value) if isinstance(value, float) else value for column, value in figures.items()
        }, (name, key)
    assert ("four", "00FF", "2026-05-04T09:15:00Z") not in view(tables, "wait_signature")


def test_a_pair_of_q_replication_comes_out_as_published(tables: ClickHouse) -> None:
    rows = view(tables, "replication_lag")
    first = rows["replicated", "apply", "ASN", "Q1", f"{NOW:%FT%TZ}"]
    assert (first["capture_ms"], first["rows_per_s"], first["transactions_per_s"]) == (2000, 22175, 1228)
    idle = rows["replicated", "apply", "ASN", "Q1", f"{NOW + timedelta(minutes=1):%FT%TZ}"]
    assert (idle["idle"], idle["missing"], idle.get("end_to_end_ms")) == (True, "idle", None)


VIEWS = [name for name, dataset in datasets().items() if dataset.role == "view"]


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_reads_what_its_definition_states(tables: ClickHouse, name: str) -> None:
    tree = tables.post(f"EXPLAIN QUERY TREE run_passes = 1 {datasets()[name].select}").decode()
    assert set(re.findall(r"table_name: counterflow\.(\w+)", tree)) == set(datasets()[name].reads)


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_reads_only_the_days_and_the_system_that_are_asked_for(tables: ClickHouse, name: str) -> None:
    """The key of a table begins with the system, its partitions are days."""
    only = f"system = 'a' AND ts > '{NOW - timedelta(days=1):%F %T}' AND ts <= '{NOW:%F %T}'"
    plan = tables.post(f"EXPLAIN indexes = 1 SELECT * FROM counterflow.{name} WHERE {only}").decode()
    assert "ReadFromMergeTree" in plan
    for read in plan.split("ReadFromMergeTree")[1:]:
        assert "(toYYYYMMDD(ts) in " in read.partition("Partition")[2], read
        assert "(system in [" in read.partition("PrimaryKey")[2], read

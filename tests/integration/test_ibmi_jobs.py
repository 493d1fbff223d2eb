"""The jobs over IBM i counters on real Kafka and Flink: by hand, and against a recomputation in plain Python.

All jobs share one stack and one input, which has the shapes of that of test_jobs.py.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.stack.settings import StackSettings
from tests.support.flink_line import Line, Record, Results, first_of_each, known, over, total

INTERVAL_S = 900.0
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
INTERVALS = 4
JOBS = ("io_mix", "job_cpu", "pool_faulting", "wait_signature")
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
    whole = {"split": "four-way", "logical_io": 200.0, "logical_io_per_s": 2.0, "reads": 150.0, "inserts": 25.0}
    orders = {"read_only": 110.0, "read_for_update": 40.0, "other": 25.0, "read_pct": 75.0, "read_only_pct": 55.0}
    # 200 operations, of them 2 commits and 2 rollbacks: 46 of 196 modify, 86 are exposed; of the second job 18 of 98
    shares = {"read_for_update_pct": 20.0, "insert_pct": 12.5, "other_pct": 12.5, "modify_pct": 23.469387755102041}
    shares |= {"modify_basis": "changes", "row_operations": 196.0, "exposure_pct": 43.877551020408163}
    three = {
        "modify_basis": "with_commits",
        "row_operations": 200.0,
        "split": "three-way",
        "read_pct": 75.0,
        "read_only": None,
        "read_for_update": None,
        "modify_pct": 25.0,
    }
    return [
        ("pool_faulting", ("interactive", "3", ts), {"n": 3, "disk_response_ms": 8.0, "transactions_per_s": 20.0}),
        ("pool_faulting", ("interactive", "3", ts), {"response_s": 0.4, "fault_s": 0.02, "interactive_fault_pct": 5.0}),
        ("pool_faulting", ("interactive", "3", ts), {"reserved_pct": 60.0, "interactive_missing": None}),
        ("pool_faulting", ("interactive", "3", ts), {"batch_fault_pct": None, "batch_missing": "batch jobs"}),
        ("pool_faulting", ("batch", "2", ts), {"n": 5, "disks": 2, "batch_jobs": 1.0, "batch_fault_pct": 32.0}),
        ("pool_faulting", ("batch", "2", ts), {"batch_cpu_pct": 48.0, "batch_fault_to_work_pct": 40.0}),
        ("pool_faulting", ("batch", "2", ts), {"interactive_missing": "interactive transactions"}),
        ("io_mix", ("four", "generic_job", "ORDERS", ts), {**whole, **orders, **shares, "n": 2}),
        ("io_mix", ("four", "partition", "*", ts), {**whole, **orders, "n": 4, "commits": 3.0}),
        ("io_mix", ("four", "job", "ORDERS02", ts), {"exposure_pct": 18.367346938775510, "read_only": 80.0}),
        ("io_mix", ("three", "user", "ANN", ts), {**three, "n": 2, "exposure_pct": 40.0}),
        ("job_cpu", ("three", "accounting_code", "DEPT7", ts), {"cpu_ms": 150_000.0, "cpu_cores": 1.5, "tasks": 7.0}),
        ("job_cpu", ("batch", "job_type", "B", ts), {"n": 2, "cpu_ms": 48_000.0, "cpu_cores": 0.48}),
        ("wait_signature", ("four", "00A1", ts), {"n": 4, "disk_s": 25.0, "disk_waits": 4.0, "total_s": 100.0}),
        ("wait_signature", ("four", "00A1", ts), {"job_name": "PAY", "job_user": "JOE", "subsystem": "QINTER"}),
        ("wait_signature", ("four", "00A1", ts), {"dispatched_cpu_s": 75.0, "other_s": 0.0, "other_waits": None}),
        ("wait_signature", ("four", "*", ts), {"n": 1, "lock_contention_s": 3.0, "job": None}),
    ]


# The recomputation. It shares nothing with the SQL but the wording of the definitions.


def by(rows: Sequence[Record], *key: str) -> dict[tuple[Any, ...], list[Record]]:
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for row in rows:
        groups[tuple(row.get(column) for column in key)].append(row)
    return groups


def sums(rows: Sequence[Record], column: str) -> float | None:
    return total([row.get(column) for row in rows])


def seconds(rows: Sequence[Record]) -> float:
    return float(max(row["interval_s"] for row in rows))


def pct(part: float | None, whole: float | None) -> float | None:
    return None if part is None else over(100 * part, whole)


def grouped(rows: Sequence[Record], **columns: str) -> dict[tuple[str, str, str, str], list[Record]]:
    """Group rows by grouping and name; a generic job is the first six characters of a name."""
    found: dict[tuple[str, str, str, str], list[Record]] = defaultdict(list)
    for row in first_of_each(rows, "system", "job", "ts"):
        found[row["system"], "partition", "*", row["ts"]].append(row)
        for grouping, column in columns.items():
            if row.get(column) is not None:
                name = row[column][:6] if grouping == "generic_job" else row[column]
                found[row["system"], grouping, name, row["ts"]].append(row)
    return found


LOGICAL = ("logical_reads", "logical_writes", "logical_other")


def io_mix(published: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    groupings = {"subsystem": "subsystem", "user": "job_user", "job": "job_name", "generic_job": "job_name"}
    results: dict[tuple[str, ...], Record] = {}
    for (system, grouping, name, ts), rows in grouped(published, **groupings).items():
        whole = [row for row in rows if None not in [row.get(column) for column in LOGICAL]]
        if grouping != "partition":
            rows = whole
        if not rows:
            continue
        reads, inserts, other = (sums(whole, column) for column in LOGICAL)
        everything = total([row[column] for row in whole for column in LOGICAL])
        parted = [row["logical_reads_for_update"] for row in whole if row.get("logical_reads_for_update") is not None]
        split = None if not whole else "four-way" if len(parted) == len(whole) else "three-way"
        for_update = total(parted) if split == "four-way" else None
        read_only = None if reads is None or for_update is None else reads - for_update
        ended = [(row.get("commits"), row.get("rollbacks")) for row in whole]
        ends = math.fsum(n for pair in ended for n in pair if n is not None)
        known = None not in [n for pair in ended for n in pair] and ends <= (other or 0.0)
        operations = None if everything is None else everything - ends * known
        modify = None if operations is None or reads is None else operations - reads
        results[system, grouping, name, ts] = {
            "system": system,
            "grouping": grouping,
            "name": name,
            "ts": ts,
            "n": len(rows),
            "interval_s": seconds(rows),
            "split": split,
            "modify_basis": None if not whole else "changes" if known else "with_commits",
            "logical_io": everything,
            "row_operations": operations,
            "logical_io_per_s": over(everything, seconds(rows)),
            "reads": reads,
            "read_only": read_only,
            "read_for_update": for_update,
            "inserts": inserts,
            "other": other,
            "read_pct": pct(reads, everything),
            "read_only_pct": pct(read_only, everything),
            "read_for_update_pct": pct(for_update, everything),
            "insert_pct": pct(inserts, everything),
            "other_pct": pct(other, everything),
            "modify_pct": pct(modify, operations),
            "exposure_pct": None if modify is None else pct(modify + sum(parted), operations),
            "commits": sums(rows, "commits"),
            "rollbacks": sums(rows, "rollbacks"),
        }
    return results


def job_cpu(published: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    groupings = {
        "accounting_code": "accounting_code",
        "subsystem": "subsystem",
        "user": "job_user",
        "job": "job_name",
        "generic_job": "job_name",
        "job_type": "job_type",
    }
    return {
        (system, grouping, name, ts): {
            "system": system,
            "grouping": grouping,
            "name": name,
            "ts": ts,
            "n": len(rows),
            "interval_s": seconds(rows),
            "cpu_ms": sums(rows, "cpu_ms"),
            "cpu_cores": over(sums(rows, "cpu_ms"), 1000 * seconds(rows)),
            "sql_cpu_ms": sums(rows, "sql_cpu_ms"),
            "tasks": float(sum(row.get("summarised_tasks") or 1 for row in rows)),
        }
        for (system, grouping, name, ts), rows in grouped(published, **groupings).items()
    }


def pool_faulting(published: Mapping[str, Sequence[Record]]) -> dict[tuple[str, ...], Record]:
    pool_rows = first_of_each(published["pool"], "system", "pool", "ts")
    pools = by([{**row, "pool": row["pool"].lstrip("0")} for row in pool_rows], "system", "ts", "pool")
    job_rows = first_of_each(published["job"], "system", "job", "ts")
    named = [{**row, "pool": (row.get("job_pool") or "").lstrip("0")} for row in job_rows]
    jobs_of = by(named, "system", "ts", "pool")
    disks = by(first_of_each(published["disk"], "system", "disk", "ts"), "system", "ts")
    results: dict[tuple[str, ...], Record] = {}
    for system, ts, number in pools.keys() | jobs_of.keys():
        own, all_disks = pools.get((system, ts, number), []), disks.get((system, ts), [])
        if not all_disks and (system, ts) not in {key[:2] for key in pools}:
            continue
        [pool] = own or [{}]
        rows = jobs_of.get((system, ts, number), [])
        length = seconds([*own, *rows])
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
            "n": len(own) + len(rows) + len(all_disks),
            "interval_s": length,
            "disks": len(all_disks),
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


def wait_signature(published: Mapping[str, Sequence[Record]]) -> dict[tuple[str, ...], Record]:
    of_task = by([row for row in published["job"] if row.get("task")], "system", "task", "ts")
    results: dict[tuple[str, ...], Record] = {}
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
            "n": len(rows) + bool(about),
            **{
                name: max(known([row.get(name) for row in about]), default=None)
                for name in ("job", "job_name", "job_user", "subsystem")
            },
            "total_s": over(sums(rows, "wait_ms"), 1000),
            **{f"{name}_s": (sums(groups.get((name,), []), "wait_ms") or 0.0) / 1000 for name in WAIT_GROUPS},
            **{f"{name}_waits": sums(groups.get((name,), []), "waits") for name in WAIT_GROUPS},
        }
    return results


def recompute(published: Mapping[str, Sequence[Record]]) -> Results:
    ours = {name: [row for row in rows if row["source"] == "ibmi_tables"] for name, rows in published.items()}
    return {
        "io_mix": io_mix(ours["job"]),
        "job_cpu": job_cpu(ours["job"]),
        "pool_faulting": pool_faulting(ours),
        "wait_signature": wait_signature(ours),
    }


# The input.


def recording(system: str, begin: datetime, seed: int) -> list[tuple[str, Record]]:
    """Return rows of a partition as the agent publishes them, and a few of AIX, which the jobs leave out."""
    chance = random.Random(seed)
    rows: list[tuple[str, Record]] = []
    for number in range(1, INTERVALS + 1):
        ts = f"{begin + number * timedelta(seconds=INTERVAL_S):%FT%TZ}"
        envelope = {"ts": ts, "interval_s": INTERVAL_S, "system": system, "source": "ibmi_tables", "agent_id": "test"}
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
        aix: Record = {**envelope, "source": "nmon", "job": "4711", "command": "db2sysc", "cpu_ms": 15.0}
        rows.append(("job", aix))
        rows.append(("pool", {**aix, "pool": "memory", "size_mb": 10.0}))
    for seq, (_, record) in enumerate(rows):
        record |= {"seq": seq, "collected_at": f"{NOW:%FT%TZ}"}
    return rows


def everything() -> list[tuple[str, Record]]:
    """Return a live system, one three days late, one a day ahead, a member delivered twice: shuffled."""
    twice = recording("twice", NOW - timedelta(hours=2), seed=3)
    again = [(dataset, {**record, "seq": record["seq"] + 10_000}) for dataset, record in twice]
    rows = [
        *recording("live", NOW, seed=1),
        *recording("late", NOW - timedelta(days=3), seed=2),
        *recording("ahead", NOW + timedelta(days=1), seed=4),
        *twice,
        *again,
        *HAND,
    ]
    random.Random(5).shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def line(flink: StackSettings) -> Line:
    line = Line(flink, 50, recompute, JOBS)
    assert [found.what for found in line.submit()] == ["started"] * len(JOBS)
    rows = everything()
    for begin in range(0, len(rows), 800):
        line.publish(rows[begin : begin + 800])
        time.sleep(0.4)  # in all, longer than a mini-batch
    return line


def test_every_result_is_exact_whatever_the_order(line: Line) -> None:
    line.check()


def test_examples_of_the_documents_come_out(line: Line) -> None:
    found = line.results()
    for dataset, key, figures in expected_by_hand():
        row = found[dataset][key][-1]
        assert {name: row.get(name) for name in figures} == {
            name: pytest.approx(value) if isinstance(value, float) else value for name, value in figures.items()
        }, (dataset, key)
    assert ("four", "00FF", "2026-05-04T09:15:00Z") not in found["wait_signature"]

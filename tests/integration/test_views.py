"""The views over one system and interval, on rows whose figures are plain to work out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.definition import datasets
from counterflow.stack.settings import StackSettings
from tests.support.tables import empty_tables, insert_each

Record = dict[str, Any]
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
TS = "2026-05-04T09:15:00Z"


def stamped(system: str, **record: Any) -> Record:
    return {"ts": TS, "interval_s": 100.0, "source": "ibmi_tables", "system": system, **record}


def process(command: str, pid: int, **figures: Any) -> tuple[str, Record]:
    return "job", stamped("unix", source="nmon", job=str(pid), command=command, **figures)


def disk(system: str, name: str, **figures: Any) -> tuple[str, Record]:
    return "disk", stamped(system, disk=name, **{"device_type": "disk", "leaf": True, **figures})


def replicated(queue: str, component: str = "apply", **figures: Any) -> tuple[str, Record]:
    envelope = {"source": "qrep_monitor", "program_schema": "ASN", "interval_s": 30.0}
    return "replication", stamped("replicated", component=component, queue=queue, **envelope, **figures)


LATENCIES = {"end_to_end_ms": 2700.0, "queue_ms": 500.0, "apply_ms": 200.0}
DONE = {"transactions_applied": 36_840.0, "rows_applied": 665_250.0}
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
    # a pool whose faults are not counted, and one beside which no disk is timed
    ("pool", stamped("interactive", pool="04", size_mb=1000.0)),
    ("pool", stamped("untimed", pool="02", faults=1.0)),
    # disks of AIX have service and wait: known, half known, idle, counted in others, without transfers
    disk("aix", "d0", transfers=3000, read_kb=102_400, written_kb=51_200, service_ms=4, wait_ms=2, busy_pct=30),
    disk("aix", "d1", transfers=1000, read_kb=0, written_kb=0, service_ms=9, busy_pct=70),
    disk("aix", "d2", transfers=0, read_kb=20_480, service_ms=5, wait_ms=1),
    disk("aix", "d3", leaf=False, transfers=4000, read_kb=9e9, written_kb=1, service_ms=1, wait_ms=1, busy_pct=99),
    disk("aix", "d4", read_kb=1024, written_kb=1024),
    # those of Linux the time of reads and of writes; sda is there twice
    *[disk("linux", "sda", reads=200, read_service_ms=2, writes=600, write_service_ms=4, backlog_ms=9999)] * 2,
    disk("linux", "sdb", reads=0, writes=100, write_service_ms=5),
    disk("linux", "sdc", reads=100, writes=100, write_service_ms=9, backlog_ms=1000),
    disk("linux", "sdd", reads=10, writes=0),
    disk("linux", "sde", reads=10, read_service_ms=5, backlog_ms=9),
    disk("linux", "sdf", reads=100, read_service_ms=3, writes=100, write_service_ms=5, wait_ms=1),
    # processor time of two jobs that share their first six characters, and of tasks together
    *(
        (
            "job",
            stamped(
                "three", job=job, job_name=name, job_user="ANN", subsystem="QBATCH", cpu_ms=50_000.0, job_cpu_ms=1e6,
                accounting_code="DEPT7", summarised_tasks=tasks, sql_cpu_ms=sql_ms,
            ),
        )
        for job, name, tasks, sql_ms in (
            ("1", "ORDERS01", None, 7.0),
            ("2", "ORDERS02", 5.0, None),
            ("3", "SLICTASK", 1.0, None),
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
    # processes of Linux, whose memory is resident and not shared, and of AIX, whose text is shared by all of a command
    process("java", 1, resident_kb=102_400.0, shared_kb=10_240.0, cpu_ms=1000.0, cpu_base="logical", threads=3.0),
    process("java", 2, resident_kb=204_800.0, shared_kb=10_240.0, cpu_ms=3000.0, cpu_base="logical", threads=4.0),
    process("db2sysc", 3, resident_data_kb=1024.0, resident_text_kb=512.0, cpu_ms=50.0, cpu_base="physical"),
    process("db2sysc", 4, resident_data_kb=2048.0, resident_text_kb=512.0),
    process("sh", 5),
    # Q Replication: working, idle, without transactions, without one of the latencies
    replicated("WORKS", **LATENCIES, **DONE),
    replicated("IDLE", **dict.fromkeys(LATENCIES, 0.0), **dict.fromkeys(DONE, 0.0)),
    replicated("ROWS", **LATENCIES, rows_applied=665_250.0),
    replicated("LACKS", **LATENCIES | {"apply_ms": None}, **DONE),
    replicated("READS", "capture", current_log_at="2026-05-04T09:14:55Z", ends_of_log=0.0),
    replicated("SLEEPS", "capture", current_log_at="2026-05-04T09:06:40Z", ends_of_log=2.0),
    replicated("UNDATED", "capture", log_reader_sleep_ms=9.0),
    replicated("QUIET", "capture_queue", rows_published=0.0),
    replicated("SENDS", "capture_queue", rows_published=60.0, queue_depth=3.0),
]  # fmt: skip


def lag(queue: str, component: str = "apply", **figures: Any) -> tuple[str, tuple[str, ...], Record]:
    return "replication_lag", ("replicated", component, "ASN", queue, TS), figures


EXPECTED: list[tuple[str, tuple[str, ...], Record]] = [
    ("pool_faulting", ("interactive", "3", TS), {"disk_response_ms": 8.0, "transactions_per_s": 20.0}),
    ("pool_faulting", ("interactive", "3", TS), {"response_s": 0.4, "fault_s": 0.02, "interactive_fault_pct": 5.0}),
    ("pool_faulting", ("interactive", "3", TS), {"reserved_pct": 60.0, "interactive_missing": None}),
    ("pool_faulting", ("interactive", "3", TS), {"batch_fault_pct": None, "batch_missing": "batch jobs"}),
    ("pool_faulting", ("batch", "2", TS), {"batch_jobs": 1.0, "batch_fault_pct": 32.0}),
    ("pool_faulting", ("batch", "2", TS), {"batch_cpu_pct": 48.0, "batch_fault_to_work_pct": 40.0}),
    ("pool_faulting", ("batch", "2", TS), {"interactive_missing": "interactive transactions"}),
    ("pool_faulting", ("interactive", "4", TS), {"interactive_missing": "faults", "batch_missing": "faults"}),
    ("pool_faulting", ("interactive", "4", TS), {"faults_per_s": None, "fault_s": None, "reserved_pct": None}),
    ("pool_faulting", ("untimed", "2", TS), {"interactive_missing": "disk response", "disk_response_ms": None}),
    ("disk_load", ("aix", "d0", TS), {"transfers_per_s": 30.0, "reads": None, "read_mb": 100.0, "rw_ratio": 2.0}),
    ("disk_load", ("aix", "d0", TS), {"kb_per_transfer": 51.2, "response_ms": 6.0, "timed_transfers": 3000.0}),
    ("disk_load", ("aix", "d0", TS), {"written_mb": 50.0, "transfer_ms": 18_000.0, "busy_pct": 30.0}),
    ("disk_load", ("aix", "d1", TS), {"response_ms": None, "timed_transfers": None, "rw_ratio": None}),
    ("disk_load", ("aix", "d2", TS), {"response_ms": None, "kb_per_transfer": None, "written_mb": None}),
    ("disk_load", ("aix", "d3", TS), {"transfers": 4000.0, "response_ms": 2.0, "leaf": False}),
    ("disk_load", ("aix", "d4", TS), {"transfers": None, "kb_per_transfer": None, "rw_ratio": 1.0}),
    ("disk_total", ("aix", TS), {"transfers": 4000.0, "transfers_per_s": 40.0, "reads": None, "busy_pct": 70.0}),
    ("disk_total", ("aix", TS), {"read_mb": 121.0, "written_mb": 51.0, "rw_ratio": 101 / 51}),  # without d2
    # 150 MB by the 4,000 transfers of d0 and d1; of these alone d0 is timed
    ("disk_total", ("aix", TS), {"kb_per_transfer": 38.4, "response_ms": 6.0, "timed_transfers": 3000.0}),
    ("disk_load", ("linux", "sda", TS), {"reads_per_s": 2.0, "writes_per_s": 6.0, "response_ms": 3.5}),
    ("disk_load", ("linux", "sdb", TS), {"transfers": 100.0, "response_ms": 5.0}),
    ("disk_load", ("linux", "sdc", TS), {"response_ms": 5.0}),  # of the backlog, since that of reads is not known
    ("disk_load", ("linux", "sdd", TS), {"transfers": 10.0, "response_ms": None}),
    ("disk_load", ("linux", "sde", TS), {"reads": 10.0, "transfers": None, "response_ms": None}),
    ("disk_load", ("linux", "sdf", TS), {"response_ms": 5.0}),
    ("disk_total", ("linux", TS), {"reads": 420.0, "writes": 900.0, "transfers": 1310.0, "busy_pct": None}),
    ("disk_total", ("linux", TS), {"reads_per_s": 4.2, "writes_per_s": 9.0, "transfers_per_s": 13.1}),
    ("disk_total", ("linux", TS), {"transfer_ms": 5300.0, "timed_transfers": 1300.0, "response_ms": 5300 / 1300}),
    ("job_cpu", ("three", "accounting_code", "DEPT7", TS), {"cpu_ms": 150_000.0, "cpu_cores": 1.5, "tasks": 7.0}),
    ("job_cpu", ("three", "partition", "*", TS), {"cpu_ms": 150_000.0, "sql_cpu_ms": 7.0, "tasks": 7.0}),
    ("job_cpu", ("three", "generic_job", "ORDERS", TS), {"cpu_ms": 100_000.0, "tasks": 6.0}),
    ("job_cpu", ("three", "job", "ORDERS02", TS), {"cpu_ms": 50_000.0, "sql_cpu_ms": None, "tasks": 5.0}),
    ("job_cpu", ("three", "user", "ANN", TS), {"cpu_ms": 150_000.0}),
    ("job_cpu", ("batch", "job_type", "B", TS), {"cpu_ms": 48_000.0, "cpu_cores": 0.48}),
    ("wait_signature", ("four", "00A1", TS), {"disk_s": 25.0, "disk_waits": 4.0, "total_s": 100.0}),
    ("wait_signature", ("four", "00A1", TS), {"job_name": "PAY", "job_user": "JOE", "subsystem": "QINTER"}),
    ("wait_signature", ("four", "00A1", TS), {"dispatched_cpu_s": 75.0, "other_s": 0.0, "other_waits": None}),
    ("wait_signature", ("four", "00A1", TS), {"held_up_s": 25.0}),
    ("wait_signature", ("four", "*", TS), {"lock_contention_s": 3.0, "job": None}),
    ("footprint", ("unix", "java", TS), {"processes": 2, "cpu_ms": 4000.0, "cpu_cores": 0.04, "cpu_base": "logical"}),
    ("footprint", ("unix", "java", TS), {"memory_mb": 280.0, "threads": 7.0}),
    ("footprint", ("unix", "db2sysc", TS), {"processes": 2, "cpu_ms": 50.0, "memory_mb": 3.5, "threads": None}),
    ("footprint", ("unix", "sh", TS), {"processes": 1, "cpu_ms": None, "cpu_cores": None, "memory_mb": None}),
    lag("WORKS", end_to_end_ms=2700.0, capture_ms=2000.0, queue_ms=500.0, apply_ms=200.0, idle=False, missing=None),
    lag("WORKS", transactions_per_s=1228.0, rows_per_s=22_175.0, rows_per_transaction=665_250 / 36_840),
    lag("IDLE", idle=True, missing="idle", end_to_end_ms=None, capture_ms=None, rows_per_transaction=None),
    lag("ROWS", idle=False, transactions_per_s=None, rows_per_s=22_175.0, rows_per_transaction=None),
    lag("LACKS", idle=False, missing="latencies", end_to_end_ms=2700.0, capture_ms=None, apply_ms=None),
    lag("READS", "capture", idle=False, missing=None, log_latency_s=5.0),
    lag("SLEEPS", "capture", idle=True, missing="idle", log_latency_s=None),
    lag("UNDATED", "capture", idle=None, missing="log time", log_latency_s=None),
    lag("QUIET", "capture_queue", idle=True, missing=None, rows_per_s=0.0),
    lag("SENDS", "capture_queue", idle=False, missing=None, rows_per_s=2.0, queue_depth=3.0),
]


@pytest.fixture(scope="module")
def tables(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    with empty_tables(clickhouse) as client:
        insert_each(client, HAND)
        yield client


def view(client: ClickHouse, name: str) -> dict[tuple[str, ...], Record]:
    """Return the rows of a view by key, without what is null."""
    iso = {"date_time_output_format": "iso"}
    rows = client.rows(f"SELECT * REPLACE (toDateTime(ts, 'UTC') AS ts) FROM counterflow.{name}", iso)
    known_only = [{column: value for column, value in row.items() if value is not None} for row in rows]
    found = {tuple(row[column] for column in datasets()[name].key): row for row in known_only}
    assert len(found) == len(rows), "two rows of one key"
    return found


def test_what_is_worked_out_by_hand_comes_out(tables: ClickHouse) -> None:
    found = {name: view(tables, name) for name in {name for name, *_ in EXPECTED}}
    for name, key, figures in EXPECTED:
        row = found[name][key]
        assert {column: row.get(column) for column in figures} == {
            column: pytest.approx(value) if isinstance(value, float) else value for column, value in figures.items()
        }, (name, key)
    assert ("four", "00FF", TS) not in found["wait_signature"]


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

"""Every stored question on migrated tables, of a system that reports everything and of one that reports nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import orjson
import pytest

from counterflow.analysis.queries import BEGINNING, END, queries, run_stored
from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.landing.rollups import refresh
from counterflow.schemas.definition import Column, Dataset, envelope, published
from counterflow.stack.settings import StackSettings
from tests.support import tables
from tests.support.pages import blocks
from tests.support.tables import given

TIMES = ("2026-05-04T09:15:00Z", "2026-05-04T09:30:00Z", "2026-05-04T10:30:00Z")
KEYS: dict[str, tuple[Any, ...]] = {
    "counted": ("disk", "job"),
    "disk": ("one",),
    "engine": ("all",),
    "grouping": ("partition", "job", "generic_job", "accounting_code"),
    "name": ("QDBMSRVR",),
    "entity_type": ("nrg", "log"),
    "rule": ("roce_cap", "log_ceiling"),
    "section": ("run",),
    "source": ("ibmi_tables",),
    "stale": (False,),
    "task": ("*", "1F"),
}
"""Values of keys and the like, so that no condition of a question leaves out all rows."""
ONE: dict[str, Any] = {"String": "one", "UInt64": 1, "Int64": 1, "Float64": 20.0, "Bool": True, "DateTime64": TIMES[0]}
NAMED = {"job_name": "QDBMSRVR", "task": "1F", "wait_group": "lock_contention"}
"""Values of other columns, so that jobs meet their waits."""
REASONS = {"missing", "final"}
"""Columns that are null where all is well."""
SEPARATE = {
    *("configuration_changes", "link_skew", "provisional_results", "resync_progress", "sync_io_links"),
    *("batch_night", "lock_holders", "mirror_copy_blocking", "mirror_open_for_update", "unanswered_messages"),
}
"""Questions about a difference, settings or first threads of batch jobs, of which these rows have none."""


def rows_of(dataset: Dataset, system: str, *, nulls: bool) -> Iterator[dict[str, Any]]:
    """Yield rows of a dataset at each of `TIMES`, one an entity."""
    columns = {**envelope(dataset.role), **dataset.columns}
    absent = {name for name, column in columns.items() if column.null_when and (nulls or name in REASONS)}
    row = {name: None if name in absent else NAMED.get(name, _one(column)) for name, column in columns.items()}
    keys = [name for name in columns if name in KEYS and name in (*dataset.key, "source", "stale")]
    for ts, *values in itertools.product(TIMES, *(KEYS[name] for name in keys)):
        yield row | dict(zip(keys, values, strict=True)) | {"system": system, "ts": ts}


def _one(column: Column) -> Any:
    return column.values[0] if column.values else ONE[column.type]


@pytest.fixture(scope="module", autouse=True)
def admin(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The tables with rows of the systems `all` (no column is null) and `nothing` (every nullable one is)."""
    with tables.empty_tables(clickhouse) as client:
        for dataset in published().values():
            rows = [*rows_of(dataset, "all", nulls=False), *rows_of(dataset, "nothing", nulls=True)]
            tables.insert(client, dataset.dataset, *rows)
        refresh(client)
        yield client


def answer(client: ClickHouse, name: str, *systems: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Return the types of the columns, by name, and the rows."""
    settings: dict[str, Any] = {"param_systems": list(systems), "param_since": BEGINNING, "param_until": END}
    settings |= {"default_format": "JSON", "output_format_json_quote_denormals": 1}  # else nan and inf are null there
    found = orjson.loads(client.post(queries()[name].sql, settings=settings))
    return {column["name"]: column["type"] for column in found["meta"]}, found["data"]


@pytest.mark.parametrize("name", queries())
def test_every_question_is_answered_and_what_is_not_known_is_not_0(reader: ClickHouse, name: str) -> None:
    columns, rows = answer(reader, name)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", column) for column in columns)
    figures = [column for column, kind in columns.items() if "Float64" in kind]
    for row, column in itertools.product(rows, figures):
        assert row[column] not in ("nan", "inf", "-inf"), column
        if row.get("system") == "nothing":
            assert row[column] != 0, column


@pytest.mark.parametrize("name", [name for name, query in queries().items() if "{systems:" in query.sql])
def test_a_system_that_is_not_there_has_no_rows(reader: ClickHouse, name: str) -> None:
    assert answer(reader, name, "it's <b>gone</b>")[1] == []


def test_every_question_has_an_answer_where_everything_is_reported(reader: ClickHouse) -> None:
    assert {name for name in queries() if not answer(reader, name)[1]} == SEPARATE


def test_every_table_view_and_column_has_a_comment(reader: ClickHouse) -> None:
    shown = "database = 'counterflow' AND engine != 'MaterializedView'"
    assert reader.rows(f"SELECT name FROM system.tables WHERE {shown} AND comment = ''") == []
    among = f"(SELECT name FROM system.tables WHERE {shown})"
    columns = reader.rows(
        f"SELECT table, name FROM system.columns WHERE database = 'counterflow' AND comment = '' AND table IN {among}"
    )
    assert columns == []


def test_every_statement_of_the_pages_runs(reader: ClickHouse) -> None:
    """Another test runs the stored questions of the cookbook."""
    for block in blocks("sql"):
        if not block.page.startswith("docs/cookbook.md"):
            reader.rows(block.text)


insert = partial(tables.insert, system="worked", interval_s=900)


def worked(client: ClickHouse, name: str, since: str = BEGINNING, until: str = END) -> list[dict[str, Any]]:
    return run_stored(client, queries()[name], ["worked"], since, until)


def test_a_ratio_of_a_period_is_of_its_sums(admin: ClickHouse, reader: ClickHouse) -> None:
    def mix(ts: str, reads: float, inserts: float, other: float) -> dict[str, Any]:
        total = reads + inserts + other
        figures = {
            "reads": reads,
            "inserts": inserts,
            "other": other,
            "logical_io": total,
            "row_operations": total,
            "modify_basis": "changes",
        }
        return given(ts=ts, grouping="job", name="A", modify_pct=100 * (inserts + other) / total, **figures)

    rows = (mix(TIMES[0], 90.0, 5.0, 5.0), mix(TIMES[1], 150.0, 100.0, 50.0), mix(TIMES[2], 0.0, 1.0, 0.0))
    insert(admin, "io_mix", *rows)
    [row] = worked(reader, "modify_ratio", "2026-05-04 09:00:00", "2026-05-04 10:00:00")
    # (10 + 150) of (100 + 300); the third interval is of the next hour
    assert (row["logical_io_total"], row["modify_pct_avg"], row["modify_pct_max"]) == (400, 40, 50)


def test_a_cost_is_given_for_both_sides_of_a_moment(admin: ClickHouse, reader: ClickHouse) -> None:
    def cost(ts: str, accounts: float, gcp_ms: float) -> dict[str, Any]:
        return given(ts=ts, workload="W", basis="lpar", samples=1, accounts=accounts, gcp_ms_per_account=gcp_ms)

    insert(admin, "account_cpu", cost(TIMES[0], 50.0, 0.3), cost(TIMES[1], 100.0, 0.2), cost(TIMES[2], 300.0, 0.4))
    rows = worked(reader, "cost_before_and_after", since="2026-05-04 09:15:00")
    found = [(row["period"], row["units"], row["gcp_ms_a_unit"], row["ziip_ms_a_unit"]) for row in rows]
    assert found == [("before", 50, 0.3, None), ("after", 400, 0.35, None)]


def test_what_the_worst_interval_lacks_is_not_taken_from_another(admin: ClickHouse, reader: ClickHouse) -> None:
    queue = {"component": "apply", "queue": "Q1"}
    worst = given(ts=TIMES[0], **queue, end_to_end_ms=5000.0, queue_ms=3000.0)
    other = given(ts=TIMES[1], **queue, end_to_end_ms=2000.0, queue_ms=50.0, apply_ms=50.0)
    insert(admin, "replication_lag", worst, other)
    [row] = worked(reader, "replication_worst_queue")
    assert (row["end_to_end_s_max"], row["capture_s_then"], row["queue_s_then"]) == (5, None, 3)
    assert row["worst_at"] == "2026-05-04 09:15:00.000"


def test_slow_intervals_name_what_ran_then(admin: ClickHouse, reader: ClickHouse) -> None:
    slow = ((TIMES[0], "d1", 12.0), (TIMES[0], "d2", 9.0), (TIMES[1], "d1", 10.0), (TIMES[2], "d1", None))
    disks = (given(ts=ts, disk=name, service_ms=response_ms) for ts, name, response_ms in slow)
    insert(admin, "disk", *disks, device_type="disk", leaf=True, wait_ms=0.0, transfers=9000.0)
    ran = {"java": 0.5, "db2sysc": 1.5, "sh": None}
    insert(admin, "footprint", *(given(ts=TIMES[0], command=name, cpu_cores=cores) for name, cores in ran.items()))
    [row] = worked(reader, "slow_disk_intervals")
    assert (row["slow_disks"], row["worst_disk"], row["most_cpu"]) == (1, "d1", ["db2sysc", "java"])


def test_a_gap_is_what_no_interval_covers(admin: ClickHouse, reader: ClickHouse) -> None:
    insert(admin, "manifest", *(given(ts=ts) for ts in TIMES), counted="disk", row_count=1)
    [row] = worked(reader, "data_gaps")
    # nothing ends between 9:30 and 10:30, the last interval began at 10:15
    assert (row["gap_s"], row["intervals_lacking"]) == (2700, 3)


def test_the_progress_of_a_resynchronization_is_of_its_own_list(admin: ClickHouse, reader: ClickHouse) -> None:
    def state(time: str, state: str, detail: str) -> None:
        named = {"REPLICATION_STATE": state, "REPLICATION_DETAIL": detail}
        settings = (given(ts=f"2026-06-01T{time}Z", name=name, value=value) for name, value in named.items())
        insert(admin, "config", *settings, section="MIRROR_INFO", item="*SYSBAS")

    def listed(time: str, pending: int, failed: int = 0) -> None:
        counts = {"PENDING_ENTRIES": pending, "FAILED_ENTRIES": failed}
        sample = (given(ts=f"2026-06-01T{time}Z", counter=name, value=value) for name, value in counts.items())
        insert(admin, "counter", *sample, section="RESYNC_STATUS", instance="", interval_s=None)

    def progress(until: str) -> list[Any]:
        [row] = worked(reader, "resync_progress", "2026-06-01 00:00:00", f"2026-06-01 {until}")
        figures = ("pending_entries", "progress_pct", "processed_per_s", "ends_at", "tracked_per_s", "reason")
        return [row[name] for name in figures]

    state("08:00:00", "ACTIVE", "REPLICATING")
    assert progress("08:00:30") == [None, None, None, None, None, "RESYNC_STATUS was not sampled since then"]
    listed("08:01:00", 0)
    assert progress("08:01:30") == [0, None, None, None, None, "nothing is resynchronized"]
    state("09:00:00", "TRACKING", "SUSPENDED")
    listed("09:00:00.500", 0)
    listed("09:10:00", 600)
    assert progress("09:10:00") == [600, None, None, None, 1.0, "suspended: changes are tracked"]
    listed("09:59:30", 1000)
    state("10:00:00", "ACTIVE", "SYNCHRONIZING")
    assert progress("10:00:00")[-1] == "RESYNC_STATUS was not sampled since then"
    listed("10:00:10", 1000)
    assert progress("10:00:30") == [1000, 0, None, None, None, "no entry was processed yet"]
    listed("10:05:00", 250, failed=2)
    # 750 of 1,000 in 300 s: 250 more take 100 s
    assert progress("10:05:00") == [250, 75, 2.5, "2026-06-01 10:06:40.000", None, ""]
    failed = given(ts="2026-06-01T10:06:00Z", counter="FAILED_ENTRIES", value=2)
    insert(admin, "counter", failed, section="RESYNC_STATUS", instance="", interval_s=None)
    assert progress("10:06:00")[:2] == [250, 75], "a sample without the entries that are pending"
    state("10:07:00", "ACTIVE", "REPLICATING")
    listed("10:08:00", 0)
    assert progress("10:08:30")[-1] == "nothing is resynchronized"


def test_the_time_in_mq_is_of_the_time_that_is_known(admin: ClickHouse, reader: ClickHouse) -> None:
    put = {"mq_messages": 600.0, "mq_bytes": 1.2e6, "mq_put_ms": 3000.0, "queue_full_errors": 1.0}
    unknown = {**put, "mq_messages": 10.0, "mq_bytes": None, "interval_s": None}
    queue = {"component": "capture_queue", "queue": "S1", "source": "qrep_monitor"}
    insert(admin, "replication", given(ts=TIMES[0], interval_s=30.0, **put), given(ts=TIMES[1], **unknown), **queue)
    [row] = [row for row in worked(reader, "mq_cost") if row["queue"] == "S1"]
    assert (row["messages_per_s"], row["mb_per_s"], row["bytes_per_message"]) == (20, 0.04, 2000)
    assert row["put_ms_per_message"] == pytest.approx(6000 / 610, abs=1e-4)
    assert (row["put_pct_of_time"], row["commit_pct_of_time"], row["queue_full_errors_total"]) == (10, None, 2)


def test_reads_and_writes_of_a_link_are_kept_apart(admin: ClickHouse, reader: ClickHouse) -> None:
    link = {"section": "PCIE_CPC", "instance": "0000000ABC12/00"}
    function = {"section": "PCIE", "instance": "0018"}
    reports = ((TIMES[0], 300.0, 100.0, 100.0, 99.0), (TIMES[1], 100.0, 300.0, 300.0, 91.0))
    for ts, reads, writes, requests, successful in reports:
        of_link = {"PCIETRRC": reads, "PCIETWRC": writes, "PCIETBPC": 12.5}
        of_function = {"PCIERRT": requests, "PCIESRR": successful}
        for of, counters in ((link, of_link), (function, of_function)):
            named = (given(ts=ts, counter=name, value=value) for name, value in counters.items())
            insert(admin, "counter", *named, **of, source="rmf_dds", interval_s=60)
    one, other = worked(reader, "sync_io_links")
    assert (one["seen_as"], one["request_rate_avg"], one["successful_pct_avg"], one["read_pct"]) == (
        "function",
        200,
        93,  # 100 of 99 % and 300 of 91 %
        None,
    )
    assert (other["seen_as"], other["read_rate_avg"], other["write_rate_avg"]) == ("link", 200, 200)
    assert (other["read_pct"], other["busy_pct_max"], other["request_rate_avg"]) == (50, 12.5, None)


def test_a_command_that_is_absent_used_nothing_and_an_unknown_response_weighs_nothing(
    admin: ClickHouse, reader: ClickHouse
) -> None:
    first, second, third = (f"2026-08-01T09:{minute}:00Z" for minute in (15, 30, 45))
    insert(admin, "manifest", *(given(ts=ts) for ts in (first, second, third)), counted="job", row_count=1)
    used = (given(ts=first, cpu_ms=900_000.0, memory_mb=100.0), given(ts=third, cpu_ms=1_800_000.0, memory_mb=300.0))
    insert(admin, "footprint", *used, command="asnqcap", cpu_base="physical")
    insert(
        admin, "footprint", given(ts=first, cpu_ms=900_000.0), given(ts=second), command="asnqapp", cpu_base="physical"
    )
    known = given(ts=first, transfers_per_s=10.0, response_ms=8.0)
    insert(admin, "disk_total", known, given(ts=second, transfers_per_s=30.0))
    cpu, memory, disks = (
        worked(reader, name, "2026-08-01 00:00:00") for name in ("cpu_by_command", "memory_by_command", "disk_by_hour")
    )
    # over the 2,700 s recorded, not the 1,800 s in which it was seen; without the 900 s in which its time is unknown
    found = [(row["cpu_s"], row["processors_avg"], row["memory_mb_max"]) for row in cpu]
    assert found == [(2700, 1, 300), (900, 0.5, None)]
    assert [row["memory_mb_avg_when_present"] for row in memory] == [200]
    assert [(row["transfers_per_s_avg"], row["response_ms_avg"]) for row in disks] == [(20, 8)]


def test_disk_operations_are_grouped_by_the_memory_of_the_minute(admin: ClickHouse, reader: ClickHouse) -> None:
    for time, gigabytes, operations in (("09:15", 6, 900.0), ("09:30", 18, 300.0), ("09:45", 18, 500.0)):
        ts = f"2026-07-01T{time}:00Z"
        insert(admin, "pool", *(given(ts=ts, pool=pool, size_mb=gigabytes * 512.0) for pool in ("1", "2")))
        insert(admin, "disk_total", given(ts=ts, transfers_per_s=operations))
    rows = worked(reader, "disk_operations_by_memory", "2026-07-01 00:00:00")
    assert [(row["memory_gb"], row["intervals"], row["transfers_per_s_avg"]) for row in rows] == [
        (6, 1, 900),
        (18, 2, 400),
    ]


def test_who_holds_what_others_wait_for(admin: ClickHouse, reader: ClickHouse) -> None:
    def locks(ts: str, job: str, status: str, value: float, locked: str = "APP/OR'D X") -> dict[str, Any]:
        instance = f"{job} UPDATE {status} {locked}"
        return given(ts=ts, section="RECORD_LOCK_INFO", instance=instance, counter="LOCKS", value=value)

    rows = [locks(ts, "1/ANN/BATCH", "HELD", value) for ts, value in zip(TIMES[:2], (3.0, 9.0), strict=True)]
    rows += [locks(TIMES[0], "2/JOE/WEB", "WAITING", 1.0), locks(TIMES[1], "3/JOE/WEB", "WAITING", 1.0)]
    # waits for itself, and holds what no other job waits for
    rows += [locks(TIMES[0], "1/ANN/BATCH", status, 1.0, "APP/OTHER") for status in ("HELD", "WAITING")]
    insert(admin, "counter", *rows)
    [row] = worked(reader, "lock_holders")
    assert (row["object"], row["holder"], row["locks_held_max"]) == ("APP/OR'D X", "1/ANN/BATCH", 9)
    assert (row["waiting_jobs"], row["samples"]) == (["2/JOE/WEB", "3/JOE/WEB"], 2)


def of_second(second: int) -> str:
    return f"2026-02-01 10:{second // 60:02}:{second % 60:02}.000"


def group(system: str, second: int, out_bytes_s: float, in_bytes_s: float) -> dict[str, Any]:
    figures = {"own_out_bytes_s": out_bytes_s, "own_in_bytes_s": in_bytes_s, "group": "ANSA ANSB", "reset": False}
    figures |= {"line_bits_s": 1e11, "capacity_pct": 3.0, "out_line_pct": out_bytes_s * 8 / 1e9, "in_line_pct": 0.0}
    return {"ts": of_second(second), "interval_s": 15.0, "system": system, "link": "MIRROR_DATABASE"} | (
        figures | {"link_type": "nrg", "out_capacity_pct": out_bytes_s * 8 / 3e7, "in_capacity_pct": 0.0}
    )


def test_links_and_skew(admin: ClickHouse, reader: ClickHouse) -> None:
    rows = [group("ANSA", 15, 3e8, 1e8), group("ANSA", 30, 5e8, 1e8), group("ANSA", 45, 9e9, 9e9)]
    rows += [group("ANSB", 15, 1e8, 3e8), group("ANSB", 30, 1e8, 1e8)]
    tables.insert(admin, "link_load", *rows)
    [first, second] = run_stored(reader, queries()["links"], ["ANSA", "ANSB"])
    assert (first["system"], first["out_mb_s"]) == ("ANSA", pytest.approx(3266.67))
    assert first["in_mb_s"] == pytest.approx(3066.67)
    assert (first["line_pct_max"], first["capacity_pct"], first["of_capacity_pct_max"]) == (72, 3, 2400)
    assert (second["system"], second["out_mb_s"], second["in_mb_s"]) == ("ANSB", 100, 200)
    # over the 30 s that both have: A sent 400 MB/s, B received 200; B sent 100, A received 100
    found = run_stored(reader, queries()["link_skew"], ["ANSA", "ANSB"])
    columns = ("from_system", "sent_mb_s", "received_mb_s", "skew_pct", "note")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("ANSA", 400, 200, 50, "skewed"),
        ("ANSB", 100, 100, 0, ""),
    ]


def test_links_are_weighted_by_time_and_out_and_in_stay_apart(admin: ClickHouse, reader: ClickHouse) -> None:
    first, second, gap = group("ANSW", 15, 1e8, 1e7), group("ANSW", 45, 5e8, 1e7), group("ANSW", 60, 0, 1e7)
    tables.insert(admin, "link_load", first, second | {"interval_s": 30.0}, gap | {"own_out_bytes_s": None})
    [found] = run_stored(reader, queries()["links"], ["ANSW"])
    # (100 x 15 + 500 x 30) / 45 MB/s, and 4 Gb/s of a line of 100
    assert (found["out_mb_s"], found["in_mb_s"], found["line_pct_max"]) == (366.67, 10, 4)


def test_the_newest_verdict_is_shown_the_alarming_first(admin: ClickHouse, reader: ClickHouse) -> None:
    def verdict(entity: str, second: int, state: str, since: int, n: int = 3) -> dict[str, Any]:
        named = {"rule": "roce_cap", "system": "ANSC", "entity_type": "nrg", "entity": entity}
        times = {"ts": of_second(second), "since": of_second(since), "interval_s": 15.0}
        text = {"reason": f"because {second}", "evidence": "{}", "parameters": "p", "stale": False, "signal": state}
        return {**named, **times, **text, "n": n, "state": state}

    rows = [
        verdict("a", 15, "OK", 15),
        verdict("b", 15, "OK", 15),
        verdict("b", 30, "OK", 15, n=1),
        verdict("b", 30, "CAPPED", 30),
    ]
    tables.insert(admin, "verdict", *rows)
    found = run_stored(reader, queries()["verdicts"], ["ANSC"])
    columns = ("entity", "state_now", "state_since", "intervals_not_ok", "why")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("b", "CAPPED", of_second(30), 1, "because 30"),
        ("a", "OK", of_second(15), 0, "because 15"),
    ]

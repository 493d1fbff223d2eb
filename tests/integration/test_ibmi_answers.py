"""Views and stored questions over the results of the IBM i jobs, on rows whose answers are plain to work out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from counterflow.analysis.checks.report import measured
from counterflow.analysis.queries import BEGINNING, END, queries, restricted, run_stored
from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.definition import charts
from counterflow.dashboards.macros import Range, expand
from counterflow.pipelines import batch
from counterflow.pipelines.jobs import all_jobs
from tests.support import tables
from tests.support.tables import given

TS = "2026-05-04T09:15:00Z"
NEXT = "2026-05-04T09:30:00Z"
LAST = "2026-05-04T09:45:00Z"
SHOWN = Range(datetime(2026, 5, 4, 9, tzinfo=UTC), datetime(2026, 5, 4, 10, tzinfo=UTC))


insert = partial(tables.insert, ts=TS, interval_s=100, system="ibmi", source="ibmi_tables")


def answer(client: ClickHouse, name: str) -> list[dict[str, Any]]:
    return run_stored(client, queries()[name], ["ibmi"])


def test_the_95th_percentile_is_interpolated_within_its_bucket(client: ClickHouse) -> None:
    boundaries = [100.0, 1000.0, 10_000.0, None]
    counts = {
        # the 95th of 100: the 15th of 20 that lie between 1 and 10 ms
        ("DD1", "read"): [50, 30, 20, 0],
        # in the first bucket: 95 of 100 between 0 and .1 ms
        ("DD1", "write"): [100, 0, 0, 0],
        # in the last, which has no end
        ("DD2", "read"): [50, 0, 0, 50],
        ("DD2", "write"): [0, 0, 0, 0],
    }
    insert(
        client,
        "disk_bucket",
        *(
            given(
                disk=disk,
                operation=operation,
                bucket=number,
                upper_us=upper,
                operations=count,
                response_ms=count * 2,
            )
            for (disk, operation), numbers in counts.items()
            for number, (upper, count) in enumerate(zip(boundaries, numbers, strict=True), 1)
        ),
    )
    rows = client.rows("SELECT disk, operation, p95_ms, mean_ms FROM counterflow.disk_latency ORDER BY disk, operation")
    assert [(row["disk"], row["operation"], row["p95_ms"], row["mean_ms"]) for row in rows] == [
        ("DD1", "read", pytest.approx(1 + 9 * 15 / 20), 2),
        ("DD1", "write", pytest.approx(0.095), 2),
        ("DD2", "read", None, 2),
        ("DD2", "write", None, None),
    ]
    assert [row["intervals_beyond_the_last_bucket"] for row in answer(client, "disk_latency")] == [1, 0, 0, 0]


def test_virtual_io_costs_what_the_capabilities_reference_says(client: ClickHouse) -> None:
    def disk(name: str, reads: float, kb_read: float, writes: float = 0, kb_written: float = 0) -> dict[str, Any]:
        done = {"reads": reads * 100, "writes": writes * 100}
        moved = {"read_kb": reads * kb_read * 100, "written_kb": writes * kb_written * 100}
        return given(interval_s=100, disk=name, device_type="disk", leaf=True, **done, **moved)

    insert(
        client,
        "disk",
        disk("example", 10_000, 16),  # 6.6.1: .34 of a processor
        disk("between", 1_000_000, 24, 1_000_000, 96),  # half way from 34 to 57, and from 82 to 148
        disk("small", 1_000_000, 2),  # as 4 KB
        disk("large", 1_000_000, 257),
        given(interval_s=100, disk="of unknown size", device_type="disk", leaf=True, reads=1000, writes=0),
        disk("iscsi", 800, 16),  # 17.6: 275 x 800 / 1000 = 220 CPW
    )
    rows = {row["disk"]: row for row in client.rows("SELECT * FROM counterflow.virtual_io")}
    assert {name: row["virtual_scsi_processors"] for name, row in rows.items()} == {
        "example": pytest.approx(0.34),
        "between": pytest.approx(45.5 + 115),
        "small": pytest.approx(16),
        "large": None,
        "of unknown size": None,
        "iscsi": pytest.approx(0.0272),
    }
    assert rows["iscsi"]["iscsi_software_target_cpw"] == pytest.approx(220)
    assert rows["iscsi"]["iscsi_hardware_target_cpw"] == pytest.approx(184)
    [row] = answer(client, "virtual_io")
    assert (row["virtual_scsi_processors"], row["disks_without_figure"]) == (176.87, 2)
    [inputs] = measured(client, restricted(["ibmi"], BEGINNING, END)).values()
    assert inputs["system", ""]["virtual_scsi_processors"] is None, "sizes beyond the table are not guessed"


def test_capacities_of_disks_are_decimal(client: ClickHouse) -> None:
    insert(client, "disk", given(disk="DD1", device_type="disk", leaf=True, capacity_mb=70_564, used_pct=52.3))
    [row] = answer(client, "disk_space")
    assert (row["capacity_gb"], row["used_pct_last"]) == (70.6, 52.3), "IBM sells a drive of 70,564 MB as 70 GB"


def test_what_a_disk_moved_is_divided_by_the_time_of_which_it_is_known(client: ClickHouse) -> None:
    disk = {"disk": "DD1", "device_type": "disk", "leaf": True, "transfers": 9}
    insert(client, "disk", given(**disk, read_kb=1000), given(**disk, ts=NEXT))
    [row] = client.rows(expand(charts()["unix_disk_worst"].query, SHOWN, {"system": ("ibmi",)}))
    assert (row["Read"], row["Transfers"]) == (10 * 1024, 0.09)
    [row] = client.rows(expand(charts()["storage_table"].query, SHOWN, {"system": ("ibmi",)}))
    assert (row["Read"], row["Busiest interval"], row["Burst"]) == (10 * 1024, None, None), "no writes are known"


def test_whether_jobs_ran_in_a_pool_is_unknown_where_none_were_collected(client: ClickHouse) -> None:
    def found() -> list[Any]:
        [inputs] = measured(client, restricted(["ibmi"], BEGINNING, END)).values()
        return [inputs["pool", "2"].get(name) for name in ("interactive", "batch", "batch_jobs", "batch_cpu_pct")]

    insert(client, "pool", given(pool="2", faults=10))
    assert found() == [None, None, None, None]
    insert(client, "pool", given(pool="2", faults=10, ts=NEXT))
    insert(client, "job", given(job="a", job_pool="3", job_type="B", cpu_ms=10, ts=NEXT))
    assert found() == [False, False, 0, None]
    insert(client, "pool", given(pool="2", faults=10, ts=LAST))
    insert(client, "job", given(job="b", job_pool="2", job_type="B", cpu_ms=50_000, ts=LAST))
    assert found() == [False, True, 0.5, 50]  # one job at a processor for half of one of two intervals


def test_memory_is_not_used_where_a_part_of_it_is_unknown(client: ClickHouse) -> None:
    memory = {"pool": "memory", "size_mb": 100, "cached_mb": 15}
    parts = ({"buffers_mb": 5}, {"free_mb": 50}, {"buffers_mb": 5, "free_mb": 50}, {"buffers_mb": 5, "free_mb": 90})
    times = (TS, NEXT, LAST, "2026-05-04T10:00:00Z")
    insert(client, "pool", *(given(**memory, **known, ts=ts) for ts, known in zip(times, parts, strict=True)))
    rows = client.rows("SELECT available_mb, used_mb FROM counterflow.memory_use ORDER BY ts")
    assert [list(row.values()) for row in rows] == [[None, None], [None, None], [70, 30], [110, 0]]
    counted = {"section": "HUGEPAGES", "instance": ""}
    pages = {"HugeSizeMB": 2, "HugeTotal": 10}
    insert(client, "counter", *(given(**counted, counter=name, value=value) for name, value in pages.items()))
    assert client.rows(expand(charts()["unix_huge_pages"].query, SHOWN, {"system": ("ibmi",)})) == []


def test_shares_of_several_systems_are_of_all_they_have(client: ClickHouse) -> None:
    used = (("a", 9, 10), ("b", 1, 2), ("c", 5, None))
    cpu = {"engine_type": "core", "engine": "all"}
    rows = (given(**cpu, system=name, physical_consumed_cores=of, entitled_cores=all_of) for name, of, all_of in used)
    insert(client, "system_cpu", *rows)
    [row] = client.rows(expand(charts()["aix_entitlement"].query, SHOWN, {"system": ("a", "b", "c")}))
    assert row["Of entitlement"] == pytest.approx(100 * 10 / 12)


def test_waiting_threads_are_set_against_the_active_ones_of_the_same_time(client: ClickHouse) -> None:
    log = {"subsystem": "DBP1", "waiting_threads": 10}
    insert(client, "log_load", given(**log, active_threads=100, interval_s=100), given(**log, ts=NEXT, interval_s=100))
    shown = Range(*SHOWN[:2], 3600)
    [row] = client.rows(expand(charts()["log_waiting"].query, shown, {"log": ("ibmi / DBP1",), "system": ("ibmi",)}))
    assert row["Value"] == 10


def test_figures_of_disks_are_of_the_intervals_in_which_their_parts_are_known(client: ClickHouse) -> None:
    disk = {"disk": "DD1", "device_type": "disk", "leaf": True}
    whole = given(**disk, transfers=900, read_kb=2048, written_kb=1024)
    insert(client, "disk", whole, given(**disk, read_kb=2048, ts=NEXT), given(**disk, transfers=900, ts=LAST))
    [row] = answer(client, "busiest_disks")
    assert (row["per_s"], row["read_mb"], row["rw_ratio"]) == (9, 4, 2)
    for chart, size in ("unix_disk_worst", "Size"), ("storage_table", "Size of a transfer"):
        [row] = client.rows(expand(charts()[chart].query, SHOWN, {"system": ("ibmi",)}))
        assert row[size] == pytest.approx(3072 * 1024 / 900)


def test_waits_are_grouped_ranked_and_normalised(client: ClickHouse) -> None:
    groups = ("dispatched_cpu", "cpu_queueing", "disk", "journaling", "operating_system_contention")
    nothing = dict.fromkeys([f"{name}_s" for name in (*groups, "lock_contention", "ineligible", "other")], 0)

    def task(number: str, name: str | None, **seconds: float) -> dict[str, Any]:
        about = {"job": f"1/ANN/{name}", "job_name": name, "job_user": "ANN", "subsystem": "QBATCH"} if name else {}
        return given(task=number, total_s=100, **about, **nothing | seconds)

    insert(
        client,
        "wait_signature",
        task("A", "ORDERS01", disk_s=20, dispatched_cpu_s=80, disk_waits=4),
        task("B", "ORDERS02", disk_s=30, other_s=70, disk_waits=6),
        task("*", None, dispatched_cpu_s=80, other_s=70, disk_s=50),
    )
    [row] = client.rows("SELECT * FROM counterflow.wait_profile WHERE name = 'ORDERS' AND wait_group = 'disk'")
    assert (row["grouping"], row["seconds"], row["waits"]) == ("generic_job", 50, 10)
    assert (row["tasks_avg"], row["share_pct"]) == (0.5, 25)
    [row] = client.rows("SELECT * FROM counterflow.wait_profile WHERE grouping = 'system' AND wait_group = 'disk'")
    assert (row["name"], row["seconds"], row["share_pct"]) == ("*", 50, 25)
    assert [(row["job"], row["held_up_s"]) for row in answer(client, "wait_ranking")] == [
        ("ORDERS02", 30),
        ("ORDERS01", 20),
    ]


def test_what_mirroring_would_cost_is_ranked_by_milliseconds_a_day_and_unknown_without_the_line(
    client: ClickHouse,
) -> None:
    def job(
        number: int, name: str, reads: float, for_update: float | None, inserts: float, other: float, **more: Any
    ) -> Any:
        counts = {"logical_reads": reads, "logical_writes": inserts, "logical_other": other}
        about = {"job": f"{number}/ANN/{name}", "command": name, "job_name": name, "job_user": "ANN", "job_type": "B"}
        return given(**about, logical_reads_for_update=for_update, **{"commits": 0, "rollbacks": 0, **counts, **more})

    odd = "O'BAT\\<b>"
    insert(
        client,
        "job",
        # reads 1,000 rows for update, changes 100 of them, alone; commits 50 times
        job(1, odd, 1000, 1000, 0, 150, commits=50, record_locks=7),
        # two jobs of one generic name, each of which changes what it reads for update
        job(2, "ORDERS", 500, 500, 0, 500, ts=NEXT),
        job(3, "ORDERS2", 500, 500, 0, 500, ts=NEXT),
        job(4, "COPY", 2000, 0, 2000, 0),
    )
    waits = dict.fromkeys(["dispatched_cpu", "cpu_queueing", "disk", "journaling", "operating_system_contention"], 0)
    waited = {f"{name}_s": 0 for name in (*waits, "ineligible", "other")} | {"lock_contention_s": 2, "total_s": 2}
    insert(client, "wait_signature", given(task="A", job="1", job_name=odd, **waited))
    [unneeded] = answer(client, "mirror_open_for_update")
    assert (unneeded["job"], unneeded["unneeded_per_day"], unneeded["unneeded_ms_per_day"]) == (odd, 900, None)
    assert "mirror_distance_km" in unneeded["reason"]

    # 10 km: 0.1 ms a round trip
    insert(client, "config", given(section="labels", item="", name="mirror_distance_km", value="10"))
    [unneeded] = answer(client, "mirror_open_for_update")
    assert (unneeded["unneeded_ms_per_day"], unneeded["reason"]) == (90, None)
    serial = [(row["job"], row["serial_pct"], row["serial_ms_per_day"]) for row in answer(client, "mirror_serial_jobs")]
    assert serial == [("COPY", 100, 400), (odd, 100, 20)]
    # 20 rows a second x 0.2 ms
    assert answer(client, "mirror_serial_jobs")[0]["busiest_wait_pct"] == pytest.approx(0.4)
    locks = answer(client, "mirror_locking")
    assert [(row["job"], row["locks_ms_per_day"]) for row in locks] == [
        (odd, 100),  # of equal ones the longer wait
        ("ORDERS", 50),
        ("ORDERS2", 50),
    ]
    assert (locks[0]["record_locks_held_max"], locks[0]["changes_a_commit"], locks[0]["lock_wait_ms_per_day"]) == (
        7,
        2,
        2000,
    )
    assert locks[1]["lock_wait_ms_per_day"] is None  # its waits were not collected
    [copied] = answer(client, "mirror_copy_blocking")
    assert (copied["job"], copied["inserts_ms_per_day"]) == ("COPY", 400)
    drawn = client.rows(expand(charts()["mirror_cost"].query, SHOWN, {"system": ("ibmi",)}))
    assert [(row["Job"], row["Cost a day"]) for row in drawn] == [
        ("COPY", 400),
        ("ORDERS", 150),
        ("ORDERS2", 150),
        (odd, 120),
    ]

    # a release that does not count reads for update
    insert(client, "job", job(5, odd, 10, None, 0, 0, ts=NEXT))
    [unknown] = answer(client, "mirror_open_for_update")
    assert (unknown["unneeded_per_day"], unknown["reason"]) == (None, "the release does not count reads for update")
    drawn = client.rows(expand(charts()["mirror_cost"].query, SHOWN, {"system": ("ibmi",)}))
    assert {row["Job"] for row in drawn if row["Cost a day"] is None} == {odd}


def test_time_in_sql_is_not_taken_for_other_time_where_it_is_not_counted(client: ClickHouse) -> None:
    job = {"grouping": "job", "name": "PAY", "cpu_ms": 50_000}
    insert(client, "job_cpu", given(**job, sql_cpu_ms=20_000), given(**job, ts=NEXT))
    recorded = {"grouping": "partition", "name": "*", "cpu_ms": 0}
    insert(client, "job_cpu", given(**recorded), given(**recorded, ts=NEXT))
    shown = {"system": ("ibmi",), "grouping": ("job",), "name": ("PAY",)}
    rows = client.rows(expand(charts()["job_cpu"].query, SHOWN, shown))
    found = {name for row in rows for name, value in row.items() if value and name != "time"}
    assert [row["Other CPU"] for row in rows if row["In SQL"]] == [pytest.approx(0.3)]
    assert found == {"In SQL", "Other CPU", "CPU, SQL not counted"}


def test_changes_between_commits_are_not_known_where_rollbacks_are_not_reported(client: ClickHouse) -> None:
    """30 of 60 others are updates and deletes, with 10 inserts: 40 changes in 20 commits."""
    counted = {"logical_reads": 100, "logical_writes": 10, "logical_other": 60, "logical_reads_for_update": 0}
    work = {"job": "1/ANN/PAY", "job_name": "PAY", "command": "x", "commits": 20, **counted}
    insert(client, "job", given(**work, rollbacks=10), given(**work, ts=NEXT), given(**work, system="old"))
    begin, end = (datetime(2026, 5, day, tzinfo=UTC) for day in (4, 5))
    batch.compute(client, all_jobs()["io_mix"], begin, end)
    for system, changes in ("ibmi", 2), ("old", None):
        [row] = run_stored(client, queries()["changes_per_commit"], [system])
        assert row["changes_per_commit"] == changes
        assert "not reported" in row["reason"]
    [row] = run_stored(client, queries()["changes_per_commit"], ["ibmi"], until=TS[:-1].replace("T", " "))
    assert (row["commits_total"], row["changes"], row["changes_per_commit"], row["reason"]) == (20, 40, 2, None)
    [locking] = run_stored(client, queries()["mirror_locking"], ["old"])
    assert (locking["commits_per_day"], locking["changes_a_commit"]) == (20, None)


def test_shares_of_processors_and_the_cost_of_applying(client: ClickHouse) -> None:
    def cpu(grouping: str, name: str, ms: float) -> dict[str, Any]:
        return given(grouping=grouping, name=name, cpu_ms=ms, cpu_cores=ms / 100_000, tasks=1)

    insert(
        client,
        "job_cpu",
        cpu("partition", "*", 130_000),  # of jobs of other groups
        cpu("job", "QDBMSRVR", 50_000),
        cpu("accounting_code", "DEPT7", 20_000),
    )
    mix = {"logical_io": 110, "row_operations": 100, "reads": 0, "inserts": 60, "other": 50}
    insert(client, "io_mix", given(grouping="job", name="QDBMSRVR", split="four-way", exposure_pct=100, **mix))
    shares = {row["name"]: (row["cores_avg"], row["share_pct"]) for row in answer(client, "cpu_by_group")}
    assert shares == {"QDBMSRVR": (0.5, 25), "QDBMSR": (0.5, 25), "DEPT7": (0.2, 10)}
    [row] = answer(client, "mirror_apply")
    assert (row["changes"], row["cpu_us_per_change"]) == (100, 500_000)
    insert(client, "job", given(job="1/QSYS/QDBMSRVR", job_name="QDBMSRVR", command="x", ts=NEXT))
    insert(client, "io_mix", given(grouping="job", name="QDBMSRVR", split="four-way", ts=NEXT, **mix))
    [row] = answer(client, "mirror_apply")
    assert (row["changes"], row["cpu_us_per_change"], row["cores_when_present"]) == (200, 500_000, 0.5)


def test_time_in_which_the_processor_time_of_a_group_is_unknown_is_left_out(client: ClickHouse) -> None:
    known = given(grouping="job", name="QDBMSRVR", cpu_ms=50_000, tasks=1)
    insert(client, "job_cpu", known, {**known, "cpu_ms": None, "ts": NEXT})
    assert {row["name"]: row["cores_avg"] for row in answer(client, "cpu_by_group")}["QDBMSRVR"] == 0.5


def test_processors_are_busy_of_what_is_configured(client: ClickHouse) -> None:
    """Of 2.5 processors for 100 s, 200 s of CPU are 80 %, by 2 processors; twice that in another interval."""
    cpu = {"engine_type": "core", "engine": "all", "configured_cpu_ms": 250_000}
    used = ((TS, 200_000), (NEXT, 400_000))
    insert(client, "system_cpu", *(given(**cpu, cpu_ms=ms, busy_pct=ms / 2500, ts=ts) for ts, ms in used))
    [row] = answer(client, "cpu")
    assert (row["cpu_pct_avg"], row["cpu_pct_max"], row["engine_type"]) == (120, 160, "core")
    assert (row["processors_avg"], row["processors_max"], row["entitled_pct_avg"]) == (3, 4, None)
    threads = {"cpu_base": "logical", "logical_engines": 32, "user_pct": 50, "sys_pct": 0, "entitled_cores": 4}
    insert(client, "system_cpu", given(engine_type="core", engine="all", system="linux", **threads))
    [row] = run_stored(client, queries()["cpu"], ["linux"])
    assert (row["processors_avg"], row["entitled_pct_avg"]) == (16, None), "threads are no share of cores"


def test_cursors_that_are_counted_for_longer_than_an_interval_are_not_added_up(client: ClickHouse) -> None:
    """Of 8 opens 6 may be of SQL; where SQL has opened 9 of 5, its cursors are those since the job began."""

    def job(ts: str, full: float, sql: float, system: str = "ibmi") -> dict[str, Any]:
        opens = {"full_opens": full, "sql_full_opens": sql, "sql_pseudo_opens": 3 * sql}
        return given(job="QPADEV0001", job_name="QPADEV0001", command="x", **opens, ts=ts, system=system)

    insert(client, "job", job(TS, 8, 6), job(NEXT, 2, 2), job(TS, 4, 4, "running"), job(NEXT, 5, 9, "running"))
    rows = {row["system"]: row for row in run_stored(client, queries()["file_opens"], ["ibmi", "running"])}
    names = ("full_opens_total", "sql_full_opens_total", "sql_pseudo_opens_total", "sql_full_pct")
    assert [rows["ibmi"][name] for name in names] == [10, 8, 24, 25]
    assert [rows["running"][name] for name in names] == [9, None, None, None]


def test_exposure_over_a_period_is_weighted_by_operations(client: ClickHouse) -> None:
    one: dict[str, Any] = {"grouping": "generic_job", "name": "ORDERS", "split": "four-way"}
    first = {"logical_io": 100, "reads": 80, "read_for_update": 30, "inserts": 10, "other": 10, "exposure_pct": 50}
    first |= {"row_operations": 100}
    second = {"logical_io": 300, "reads": 300, "read_for_update": 0, "inserts": 0, "other": 0, "exposure_pct": 0}
    second |= {"row_operations": 300}
    insert(client, "io_mix", given(**one, **first), given(**one, **second, ts=NEXT))
    [row] = answer(client, "io_mix")
    assert (row["split"], row["exposure_pct"], row["read_for_update_pct"]) == ("four-way", 12.5, 7.5)
    insert(
        client,
        "io_mix",
        given(**one | {"split": "three-way"}, **first | {"read_for_update": None}) | {"system": "old"},
    )
    [row] = run_stored(client, queries()["io_mix"], ["old"])
    assert (row["split"], row["read_for_update_pct"], row["exposure_is"]) == ("three-way", None, "at least")
    # by pool, which io_mix has not: commits are left out where they are known, and may be in other where they are not
    counted = {"logical_reads": 80, "logical_writes": 10, "logical_other": 30, "command": "x"}
    insert(client, "job", given(job="1", job_pool="2", commits=15, rollbacks=5, **counted))
    insert(client, "job", given(job="2", job_pool="3", **counted))
    rows = client.rows("SELECT * FROM counterflow.io_by(grouping = 'pool') ORDER BY name")
    exposed = [(row["row_operations"], row["exposed"], row["commits_counted_in"]) for row in rows]
    assert exposed == [(100, 20, False), (120, 40, True)]
    shown = {"system": ("ibmi",), "grouping": ("pool",), "at": ("",)}
    drawn = client.rows(expand(charts()["group_table"].query, SHOWN, shown))
    assert [(row["Name"], row["Exposure"]) for row in drawn] == [("2", 20), ("3", pytest.approx(100 / 3))]


def pool(ts: str, faults: float, disk_ms: float, *jobs: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a pool, its jobs and a disk over 100 s."""
    yield "pool", given(pool="3", faults=faults, ts=ts)
    served = {"transfers": 10, "service_ms": disk_ms, "wait_ms": 0}
    yield "disk", given(disk="D", device_type="disk", leaf=True, **served, ts=ts)
    for number, job in enumerate(jobs):
        yield "job", given(job=str(number), command="x", job_pool="03", **job, ts=ts)


def test_memory_advice_over_a_period_is_weighted_by_transactions(client: ClickHouse) -> None:
    """Capabilities Reference 19.6: 50 faults/s of 8 ms; 20 transactions/s of .4 s, then 1 of .4 s, all of it faults."""
    for ts, transactions in ((TS, 2000), (NEXT, 100)):
        job = {"job_type": "I", "transactions": transactions, "response_s": 0.4 * transactions}
        for table, row in pool(ts, 5000, 8, job):
            insert(client, table, row)
    [row] = answer(client, "pool_faulting")
    assert (row["interactive_fault_pct"], row["interactive_max_pct"]) == (9.5, 100)  # (.4 + .4) / (8 + .4)
    assert row["batch_fault_to_work_pct"] is None


def test_a_response_is_that_of_the_transactions_whose_time_is_known(client: ClickHouse) -> None:
    """Of 2,000 and 500 transactions, the response of the former is known; in the next interval, that of none."""
    slow, unknown = given(transactions=2000, response_s=800), given(transactions=500)
    for ts, jobs in ((TS, (slow, unknown)), (NEXT, (unknown,))):
        for table, row in pool(ts, 5000, 8, *[{"job_type": "I", "job_name": "PAY", **job} for job in jobs]):
            insert(client, table, row)
    [faults] = answer(client, "pool_faulting")
    assert faults["interactive_fault_pct"] == 4  # 40 s in faults / 2,500 of 0.4 s
    [response] = answer(client, "response_of_jobs")
    found = (response["transactions_total"], response["response_s_avg"], response["worst_interval_response_s"])
    assert found == (3000, 0.4, 0.4)
    shown = {"system": ("ibmi",), "grouping": ("job",), "name": ("PAY",)}
    [summary] = client.rows(expand(charts()["job_summary"].query, SHOWN, shown))
    assert summary["Response"] == 0.4


def test_jobs_that_were_collected_at_other_intervals_state_nothing_of_a_pool(client: ClickHouse) -> None:
    """Fifty faults a second, in the second interval too, at whose end the jobs of both were counted."""
    job = {"job_type": "B", "cpu_ms": 20_000}
    for ts, jobs in ((TS, (job,)), (NEXT, ({**job, "interval_s": 200},))):
        for table, row in pool(ts, 5000, 8, *jobs):
            insert(client, table, row)
    found = client.rows(
        "SELECT faults_per_s, batch_fault_to_work_pct, batch_missing FROM counterflow.pool_faulting ORDER BY ts"
    )
    assert [list(row.values()) for row in found] == [[50, pytest.approx(200 / 3), None], [50, None, "batch jobs"]]


def test_batch_is_weighed_by_the_jobs_whose_processor_time_is_known(client: ClickHouse) -> None:
    """A job is at a processor 20 % of the time, in faults 60 %; of two more in the next interval nothing is known."""
    for ts, faults, jobs in ((TS, 6000, ({"cpu_ms": 20_000},)), (NEXT, 9000, ({}, {}))):
        for table, row in pool(ts, faults, 10, *[{"job_type": "B", **job} for job in jobs]):
            insert(client, table, row)
    [row] = answer(client, "pool_faulting")
    assert row["batch_fault_to_work_pct"] == 75
    [inputs] = measured(client, restricted(["ibmi"], BEGINNING, END)).values()
    assert (inputs["pool", "3"]["batch_jobs"], inputs["pool", "3"]["batch_cpu_pct"]) == (1.5, 20)


def test_memory_advice_for_batch_is_the_time_in_faults_of_the_time_in_faults_and_at_processors(
    client: ClickHouse,
) -> None:
    """Four jobs, each 60 % of the time in faults and 20 % at a processor; then one, 10 % and 90 %."""
    for ts, faults, jobs, cpu_ms in ((TS, 24_000, 4, 20_000), (NEXT, 1000, 1, 90_000)):
        for table, row in pool(ts, faults, 10, *[{"job_type": "B", "cpu_ms": cpu_ms}] * jobs):
            insert(client, table, row)
    [row] = answer(client, "pool_faulting")
    # (4 x 60 + 10) of (4 x 80 + 100), where the mean of both shares is 42.5
    assert (row["batch_fault_to_work_pct"], row["batch_max_pct"]) == (59.5, 75)
    drawn = client.rows(expand(charts()["pool_fault_worst"].query, SHOWN, {"system": ("ibmi",)}))
    assert max(row["Value"] for row in drawn) == 75  # 60 of 60 + 20

"""Charts of IBM i on rows whose pictures are plain to work out: from an overview to one job, and what is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.dashboards.build import panel
from counterflow.dashboards.definition import boards, charts, variable_of, variables
from counterflow.dashboards.macros import Range, expand
from counterflow.pipelines.landing.rollups import refresh
from counterflow.stack.settings import StackSettings
from tests.support.behind import behind
from tests.support.tables import empty_tables, insert, insert_each

Row = dict[str, Any]

BEGIN = datetime(2026, 5, 4, 9, tzinfo=UTC)
QUARTERS = [BEGIN + timedelta(minutes=15 * n) for n in range(1, 5)]
ODD = "O'BAT\\CH<b>"
FOUR, THREE = "SYSA", "SYS'B"
"""Systems: one whose release counts reads for update, one whose release does not."""
THREE_WAY = "Reads, 3-way: reads for update not counted"
GROUPINGS = ("thread", "job", "generic_job", "user", "subsystem", "pool", "job_type")


def stamped(ts: datetime, **columns: Any) -> Row:
    return {"ts": ts.isoformat(), "interval_s": 900, **columns}


def jobs(system: str, ts: datetime, n: int) -> Iterator[Row]:
    """Yield two threads of one job, and one of a job without logical I/O; `n` scales their work."""
    ann = {"job_user": "ANN", "subsystem": "QBATCH", "job_pool": "2", "job_type": "B"}
    for task in ("0A", "0B"):
        yield stamped(
            ts, system=system, job=f"1/ANN/{ODD}/{task}", task=task, command="x", job_name=ODD, **ann,
            cpu_ms=45_000 * n, sql_cpu_ms=9_000 * n, logical_reads=9000 * n, logical_writes=900 * n,
            logical_other=450 * n, logical_reads_for_update=1800 * n if system == FOUR else None,
            sync_db_reads=90, sync_nondb_reads=0, page_faults=18, commits=0, rollbacks=0,
        )  # fmt: skip
    joe = {"job_user": "JOE", "subsystem": "QINTER", "job_pool": "3", "job_type": "I"}
    yield stamped(ts, system=system, job="2/JOE/PAY/0C", task="0C", command="x", job_name="PAY", **joe, cpu_ms=9000 * n)


def results(system: str, ts: datetime, n: int) -> Iterator[tuple[str, Row]]:
    """Return what the Flink job computes from `jobs`, and how long they waited."""
    counts = {"logical_io": 20_700 * n, "reads": 18_000 * n, "inserts": 1800 * n, "other": 900 * n}
    counts |= {"row_operations": 20_700 * n}
    parted = {"split": "four-way", "read_only": 14_400 * n, "read_for_update": 3600 * n, "exposure_pct": 630 / 20.7}
    split = parted if system == FOUR else {"split": "three-way", "exposure_pct": 270 / 20.7}
    batch = {"partition": "*", "job": ODD, "generic_job": ODD[:6], "user": "ANN", "subsystem": "QBATCH"}
    for grouping, name in batch.items():
        yield "io_mix", stamped(ts, system=system, grouping=grouping, name=name, **counts, **split)
    none = dict.fromkeys(("journaling_s", "operating_system_contention_s", "lock_contention_s", "ineligible_s"), 0)
    for name in ("0A", "0B"):
        waited = {"dispatched_cpu_s": 45 * n, "cpu_queueing_s": 9, "disk_s": 18, "other_s": 500, "total_s": 600}
        yield from waits(stamped(ts, system=system, task=name, **none, **waited))
    whole = {**none, "dispatched_cpu_s": 450 * n, "cpu_queueing_s": 90, "disk_s": 180, "other_s": 9000, "total_s": 9900}
    yield from waits(stamped(ts, system=system, task="*", **whole))


def waits(row: Row) -> Iterator[tuple[str, Row]]:
    """Yield the waits of a task, whose job is in `jobs`."""
    return ((dataset, counter) for dataset, counter in behind("wait_signature", row) if dataset == "wait")


@pytest.fixture(scope="module")
def client(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    with empty_tables(clickhouse) as admin:
        rows: list[tuple[str, Row]] = []
        for number, ts in enumerate(QUARTERS, 1):
            for system in (FOUR, THREE):
                if (system, number) == (THREE, 3):  # was not collected
                    continue
                rows += (("job", job) for job in jobs(system, ts, number))
                rows += results(system, ts, number)
                busy = stamped(ts, system=system, engine_type="core", engine="all", busy_pct=10 * number)
                counted = stamped(ts, system=system, counted="job", row_count=3, source="ibmi_tables.QAPMJOBMI")
                rows += [("system_cpu", busy), ("manifest", counted)]
        insert_each(admin, rows, source="ibmi_tables")
        refresh(admin)
        yield admin


def drawn(client: ClickHouse, chart: str, /, *systems: str, bucket_s: int = 900, **chosen: str) -> list[Row]:
    """Return the rows of a chart over the hour that has data; a variable that is not in `chosen` is as on load."""
    values = {"system": systems or (FOUR,), "grouping": "generic_job", "at": "", "name": "", "link": "", **chosen}
    return client.rows(expand(charts()[chart].query, Range(BEGIN, QUARTERS[-1], bucket_s), values))


def shown(ts: datetime) -> str:
    return f"{ts:%Y-%m-%d %H:%M:%S}"


def clicked(ts: datetime) -> str:
    return str(int(ts.timestamp() * 1000))


def within(end: datetime, bucket_s: int = 900) -> str:
    """Return the instant in a link to the bucket that ends at `end`: its middle."""
    return clicked(end - timedelta(seconds=bucket_s / 2))


def test_logical_io_has_the_four_parts_where_they_are_counted_and_three_where_not(client: ClickHouse) -> None:
    quiet = {"Read only": 16, "Read for update": 4, THREE_WAY: None, "Inserts": 2, "Other": 1, "Busiest interval": None}
    rows = drawn(client, "logical_io")
    assert rows[0] == {"time": shown(QUARTERS[0]), **quiet}
    assert [row["Read only"] for row in rows] == [16, 32, 48, 64]
    rows = drawn(client, "logical_io", THREE)
    assert rows[0] == {"time": shown(QUARTERS[0]), **quiet, "Read only": None, "Read for update": None, THREE_WAY: 20}
    # a gap, not nothing done
    assert rows[2] == {"time": shown(QUARTERS[2]), **dict.fromkeys(quiet)}
    assert rows[3][THREE_WAY] == 80
    both = drawn(client, "logical_io", FOUR, THREE)[1]
    assert (both["Read only"], both[THREE_WAY], both["Inserts"]) == (32, 40, 8)


def test_a_bar_longer_than_an_interval_keeps_its_busiest_one(client: ClickHouse) -> None:
    first, second = drawn(client, "logical_io", bucket_s=1800)
    assert (first["time"], first["Read only"], first["Busiest interval"]) == (shown(QUARTERS[1]), 24, 46)
    assert (second["time"], second["Read only"], second["Busiest interval"]) == (shown(QUARTERS[3]), 56, 92)
    # its ranking is of the same time
    [row] = drawn(client, "logical_io_ranking", bucket_s=1800, at=within(QUARTERS[1], 1800))
    assert (row["name"], row["Read only"], row["Inserts"]) == (ODD[:6], 24, 3)


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_the_ranking_of_an_interval_is_its_bar(client: ClickHouse, grouping: str) -> None:
    for bar in drawn(client, "logical_io"):
        at = within(datetime.fromisoformat(bar["time"]).replace(tzinfo=UTC))
        rows = drawn(client, "logical_io_ranking", grouping=grouping, at=at)
        for series in ("Read only", "Read for update", "Inserts", "Other"):
            assert sum(row[series] for row in rows) == pytest.approx(bar[series])
        assert {row[THREE_WAY] for row in rows} == {None}


@pytest.mark.parametrize("hours", [1, 24])
def test_a_click_anywhere_on_a_bar_opens_its_interval(client: ClickHouse, hours: int) -> None:
    """Drawn, picked and opened as Grafana does: the nearest point of the JSON's query, its instant in the link."""
    shown = Range(QUARTERS[-1] - timedelta(hours=hours), QUARTERS[-1], 1 if hours == 1 else 300)
    chosen = {"system": (FOUR,), "grouping": "job"}
    bars = panel(charts()["logical_io"], boards()["cf-logical-io"])
    custom = bars["fieldConfig"]["defaults"]["custom"]
    assert (custom["drawStyle"], custom["barAlignment"], custom["barWidthFactor"]) == ("bars", 0, 1)
    points = client.rows(expand(bars["targets"][0]["rawSql"], shown, chosen))
    tall = {
        datetime.fromisoformat(one["time"]).replace(tzinfo=UTC): one["Value"]
        for one in points
        if one["series"] == "Read only"
    }
    at = list(tall)
    width = min(later - earlier for earlier, later in pairwise(at))
    assert width == timedelta(minutes=15), "as wide as the intervals of the data, whatever Grafana requests"
    [link] = bars["fieldConfig"]["defaults"]["links"]
    assert "&var-at=${__value.time}" in link["url"]
    ranked = panel(charts()["logical_io_ranking"], boards()["cf-job-ranking"])["targets"][0]["rawSql"]
    for n, end in enumerate(QUARTERS, 1):
        for cursor in (end - width * share for share in (0.99, 0.7, 0.5, 0.3, 0.01)):
            picked = min(at, key=lambda moment: abs(moment - cursor))
            assert picked - width / 2 <= cursor <= picked + width / 2, "it is the bar below the cursor"
            [row] = client.rows(expand(ranked, shown, {**chosen, "at": clicked(picked)}))
            assert row["Read only"] == tall[picked] == 16 * n


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_every_grouping_has_cpu_waits_and_one_job_over_time(client: ClickHouse, grouping: str) -> None:
    at = within(QUARTERS[1])
    waits = drawn(client, "wait_ranking", grouping=grouping, at=at)
    assert sum(row["Dispatched CPU"] for row in waits) == pytest.approx(180)
    assert sum(row["Disk"] for row in waits) == pytest.approx(36)
    name = waits[0]["name"]
    share = 1 / len(waits)
    over_time = drawn(client, "job_waits", grouping=grouping, name=name)
    assert [row["Dispatched CPU"] for row in over_time] == pytest.approx([n * 0.1 * share for n in (1, 2, 3, 4)])
    assert [row["Read only"] for row in drawn(client, "job_logical_io", grouping=grouping, name=name)] == pytest.approx(
        [n * 16 * share for n in (1, 2, 3, 4)]
    )
    reads = drawn(client, "job_disk_io", grouping=grouping, name=name)
    assert {row["Synchronous reads"] for row in reads} == {0.2 * share}
    [summary] = drawn(client, "job_summary", grouping=grouping, name=name)
    assert (summary["Name"], summary["CPU"]) == (name, pytest.approx(900 * share))


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_a_board_of_one_job_opens_with_the_heaviest(client: ClickHouse, grouping: str) -> None:
    sql = variables()["name"].sql or ""
    chosen = {"system": (FOUR,), "grouping": grouping}
    heaviest, *others = client.rows(expand(sql, Range(BEGIN, QUARTERS[-1]), chosen))
    assert ODD[:6] in heaviest["name"] or heaviest["name"] in ("ANN", "QBATCH", "2", "B")
    [row] = drawn(client, "job_summary", grouping=grouping, name=heaviest["name"])
    assert row["CPU"] == pytest.approx(450 if grouping == "thread" else 900)
    if grouping in ("thread", "pool"):
        assert [row["name"] for row in others][-1] in ("2/JOE/PAY/0C", "3")
    assert drawn(client, "job_summary", name="' OR 1 = 1 --") == []


def test_exposure_is_a_lower_bound_where_reads_for_update_are_not_counted(client: ClickHouse) -> None:
    [row] = drawn(client, "mirror_exposure", at=within(QUARTERS[0]))
    assert (row["Split"], row["Exposure"]) == ("4-way", pytest.approx(100 * 6300 / 20_700))
    for grouping in ("generic_job", "pool"):
        [row] = drawn(client, "mirror_exposure", THREE, grouping=grouping, at=within(QUARTERS[0]))
        assert (row["Split"], row["Read for update"]) == ("3-way: at least", None)
        assert row["Exposure"] == pytest.approx(100 * 2700 / 20_700)
    line = drawn(client, "exposure", THREE)
    assert {row["Exposure"] for row in line} == {None}
    assert [row["Exposure, at least (3-way)"] is None for row in line] == [False, False, True, False]


def test_waits_are_tasks_on_average_with_cpu_beside_them(client: ClickHouse) -> None:
    rows = drawn(client, "wait_signature")
    assert [(row["Dispatched CPU"], row["Disk"], row["CPU"]) for row in rows] == [
        pytest.approx((n * 0.5, 0.2, n * 10)) for n in (1, 2, 3, 4)
    ]
    both = drawn(client, "wait_signature", FOUR, THREE)
    assert (both[1]["Dispatched CPU"], both[1]["CPU"]) == (2, 20)


def test_the_rest_beyond_the_largest_is_others(client: ClickHouse) -> None:
    crowd = [
        stamped(QUARTERS[0], system="CROWD", grouping=grouping, name=name, logical_io=n, split="three-way")
        for grouping, name, n in (
            ("partition", "*", 9000 * 20),
            *(("generic_job", f"JOB{number:03}", 9000) for number in range(20)),
        )
    ]
    insert(client, "io_mix", *crowd)
    rows = drawn(client, "logical_io_by_group", "CROWD")
    assert len(rows) == 13
    assert {row["series"]: row["Value"] for row in rows}["others"] == 80
    assert sum(row["Value"] for row in rows) == 200


@pytest.mark.parametrize(
    ("columns", "busy_pct", "processors"),
    [
        ({"busy_pct": 120.0, "cpu_ms": 1_800_000.0}, 120, 2),
        ({"cpu_base": "logical", "user_pct": 30.0, "sys_pct": 20.0, "logical_engines": 8.0}, 50, 4),
        ({"busy_pct": 25.0, "logical_engines": 6.0}, 25, 1.5),
        ({"cpu_base": "floating", "user_pct": 60.0, "physical_consumed_cores": 1.5, "entitled_cores": 2.0}, 75, 1.5),
        ({"cpu_base": "floating", "user_pct": 60.0, "sys_pct": 10.0, "logical_engines": 8.0}, None, None),
    ],
)
def test_processor_load_is_one_figure_for_every_recorder(
    client: ClickHouse, columns: Row, busy_pct: float | None, processors: float | None
) -> None:
    system = f"cpu {columns}"
    insert(client, "system_cpu", stamped(QUARTERS[0], system=system, engine_type="core", engine="all", **columns))
    where = {"param_system": system}
    [row] = client.rows("SELECT * FROM counterflow.processor_load WHERE system = {system:String}", where)
    assert (row["busy_pct"], row["processors"]) == (busy_pct, processors)


def test_a_board_of_one_system_begins_with_one_that_has_its_counters(client: ClickHouse) -> None:
    insert(client, "manifest", stamped(QUARTERS[2], system=THREE, counted="wait", row_count=3))
    counted = stamped(QUARTERS[2], system="AIX", counted="job", row_count=3)
    insert(client, "manifest", {**counted, "source": "nmon"})
    shown_range = Range(BEGIN, QUARTERS[-1], 900)

    def listed(board: str) -> list[str]:
        variable = variable_of(boards()[board], "system")
        assert variable.sql
        assert not variable.all
        return [row["system"] for row in client.rows(expand(variable.sql, shown_range, {}))]

    assert THREE in listed("cf-system")
    with_jobs = [listed("cf-job").index(system) for system in (FOUR, THREE)]
    assert listed("cf-job").index("AIX") > max(with_jobs), "its jobs have no logical I/O, no waits and no groups"
    assert listed("cf-job-ranking")[0] == THREE, "the others have no waits"
    assert sorted(listed("cf-job-ranking")) == sorted(listed("cf-system")), "the others are there all the same"


def test_a_capped_link_stands_below_its_capacity_among_its_neighbours(client: ClickHouse) -> None:
    pair = {"link": "MIRROR_DATABASE", "link_type": "nrg", "group": "PAIR", "line_bits_s": 1e11, "capacity_pct": 3.0}
    port = {"phys_out_bytes_s": 11e9, "phys_in_bytes_s": 11e9}
    links = [
        stamped(ts, system=system, **pair, **port, own_out_bytes_s=out, own_in_bytes_s=1e8, adapter_share_pct=share)
        for ts, out, share in zip(QUARTERS, (5e8, 5e8, 2e8, None), (4.5, 4.5, 1.8, None), strict=True)
        for system in (FOUR, THREE)
    ]
    insert(client, "link_load", *links)
    states = zip(QUARTERS, ("OK", "OK", "CAPPED", "CAPPED"), (0, 0, 2, 2), strict=True)
    judged = {"rule": "roce_cap", "entity_type": "nrg", "entity": "MIRROR_DATABASE", "stale": False, "reason": "r"}
    verdicts = [
        stamped(
            ts, system=FOUR, **judged, state=state, since=QUARTERS[since].isoformat(), evidence="{}", parameters="p"
        )
        for ts, state, since in states
    ]
    insert(client, "verdict", *verdicts)
    link = f"{FOUR} / MIRROR_DATABASE"
    own = drawn(client, "link_own", link=link)
    assert [(row["Sent"], row["Guaranteed"]) for row in own] == [
        (5e8, 375e6),
        (5e8, 375e6),
        (2e8, 375e6),
        (None, 375e6),
    ]
    assert [row["Own share"] for row in drawn(client, "link_share", link=link)] == [4.5, 4.5, 1.8, None]
    around = drawn(client, "link_neighbours", link=link)
    assert [row["Neighbours"] for row in around] == [10.5e9, 10.5e9, 10.8e9]
    skew = {row["series"]: row["Value"] for row in drawn(client, "node_skew", link=link)}
    assert skew[f"MIRROR_DATABASE, {FOUR} to {THREE}"] == 50
    spells = [
        (row["time"][11:16], row["time_end"][11:16], row["state"]) for row in drawn(client, "cap_verdict", link=link)
    ]
    assert spells == [("09:00", "09:30", "OK"), ("09:30", "10:00", "CAPPED")]
    [found] = drawn(client, "verdict_list")
    assert (found["System"], found["from_ms"]) == (FOUR, clicked(BEGIN - timedelta(minutes=15)))


def test_the_fleet_lists_every_system_with_what_is_known_of_it(client: ClickHouse) -> None:
    insert(client, "manifest", stamped(QUARTERS[2], system="SILENT", counted="job", row_count=0))
    old = BEGIN - timedelta(days=2)
    gone = {"rule": "roce_cap", "entity_type": "nrg", "entity": "GONE", "stale": False, "reason": "r", "evidence": "{}"}
    insert(
        client, "verdict", stamped(old, system="SILENT", **gone, state="CAPPED", since=old.isoformat(), parameters="p")
    )
    rows = {row["System"]: row for row in drawn(client, "fleet_table")}
    assert (rows[FOUR]["CPU"], rows[FOUR]["Busiest interval"]) == (25, 40)
    assert (rows["SILENT"]["CPU"], rows["SILENT"]["Newest"]) == (None, shown(QUARTERS[2]))
    assert rows["SILENT"]["Worst verdict"] is None, "a verdict of the day before yesterday is no state of today"

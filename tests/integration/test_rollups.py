"""The tables by hour equal a computation from the rows that count, however often and in whatever batches these land."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.landing import rollups
from counterflow.pipelines.landing.rollups import refresh
from counterflow.schemas import clickhouse_rollups
from counterflow.schemas.clickhouse_rollups import statements
from counterflow.schemas.definition import datasets
from tests.support.tables import insert_each as land

Row = dict[str, Any]
Batch = list[tuple[str, Row]]

TEN = datetime(2026, 11, 20, 10, tzinfo=UTC)


def at(ts: datetime, system: str = "lpar1", *, agent: str = "a", again_s: int = 0, **columns: Any) -> Row:
    read = ts + timedelta(seconds=1 + again_s)
    envelope = {"ts": ts.isoformat(), "interval_s": 15, "system": system, "source": "nmon", "agent_id": agent, "seq": 1}
    return {**envelope, "collected_at": read.isoformat(), **columns}


def disk(ts: datetime, name: str, reads: float | None, **columns: Any) -> tuple[str, Row]:
    return "disk", at(ts, disk=name, device_type="disk", leaf=True, reads=reads, **columns)


def cpu(ts: datetime, busy_pct: float | None, **columns: Any) -> tuple[str, Row]:
    return "system_cpu", at(ts, engine_type="core", engine="all", busy_pct=busy_pct, **columns)


def manifest(ts: datetime, row_count: int, **columns: Any) -> tuple[str, Row]:
    return "manifest", at(ts, counted="disk", row_count=row_count, **columns)


def counter(ts: datetime, name: str, value: float, **columns: Any) -> tuple[str, Row]:
    return "counter", at(ts, section="VM", instance="", counter=name, value=value, **columns)


def assert_whole(client: ClickHouse, landed: Batch) -> None:
    """Assert that the tables by hour hold what the rows that count add up to: of each key the one collected last."""
    counting: dict[tuple[Any, ...], tuple[str, Row]] = {}
    for table, row in sorted(landed, key=lambda one: one[1]["collected_at"]):
        counting[table, *(row[name] for name in datasets()[table].key)] = table, row
    values: dict[tuple[str, ...], list[float]] = defaultdict(list)
    loads: dict[tuple[str, ...], list[float]] = defaultdict(list)
    arrived: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for table, row in counting.values():
        hour = ended(row["ts"])
        if table == "disk" and row["reads"] is not None:
            values["disk.reads", row["system"], row["disk"], hour].append(row["reads"])
        elif table == "counter":
            values[f"counter.VM.{row['counter']}", row["system"], "", hour].append(row["value"])
        elif table == "system_cpu" and row["busy_pct"] is not None:
            values["system_cpu.busy_pct", row["system"], "core/all", hour].append(row["busy_pct"])
            loads[row["system"], hour].append(row["busy_pct"])
        elif table == "manifest":
            arrived[row["system"], hour].append(row["row_count"])
    metrics = client.rows(
        "SELECT metric, system, instance, toString(ts) AS hour, n, total, lo, hi FROM counterflow.metric_hour"
    )
    assert {tuple(row.values())[:4]: tuple(row.values())[4:] for row in metrics} == {
        key: (len(of), sum(of), min(of), max(of)) for key, of in values.items()
    }
    assert len(metrics) == len(values)
    loaded = client.rows(
        "SELECT system, toString(ts) AS hour, seconds, busy_pct_s, busy_pct_max"
        " FROM counterflow.processor_load_1h FINAL WHERE seconds > 0"
    )
    assert {tuple(row.values())[:2]: tuple(row.values())[2:] for row in loaded} == {
        key: (15 * len(of), 15 * sum(of), max(of)) for key, of in loads.items()
    }
    landings = client.rows("SELECT system, toString(hour) AS hour, intervals, row_count FROM counterflow.arrival FINAL")
    assert {tuple(row.values())[:2]: tuple(row.values())[2:] for row in landings} == {
        key: (len(of), sum(of)) for key, of in arrived.items()
    }


def ended(ts: str) -> str:
    """Return the end of the hour that an interval ends in."""
    hour = math.ceil(datetime.fromisoformat(ts).timestamp() / 3600) * 3600
    return f"{datetime.fromtimestamp(hour, UTC):%F %T}"


def interval(ts: datetime, scale: int = 1, **columns: Any) -> Batch:
    return [
        disk(ts, "hdisk0", 2.0 * scale, **columns),
        disk(ts, "hdisk1", 8.0 * scale, **columns),
        counter(ts, "pgin", -1.0 * scale, **columns),
        counter(ts, "pgout", 4.0 * scale, **columns),
        cpu(ts, 0.5 * scale, **columns),
        manifest(ts, 2 * scale, **columns),
    ]


BATCH = [
    one
    for scale, ts in enumerate((TEN, TEN + timedelta(milliseconds=1), TEN + timedelta(minutes=30)), 1)
    for one in interval(ts, scale)
]
"""Intervals of two hours: the first ends with its hour."""
NEXT = [*interval(TEN + timedelta(minutes=59), 7), *interval(TEN + timedelta(minutes=1), 11, system="lpar2")]
OTHERS = [
    *interval(TEN + timedelta(minutes=30), 5, agent="b", again_s=60),
    disk(TEN + timedelta(milliseconds=1), "hdisk0", 1024.0, agent="b", again_s=60),
    disk(TEN, "hdisk0", None, agent="b", again_s=60),
    cpu(TEN, None, agent="b", again_s=60),
]
"""What another agent read of the same files later; of an hour's only values nothing is known any more."""


def test_hours_equal_the_rows_however_they_land(lander: ClickHouse) -> None:
    landed: Batch = []

    def then(batch: Batch) -> None:
        land(lander, batch)
        landed.extend(batch)
        refresh(lander)
        assert_whole(lander, landed)

    then(BATCH)
    then(BATCH)
    then([*BATCH[::2], *NEXT])
    then(OTHERS)
    then(BATCH)  # of the first agent, once more: what was collected later stays
    then([*interval(TEN - timedelta(days=40), 3), *interval(TEN - timedelta(minutes=10), 13)])
    refresh(lander)
    assert_whole(lander, landed)


def test_a_refresh_that_was_killed_is_completed_by_the_next(
    lander: ClickHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clickhouse_rollups, "MARGIN_S", 0)
    land(lander, BATCH)
    refresh(lander)
    land(lander, NEXT)
    first, _ = statements(datasets()["system_cpu"])
    every = {"param_since": "2026-11-20 00:00:00", "param_until": "2026-11-21 00:00:00"}
    lander.post(first, settings={"param_systems": ["lpar1"], **every})
    refresh(lander)
    assert_whole(lander, [*BATCH, *NEXT])


def test_only_what_was_touched_is_computed_again(lander: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clickhouse_rollups, "MARGIN_S", 0)
    assert refresh(lander) == 0
    land(lander, BATCH)
    assert refresh(lander) == 4 * 2, "four datasets in two hours"
    assert refresh(lander) == 0
    land(lander, [BATCH[-1]])
    assert refresh(lander) == 1


def test_an_hour_of_an_insert_that_was_under_way_is_computed_again(client: ClickHouse) -> None:
    """Its stamp is older than what was noted as computed, since an insert is stamped when it begins."""
    land(client, BATCH)
    refresh(client)
    for table in ("disk", "hour_touched"):
        client.post(f"TRUNCATE TABLE counterflow.{table} SYNC")
    land(client, [disk(TEN, "hdisk0", 512.0)])
    client.post("TRUNCATE TABLE counterflow.hour_touched SYNC")
    client.post(
        "INSERT INTO counterflow.hour_touched"
        " SELECT 'disk', 'lpar1', '2026-11-20 10:00:00', now64(3) - INTERVAL 2 MINUTE"
    )
    assert refresh(client) == 1
    [row] = client.rows(
        "SELECT total FROM counterflow.metric_hour"
        " WHERE metric = 'disk.reads' AND instance = 'hdisk0' AND ts = '2026-11-20 10:00:00'"
    )
    assert row == {"total": 512}


def test_a_back_fill_is_computed_piece_by_piece(lander: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of systems with few hours several together, of one with many its hours in turn; in as many calls as it takes."""
    monkeypatch.setattr(rollups, "HOURS", 5)
    monkeypatch.setattr(clickhouse_rollups, "MARGIN_S", 0)
    landed = [
        disk(TEN + timedelta(minutes=30 * place), "hdisk0", float(place), system=f"lpar{system}")
        for system, intervals in enumerate((48, 2, 2, 6, 2, 30))
        for place in range(intervals)
    ]
    land(lander, landed)
    calls = list(until_nothing(lander))
    assert len(calls) > 2
    assert sum(calls) == len({(row["system"], ended(row["ts"])) for _, row in landed})
    assert_whole(lander, landed)


def until_nothing(client: ClickHouse) -> Iterable[int]:
    while computed := refresh(client, seconds=0):
        yield computed


def waiting(minutes: int, task: str, disk_s: float | None, subsystem: str | None = "QBATCH", **columns: Any) -> Batch:
    """One task's row of waits over an interval, and that of its job."""
    ts = TEN + timedelta(minutes=minutes)
    bucket = {"bucket": 5, "bucket_name": "disk", "wait_group": "disk", "waits": 1}
    about = {"job": f"1/ANN/PAY{task}", "job_name": f"PAY{task}", "job_user": "ANN", "job_type": "B", "command": "PAY"}
    return [
        ("wait", at(ts, task=task, wait_ms=disk_s and 1000 * disk_s, **bucket, **columns)),
        ("job", at(ts, task=task, subsystem=subsystem, job_pool="2", **about, **columns) | {"source": "ibmi_tables"}),
    ]


def waited(client: ClickHouse, source: str, where: str = "true") -> list[Row]:
    """Return the seconds of each group that waited, of a view by interval or within a range."""
    sums = "sum(disk_s) AS disk_s, sum(held_up_s) AS held_up_s"
    grouped = "GROUP BY system, name HAVING held_up_s > 0 ORDER BY system, name"
    return client.rows(f"SELECT system, name, {sums} FROM counterflow.{source} WHERE {where} {grouped}")


def within(grouping: str, since: int, until: int, bucket_s: int = 3600) -> str:
    """Return the view of a range, from minute to minute."""
    begin, end = (f"{TEN + timedelta(minutes=edge):%F %T}" for edge in (since, until))
    return f"wait_within(grouping = '{grouping}', since = '{begin}', until = '{end}', bucket_s = {bucket_s})"


def assert_within(client: ClickHouse, grouping: str, since: int, until: int) -> None:
    """Assert that a range has the waits of its intervals."""
    begin, end = (f"'{TEN + timedelta(minutes=edge):%F %T}'" for edge in (since, until))
    expected = waited(client, f"wait_by(grouping = '{grouping}')", f"ts > {begin} AND ts <= {end}")
    assert expected
    assert waited(client, within(grouping, since, until)) == expected
    assert waited(client, within(grouping, since, until, bucket_s=60)) == expected


def test_waits_of_a_range_are_those_of_its_intervals(lander: ClickHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of a task whose time, subsystem or job becomes known later; each before and after it is summed."""
    monkeypatch.setattr(clickhouse_rollups, "MARGIN_S", 0)
    intervals = [waiting(minutes, task, n + 1) for n, minutes in enumerate((-45, 0, 15, 60, 61, 90)) for task in "AB"]
    late = [waiting(90, task, 64, system="lpar2") for task in "AC"]
    moved = [waiting(minutes, "A", 256, "QINTER", again_s=60) for minutes in (15, 60)]
    again = [*moved, waiting(60, "B", None, again_s=60)]
    for batches in (intervals, [[wait] for wait, _ in late], [[job] for _, job in late], again):
        land(lander, [row for batch in batches for row in batch])
        refresh(lander)
        for since, until in ((-61, 180), (1, 119), (14, 40), (0, 60), (59, 61)):
            assert_within(lander, "subsystem", since, until)
    for grouping in ("thread", "job", "generic_job", "user", "pool", "job_type"):
        assert_within(lander, grouping, -61, 180)
    assert waited(lander, within("subsystem", 0, 60)) == [
        {"system": "lpar1", "name": "QBATCH", "disk_s": 3, "held_up_s": 3},
        {"system": "lpar1", "name": "QINTER", "disk_s": 512, "held_up_s": 512},
    ]

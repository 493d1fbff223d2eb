"""The tables on a real engine: migrated once, exact under repeats, and compared with the definitions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.landing.rollups import refresh
from counterflow.schemas import clickhouse_ddl
from counterflow.schemas.definition import datasets
from counterflow.schemas.migrations import migrate, schema
from counterflow.stack.settings import StackSettings
from tests.support.tables import insert

TS = "2026-11-20T10:00:15Z"


@pytest.fixture
def admin(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    with clickhouse.clickhouse("admin") as client:
        client.post("DROP DATABASE IF EXISTS counterflow SYNC")
        yield client
        client.post("DROP DATABASE IF EXISTS counterflow SYNC")


def published(seq: int, agent: str = "a", **columns: Any) -> dict[str, Any]:
    envelope = {"ts": TS, "interval_s": 15, "system": "lpar1", "source": "nmon", "agent_id": agent, "seq": seq}
    return {**envelope, "collected_at": "2026-11-20T10:00:16Z", **columns}


def disk(seq: int, *, number: int | None = None, **columns: Any) -> dict[str, Any]:
    name = f"hdisk{seq if number is None else number}"
    return published(seq, disk=name, device_type="disk", leaf=True, **columns)


def result(n: int, **columns: Any) -> dict[str, Any]:
    return {"ts": TS, "interval_s": 15, "system": "lpar1", "n": n, **columns}


def one(client: ClickHouse, sql: str) -> dict[str, Any]:
    (row,) = client.rows(sql)
    return row


def test_an_empty_server_gets_every_part_and_then_nothing(admin: ClickHouse) -> None:
    assert migrate(admin) == list(schema().parts)
    assert migrate(admin) == []


def test_an_older_release_gets_migrations_and_its_rows_stay(admin: ClickHouse) -> None:
    """The release before lacked a column and a view; what it had inserted is there with a null."""
    ours = schema()
    migrate(admin)
    columns = "SELECT table, name, type, comment FROM system.columns WHERE database = 'counterflow' ORDER BY ALL"
    before = admin.rows(columns)
    admin.post("DROP DATABASE counterflow SYNC")
    table = clickhouse_ddl.table(datasets()["disk"])
    [(above, column)] = [two for two in itertools.pairwise(table.splitlines()) if two[1].startswith("  `protection`")]
    counters = ours.parts["counters"].replace(table, table.replace(f"{column}\n", ""))
    parts = {name: text for name, text in ours.parts.items() if name != "culprit"} | {"counters": counters}
    released = ours._replace(parts=parts)
    migrate(admin, released)
    insert(admin, "disk", disk(1))
    added = f"ADD COLUMN IF NOT EXISTS {column.strip().rstrip(',')} AFTER {above.split()[0]}"
    more = f"-- from {released.digest}\nALTER TABLE counterflow.disk {{on_cluster}} {added}"
    upgraded = ours._replace(migrations={"0001_protection": more})
    assert migrate(admin, upgraded) == ["0001_protection", *ours.parts]
    assert migrate(admin, upgraded) == []
    assert admin.rows(columns) == before
    assert one(admin, "SELECT disk, protection FROM counterflow.disk") == {"disk": "hdisk1", "protection": None}


def test_a_database_of_another_version_is_refused_unchanged_with_the_way_out(admin: ClickHouse) -> None:
    ours = schema()
    migrate(admin, ours._replace(parts={**ours.parts, "counters": ours.parts["counters"] + "-- changed\n"}))
    made = "SELECT name, create_table_query FROM system.tables WHERE database = 'counterflow' ORDER BY name"
    before = admin.rows(made)
    with pytest.raises(CounterflowError, match="created by another version, from which no migration leads") as caught:
        migrate(admin)
    assert caught.value.exit_code == 2
    assert "remove .counterflow" in str(caught.value.hint)
    assert admin.rows(made) == before


def test_tables_of_one_server_are_not_replaced_by_those_of_a_cluster(client: ClickHouse, lander: ClickHouse) -> None:
    insert(lander, "disk", disk(1))
    made = "SELECT database, name, engine FROM system.tables WHERE startsWith(database, 'counterflow') ORDER BY ALL"
    before = client.rows(made)
    with pytest.raises(CounterflowError, match="has the tables of one server") as caught:
        migrate(client, cluster="counterflow")
    assert caught.value.exit_code == 2
    assert client.rows(made) == before
    assert one(client, "SELECT count() AS n FROM counterflow.disk") == {"n": 1}


def test_a_creation_that_was_interrupted_is_completed(admin: ClickHouse) -> None:
    ours = schema()
    with pytest.raises(ClickHouseError):
        migrate(admin, ours._replace(parts={**ours.parts, "rollups": "SELECT nothing"}))
    assert migrate(admin) == list(ours.parts)


def test_the_newest_reading_of_a_key_wins_whatever_lands_last(lander: ClickHouse) -> None:
    newer = disk(9, number=1, busy_pct=2.0) | {"collected_at": "2026-11-21T10:00:00Z"}
    insert(lander, "disk", newer)
    insert(lander, "disk", disk(1, busy_pct=1.0))
    assert one(lander, "SELECT count() AS n, sum(busy_pct) AS busy FROM counterflow.disk FINAL") == {
        "n": 1,
        "busy": 2.0,
    }


def test_a_system_is_listed_whichever_counters_it_has(lander: ClickHouse) -> None:
    """Monitor tables, records of OMEGAMON and workloads yield no manifest. Its first interval begins before it."""
    counters = {"counter", "db_log", "disk", "disk_bucket", "job", "link", "pool", "replication", "system_cpu"}
    counters |= {"wait", "workload"}
    for place, name in enumerate(sorted(counters)):
        insert(lander, name, published(1, system=name) | {"ts": "2026-11-20T10:00:00Z"})
        insert(lander, name, published(2, system="all") | {"ts": f"2026-11-20T{place:02}:30:00Z"})
    insert(lander, "config", published(3, system="settings alone", section="lpar", item="", name="a", value="b"))
    listed = lander.rows(
        "SELECT system, min(first_ts) AS f, max(last_ts) AS l FROM counterflow.system_day GROUP BY system"
    )
    assert {row["system"] for row in listed} == {*counters, "all"}
    [(first, last)] = [(row["f"], row["l"]) for row in listed if row["system"] == "all"]
    assert (first[:19], last[:19]) == ("2026-11-20 00:29:45", "2026-11-20 10:30:00")
    of_all = "SELECT DISTINCT dataset FROM counterflow.system_dataset WHERE system = 'all'"
    assert {row["dataset"] for row in lander.rows(of_all)} == counters


def test_what_is_entered_beside_rows_is_kept_from_the_day_on_which_they_landed(
    client: ClickHouse, lander: ClickHouse
) -> None:
    """A back-fill, read by an agent whose clock is years behind."""
    old = {"ts": "2020-03-01T10:00:00Z", "collected_at": "2020-03-01T10:00:01Z"}
    insert(lander, "disk", disk(1, reads=1) | old)
    insert(lander, "system_cpu", published(2, engine="all", engine_type="core", busy_pct=50) | old)
    insert(lander, "manifest", published(3, counted="disk", row_count=1, run="baseline") | old)
    refresh(lander)
    for table in ("ledger", "metric_1h", "metric_day", "processor_load_1h", "system_dataset", "system_day"):
        client.post(f"OPTIMIZE TABLE counterflow.{table} FINAL")
        assert one(client, f"SELECT count() > 0 AS kept FROM counterflow.{table}") == {"kept": 1}, table


def test_intervals_have_the_rows_that_manifests_count_or_else_those_of_the_tables(lander: ClickHouse) -> None:
    insert(lander, "manifest", published(1, counted="disk", row_count=3), published(2, counted="job", row_count=0))
    insert(lander, "disk", disk(3), disk(4), disk(5))
    omegamon = {"system": "SYS1", "source": "omegamon_jsonl", "interval_s": 60}
    insert(lander, "job", *(published(seq, **omegamon, job=f"JOB{seq}") for seq in (6, 7)))
    insert(lander, "job", published(8, **omegamon, job="JOB7"))
    of_each = "SELECT system, dataset, source, interval_s, row_count FROM counterflow.recorded ORDER BY ALL"
    assert [tuple(row.values()) for row in lander.rows(of_each)] == [
        ("SYS1", "job", "omegamon_jsonl", 60, 2),
        ("lpar1", "disk", "nmon", 15, 3),
    ]


def test_the_ledger_reports_what_was_lost_and_what_arrived_again_over_all_datasets(lander: ClickHouse) -> None:
    insert(lander, "disk", disk(1), disk(2), disk(3))
    insert(lander, "disk", disk(2), disk(3))
    insert(lander, "counter", published(5, section="VM", instance="", counter="pgfault", value=7))
    insert(lander, "deadletter", deadletter(6))
    insert(lander, "manifest", published(8, "b", counted="disk", row_count=3))
    assert lander.rows("SELECT * FROM counterflow.loss ORDER BY agent_id") == [
        {"agent_id": "a", "first_seq": 1, "last_seq": 6, "landed": 4, "deadletters": 1, "lost": 1, "repeated": 2},
        {"agent_id": "b", "first_seq": 8, "last_seq": 8, "landed": 1, "deadletters": 0, "lost": 0, "repeated": 0},
    ]


def deadletter(seq: int) -> dict[str, Any]:
    what = {"stage": "land", "origin": "t:0:7", "reason": "27", "error": "no", "payload_base64": "", "payload_bytes": 0}
    return published(seq, **what)


def test_every_value_is_found_by_the_name_of_its_metric(lander: ClickHouse) -> None:
    """A row that came twice counts once, a null not at all; a dot in either part of a name is harmless."""
    times = {"2026-11-20T10:00:00.001Z": 1, "2026-11-20T10:00:30Z": 2, "2026-11-20T10:01:00Z": 6}
    rows = [disk(seq, number=0, busy_pct=busy) | {"ts": ts} for seq, (ts, busy) in enumerate(times.items(), 1)]
    insert(lander, "disk", *rows, disk(4, number=0, busy_pct=None) | {"ts": "2026-11-20T10:01:01Z"})
    insert(lander, "disk", rows[0])
    dotted = [("net.eth0", "errors"), ("net", "eth0.errors"), ("net", "eth0")]
    counters = [
        published(seq, section=section, instance="", counter=counter, value=seq)
        for seq, (section, counter) in enumerate(dotted, 10)
    ]
    insert(lander, "counter", *counters)
    values = "SELECT instance, ts, value FROM counterflow.metric_value(metric = {metric:String}) ORDER BY ALL"
    assert lander.rows(values, {"param_metric": "disk.busy_pct", "date_time_output_format": "iso"}) == [
        {"instance": "hdisk0", "ts": f"{ts[:19]}.{ts[20:23] if '.' in ts else '000'}Z", "value": busy}
        for ts, busy in times.items()
    ]
    assert {row["value"] for row in lander.rows(values, {"param_metric": "counter.net.eth0.errors"})} == {10, 11}
    assert {row["value"] for row in lander.rows(values, {"param_metric": "counter.net.eth0"})} == {12}
    assert lander.rows(values, {"param_metric": "disk.nothing"}) == []


def test_a_result_of_fewer_rows_than_published_is_provisional_until_it_is_whole(lander: ClickHouse) -> None:
    later = "2026-11-20T10:00:30Z"
    insert(
        lander,
        "manifest",
        published(1, counted="job", row_count=3) | {"source": "ibmi_tables.QAPMJOBMI"},
        published(2, counted="db_log", row_count=2),
        published(3, counted="db_log", row_count=2) | {"ts": later},
        published(4, counted="pool", row_count=1),
        published(5, counted="link", row_count=2),
    )
    insert(lander, "io_mix", result(2, grouping="partition", name="*"))
    insert(lander, "log_load", result(1, subsystem="DBP1"), result(1, subsystem="DBP2"))
    links = [result(3, link=name, link_type="nrg") for name in ("MIRROR_DATABASE", "MIRROR_IFS")]
    insert(lander, "link_load", links[0])  # made of its own row and of two ports
    provisional = (
        "SELECT dataset, formatDateTime(ts, '%T') AS at, n, row_count FROM counterflow.provisional "
        "WHERE dataset IN ('account_cpu', 'io_mix', 'link_load', 'log_load') ORDER BY dataset"
    )
    no_result = {"dataset": "log_load", "at": "10:00:30", "n": 0, "row_count": 2}
    assert lander.rows(provisional) == [
        {"dataset": "io_mix", "at": "10:00:15", "n": 2, "row_count": 3},
        {"dataset": "link_load", "at": "10:00:15", "n": 1, "row_count": 2},
        no_result,
    ]
    insert(lander, "link_load", links[1])
    insert(lander, "io_mix", result(3, grouping="partition", name="*"))
    insert(lander, "io_mix", result(1, grouping="partition", name="*"))  # a partial one never replaces it
    assert lander.rows(provisional) == [no_result]


def test_a_view_has_the_columns_of_its_definition(client: ClickHouse) -> None:
    """Its SELECT is written by hand; a table is made from the definition."""
    of_views = "database = 'counterflow' AND table IN {views:Array(String)}"
    views = {name: dataset for name, dataset in datasets().items() if dataset.role == "view"}
    found: dict[str, dict[str, str]] = {name: {} for name in views}
    for row in client.rows(f"SELECT * FROM system.columns WHERE {of_views}", {"param_views": list(views)}):
        found[row["table"]][row["name"]] = re.sub(r"^LowCardinality\((.*)\)$", r"\1", row["type"])
    for name, dataset in views.items():
        wanted = {column: type_ for column, (type_, _) in clickhouse_ddl.columns(dataset).items()}
        assert found[name] == {n: re.sub(r"^LowCardinality\((.*)\)$", r"\1", t) for n, t in wanted.items()}, name

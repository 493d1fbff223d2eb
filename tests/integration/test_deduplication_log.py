"""An insert that a kill left half done, on a real engine: recorded as done, its part not in place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings

_WINDOW = 100


@pytest.fixture
def engine(clickhouse: StackSettings) -> Iterator[StackSettings]:
    """The engine with a database of the test's own, `half`: `rows`, and `per_key`, which a view fills from them."""
    window = f"SETTINGS non_replicated_deduplication_window = {_WINDOW}"
    with admin(clickhouse) as client:
        client.post("CREATE DATABASE half")
        client.post(
            f"CREATE TABLE half.rows (k UInt32, v UInt64) ENGINE = MergeTree PARTITION BY k ORDER BY v {window}"
        )
        client.post(f"CREATE TABLE half.per_key (k UInt32, n UInt64) ENGINE = SummingMergeTree ORDER BY k {window}")
        client.post(
            "CREATE MATERIALIZED VIEW half.fed TO half.per_key AS SELECT k, count() n FROM half.rows GROUP BY k"
        )
    yield clickhouse
    lifecycle.start(clickhouse, "clickhouse")
    with admin(clickhouse) as client:
        client.post("DROP DATABASE half SYNC")


def admin(settings: StackSettings) -> ClickHouse:
    return settings.clickhouse("admin")


def insert(client: ClickHouse, token: str) -> None:
    client.post(
        f"INSERT INTO half.rows SETTINGS insert_deduplication_token = '{token}', "
        "deduplicate_blocks_in_dependent_materialized_views = 1 SELECT number % 2, number FROM numbers(100)"
    )


def counted(client: ClickHouse) -> tuple[int, int]:
    """Return the number of rows of the table, and the number that the view counted."""
    sql = "SELECT (SELECT count() FROM half.rows) AS rows, (SELECT sum(n) FROM half.per_key) AS counted"
    found = client.rows(sql)[0]
    return int(found["rows"]), int(found["counted"])


def folder(client: ClickHouse, table: str) -> Path:
    sql = f"SELECT data_paths[1] AS path FROM system.tables WHERE database = 'half' AND name = '{table}'"
    return Path(client.rows(sql)[0]["path"])


def newest(table: Path) -> Path:
    """Return the part that the table's log names last."""
    lines = (table / "deduplication_logs/deduplication_log_1.txt").read_text().splitlines()
    return table / lines[-1].split("\t")[1]


def warnings(settings: StackSettings) -> int:
    return (settings.logs / "clickhouse.log").read_text().count("inserts whose parts never appeared")


@pytest.mark.parametrize("table", ["rows", "per_key"])
@pytest.mark.parametrize("cut", ["", "1\tall_9_9"], ids=["whole", "last line cut"])
def test_half_done_insert_is_taken_when_it_is_repeated(engine: StackSettings, table: str, cut: str) -> None:
    with admin(engine) as client:
        insert(client, "kept")
        insert(client, "half")
        place = folder(client, table)
    before = warnings(engine)
    supervision.stop(engine, "clickhouse")
    part = newest(place)
    part.rename(part.with_name(f"tmp_insert_{part.name}"))
    with (place / "deduplication_logs/deduplication_log_1.txt").open("a") as log:
        log.write(cut)
    lifecycle.start(engine, "clickhouse")
    assert warnings(engine) == before + 1
    with admin(engine) as client:
        assert counted(client) == ((150, 200) if table == "rows" else (200, 100))
        for token in ("half", "kept", "half"):
            insert(client, token)
        assert counted(client) == (200, 200)


def test_what_is_merged_or_dropped_is_known_as_before(engine: StackSettings) -> None:
    with admin(engine) as client:
        for token in ("one", "two", "three"):
            insert(client, token)
        client.post("OPTIMIZE TABLE half.rows FINAL")
        client.post("OPTIMIZE TABLE half.per_key FINAL")
        client.post("ALTER TABLE half.rows DROP PARTITION 1")
    before = warnings(engine)
    supervision.stop(engine, "clickhouse")
    lifecycle.start(engine, "clickhouse")
    assert warnings(engine) == before
    with admin(engine) as client:
        assert counted(client) == (150, 300)
        insert(client, "two")
        assert counted(client) == (200, 300)

"""Landing on two shards, two real engines: exact through faults, no silent half, and no history that moves."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.landing.rollups import refresh
from counterflow.pipelines.landing.shards import ShardMap
from counterflow.schemas.definition import topics
from counterflow.schemas.migrations import migrate
from counterflow.schemas.sharding import LOCAL
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.integration.test_landing import framed, publish, record, until
from tests.support.shards import CLUSTER, Shard, Shards, two_shards
from tests.support.tables import insert

_agents = itertools.count(1)


@pytest.fixture(scope="module")
def shards(clickhouse: StackSettings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shards]:
    with two_shards(tmp_path_factory.mktemp("shards"), clickhouse.parts) as started:
        yield started


@pytest.fixture(scope="module")
def line(kafka: StackSettings, shards: Shards) -> StackSettings:
    create_topics(kafka, topics())
    return kafka


@pytest.fixture
def agent() -> str:
    return f"sharded-{next(_agents)}"


@pytest.fixture
def map_file(shards: Shards) -> Path:
    return shards.map_file({"shards": ["a", "b"]})


def measured(agent: str, *seqs: int, **fields: object) -> list[bytes]:
    """Return frames of one row each, of eight systems, whose `seq` have no gap."""
    return [framed(record(agent, seq, **{"system": f"{agent}-{seq % 8}", **fields})) for seq in range(*seqs)]


def start(
    line: StackSettings, shards: Shards, map_file: Path, *options: str, log: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    password = shards.a.settings.secrets / "clickhouse-lander"
    return subprocess.Popen(
        [sys.executable, "-m", "counterflow", "dev", "land", "--shards", str(map_file),
         "--password-file", str(password), *options],
        stdout=subprocess.DEVNULL, stderr=log, text=True, env={**os.environ, **line.environment},
    )  # fmt: skip


@contextmanager
def landing(line: StackSettings, shards: Shards, map_file: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = start(line, shards, map_file, *options, log=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def land(line: StackSettings, shards: Shards, map_file: Path) -> str:
    process = start(line, shards, map_file, "--until-caught-up")
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log
    return log


def on(shard: Shard, agent: str, day: str = "2026-11-20") -> int:
    """Return how many rows of an agent and a day a shard itself holds."""
    sql = f"SELECT count() AS n FROM {LOCAL}.disk FINAL WHERE agent_id = {{agent:String}} AND toDate(ts) = '{day}'"
    with shard.client() as client:
        return int(client.rows(sql, {"param_agent": agent})[0]["n"])


def assert_landed(shards: Shards, agent: str, count: int, split: ShardMap) -> None:
    """Assert that a query finds every `seq` below `count` once, on its system's shard, and so does the ledger."""
    for shard in shards:
        with shard.client("lander") as client:
            refresh(client, LOCAL)
    with shards.b.client("reader") as client:

        def answer(sql: str) -> dict[str, Any]:
            return client.rows(sql, {"param_agent": agent})[0]

        total = count * (count - 1) // 2
        of_agent = "FROM counterflow.disk FINAL WHERE agent_id = {agent:String}"
        table = answer(f"SELECT count() AS n, uniqExact(seq) AS u, sum(seq) AS s {of_agent}")
        assert (table["n"], table["u"], table["s"]) == (count, count, total)
        rollup = answer(
            "SELECT sum(n) AS n, sum(total) AS s FROM counterflow.metric_hour "
            "WHERE startsWith(system, {agent:String} || '-') AND metric = 'disk.reads'"
        )
        assert (rollup["n"], rollup["s"]) == (count, total)
        ledger = answer("SELECT * FROM counterflow.loss WHERE agent_id = {agent:String}")
        assert (ledger["landed"], ledger["lost"]) == (count, 0)
        held = client.rows(f"SELECT DISTINCT system, toString(toDate(ts)) AS day, _shard_num AS shard {of_agent}",
                           {"param_agent": agent})  # fmt: skip
    assert {row["shard"] for row in held} == {1, 2}
    assert [row for row in held if split.shard(row["system"], row["day"]) != "ab"[row["shard"] - 1]] == []


def test_an_engine_killed_while_it_inserts_and_partitions_that_move(
    line: StackSettings, shards: Shards, map_file: Path, agent: str
) -> None:
    count = 24_000
    options = ("--batch-messages", "300")
    with landing(line, shards, map_file, "--instance-id", "first", *options) as first:
        publish(line, agent, measured(agent, 0, count))
        until(lambda: on(shards.b, agent) > count * 0.05, "rows arrive on b")
        shards.b.kill()
        with landing(line, shards, map_file, "--instance-id", "second", *options) as second:
            shards.b.start()
            until(lambda: on(shards.b, agent) > count * 0.2, "rows arrive on b again")
            first.kill()
            until(lambda: on(shards.a, agent) > count * 0.3, "the second lander has its partitions too", 60)
            shards.a.kill()
            shards.a.start()
            second.send_signal(signal.SIGTERM)
            assert second.wait(60) == 0
    land(line, shards, map_file)
    assert_landed(shards, agent, count, ShardMap.read(map_file))


def test_while_a_shard_is_away_a_question_fails_and_the_other_shard_goes_on(
    line: StackSettings, shards: Shards, map_file: Path, agent: str, tmp_path: Path
) -> None:
    split = ShardMap.read(map_file)
    of_a = [seq for seq in range(200) if split.shard(f"{agent}-{seq % 8}", "2026-11-20") == "a"]
    of_b = sorted(set(range(200)) - set(of_a))
    assert of_a
    assert of_b
    every = measured(agent, 0, 200)
    shards.b.kill()
    try:
        with shards.a.client("reader") as client, pytest.raises(ClickHouseError, match="ALL_CONNECTION_TRIES_FAILED"):
            client.rows("SELECT count() FROM counterflow.disk")
        environment = {
            "COUNTERFLOW_HOME": str(tmp_path), "COUNTERFLOW_SECRETS": str(shards.a.settings.secrets),
            "COUNTERFLOW_CLICKHOUSE_URL": shards.a.settings.clickhouse_url,
        }  # fmt: skip
        command = [sys.executable, "-m", "counterflow", "sql", "SELECT DISTINCT system FROM counterflow.disk"]
        failed = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
        assert failed.returncode == 2, failed.stderr  # rows of the other shard may have been printed: they are streamed
        assert f"127.0.0.1:{shards.b.native_port}" in failed.stderr
        with landing(line, shards, map_file, "--instance-id", "alone"):
            publish(line, agent, [value for seq, value in enumerate(every) if seq in of_a])
            until(lambda: on(shards.a, agent) == len(of_a), "a has its rows")
            publish(line, agent, [value for seq, value in enumerate(every) if seq in of_b])
            shards.b.start()
            until(lambda: on(shards.b, agent) == len(of_b), "b has its rows", 60)
    finally:
        shards.b.kill()
        shards.b.start()
    land(line, shards, map_file)  # repeats an insert whose lander and engine were killed
    assert_landed(shards, agent, 200, split)


def test_a_shard_that_is_added_moves_no_history(line: StackSettings, shards: Shards, agent: str) -> None:
    for shard in shards:  # a day on which an earlier test wrote to both is no day for a new rule
        with shard.client() as client:
            client.post(f"TRUNCATE TABLE {LOCAL}.system_day SYNC")
    alone = shards.map_file({"shards": ["a"]})
    publish(line, agent, measured(agent, 0, 400))
    land(line, shards, alone)
    assert (on(shards.a, agent), on(shards.b, agent)) == (400, 0)
    both = shards.map_file({"shards": ["a"]}, {"from": "2026-11-21", "shards": ["a", "b"]})
    later = [value.replace(b"2026-11-20", b"2026-11-21") for value in measured(agent, 400, 800)]
    publish(line, agent, later)
    publish(line, f"{agent}-again", [value.replace(agent.encode() + b'"', agent.encode() + b'-again"', 1)
                                     for value in measured(agent, 0, 400, busy_pct=99)])  # fmt: skip
    land(line, shards, both)
    found = [on(shard, agent, "2026-11-21") for shard in shards]
    assert sum(found) == 400
    assert all(found)
    assert on(shards.b, agent) == on(shards.b, f"{agent}-again") == 0
    with shards.b.client("reader") as client:
        sql = (
            "SELECT count() AS n FROM counterflow.disk FINAL "
            "WHERE startsWith(system, {agent:String} || '-') AND toDate(ts) = '2026-11-20'"
        )
        assert client.rows(sql, {"param_agent": agent}) == [{"n": 400}]  # published again, and replaced where it was


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"shards": ["a", "b"]}], "shard a has rows that the map gives to another shard: moved on 2026-11-20"),
        ([{"shards": ["a"]}, {"shards": ["c"]}], "a rule names c, which `shards` does not"),
        ([{"shards": ["a"], "from": "2026-11-20"}], "the first rule has to be for every system and every day"),
    ],
)
def test_a_map_that_would_split_what_belongs_together_is_refused(
    line: StackSettings, shards: Shards, rules: list[dict[str, Any]], message: str
) -> None:
    if "moved" in message:
        with shards.a.client() as client:
            client.post(f"TRUNCATE TABLE {LOCAL}.system_day SYNC")  # what earlier tests wrote may have moved, too
            at = "2026-11-20 10:00:00"
            insert(client, "system_day", {"system": "moved", "day": "2026-11-20", "first_ts": at, "last_ts": at},
                   database=LOCAL)  # fmt: skip
    process = start(line, shards, shards.map_file(*rules), "--until-caught-up")
    _, log = process.communicate(timeout=60)
    assert process.returncode == 2
    assert message in log
    with shards.a.client() as client:
        client.post(f"TRUNCATE TABLE {LOCAL}.system_day SYNC")


def test_a_lander_without_a_map_does_not_insert_through_the_tables_over_all_shards(
    line: StackSettings, shards: Shards
) -> None:
    command = [sys.executable, "-m", "counterflow", "dev", "land", "--until-caught-up",
               "--clickhouse-url", shards.a.settings.clickhouse_url,
               "--password-file", str(shards.a.settings.secrets / "clickhouse-lander")]  # fmt: skip
    environment = {**os.environ, **line.environment}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "is a shard of a cluster" in ended.stderr


def test_shards_restored_from_copies_have_every_row_and_view(
    line: StackSettings, shards: Shards, map_file: Path, agent: str
) -> None:
    publish(line, agent, measured(agent, 0, 200))
    land(line, shards, map_file)
    names = "SELECT name FROM system.tables WHERE database = 'counterflow' ORDER BY name"
    with shards.a.client() as client:
        before = client.rows(names)
    for shard in shards:
        with shard.client() as client:
            client.post(f"BACKUP DATABASE {LOCAL} TO File('copy')")
            client.post(f"DROP DATABASE {LOCAL} SYNC")
            client.post("DROP DATABASE counterflow SYNC")
            client.post(f"RESTORE DATABASE {LOCAL} FROM File('copy')")
            migrate(client, cluster=CLUSTER, replicated=False)
            assert migrate(client, cluster=CLUSTER, replicated=False) == []
            assert client.rows(names) == before
    assert_landed(shards, agent, 200, ShardMap.read(map_file))


def test_tables_of_a_shard_are_not_migrated_as_those_of_one_server(shards: Shards) -> None:
    with shards.a.client() as client, pytest.raises(CounterflowError, match="tables of a cluster"):
        migrate(client)

"""`counterflow backup create` and `backup restore` between a real broker, a real engine and a lander."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import orjson
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions  # type: ignore[attr-defined] # its stub forgets to export some

from counterflow.pipelines.audit.records import accounts
from counterflow.pipelines.landing.rollups import refresh
from counterflow.schemas.definition import topics
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle, supervision
from counterflow.stack.backup import backup
from counterflow.stack.install import exclusive
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run_apart
from tests.support.frames import frame
from tests.support.waiting import PATIENCE_S, until

AGENT, TOPIC = "agent-of-copies", "counterflow.disk.v2"
SUMS = """
SELECT (SELECT sum(reads) FROM counterflow.disk) AS rows,
  (SELECT sum(total) FROM counterflow.metric_hour WHERE metric = 'disk.reads') AS hours
"""


@pytest.fixture(scope="module")
def line(new_stack: Callable[[], StackSettings]) -> StackSettings:
    """Broker, engine and lander of this file alone: its tables are dropped. There is a copy of the empty tables."""
    settings = new_stack()
    lifecycle.start(settings, "kafka", "clickhouse")
    create_topics(settings, topics())
    with settings.clickhouse("migrator") as client:
        migrate(client)
    lifecycle.start(settings, "lander")
    backup(settings, "empty")
    return settings


def counterflow(line: StackSettings, *words: str) -> subprocess.CompletedProcess[str]:
    return run_apart(*words, **line.environment)


def publish(line: StackSettings, first: int, behind: int, partition: int = 0) -> None:
    """Write one transaction into two partitions, this one and the next."""
    producer = Producer({**line.kafka("admin").client, "transactional.id": AGENT})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    for seq in range(first, behind):
        at = f"2026-11-20T00:{seq // 60 % 60:02}:{seq % 60:02}Z"
        record = {
            "ts": at, "interval_s": 1, "system": AGENT, "source": "nmon", "agent_id": AGENT, "seq": seq,
            "collected_at": at, "disk": "hdisk0", "device_type": "disk", "leaf": True, "reads": seq,
        }  # fmt: skip
        producer.produce(TOPIC, orjson.dumps(frame("disk", [record])), key=AGENT, partition=partition + seq % 2)
    producer.commit_transaction(PATIENCE_S)


def wait_landed(line: StackSettings, count: int) -> None:
    ledger = "SELECT sum(rows) AS n FROM counterflow.ledger"
    with line.clickhouse("reader") as client:
        until(lambda: int(client.rows(ledger)[0]["n"]) >= count, f"{count} rows land")


def assert_whole(line: StackSettings, last: int) -> None:
    """Assert that each record up to `last` is stored once, in its table and in the hours, and that the lander runs."""
    wait_landed(line, last)
    total = last * (last + 1) / 2
    with line.clickhouse("lander") as client:
        refresh(client)
    with line.clickhouse("reader") as client:
        [account] = accounts(client, {AGENT: last}, {})
        assert (account.acked, account.landed, account.lost) == (last, last, 0)
        assert client.rows(SUMS) == [{"rows": total, "hours": total}]
    until(lambda: supervision.states(line)["lander"].state == "RUNNING")  # after one second of life


def test_what_landed_since_a_backup_is_landed_again_once(line: StackSettings) -> None:
    publish(line, 1, 101)
    wait_landed(line, 100)
    made = counterflow(line, "backup", "create", "first")
    folder = line.clickhouse_home / "backups/first"
    assert (made.returncode, made.stdout, made.stderr) == (0, f"{folder}\n", "")
    publish(line, 101, 151)
    in_the_copy = sum(one["topic"] == TOPIC for one in orjson.loads((folder / "landed.json").read_bytes()))
    admin = AdminClient(line.kafka("admin").client)
    admin.create_partitions([NewPartitions(TOPIC, in_the_copy + 2)])[TOPIC].result(30)
    publish(line, 151, 201, partition=in_the_copy)
    wait_landed(line, 200)
    with line.clickhouse("admin") as client:  # the disaster
        client.post("DROP TABLE counterflow.disk SYNC")
    restored = counterflow(line, "backup", "restore", "first", "--yes")
    assert restored.returncode == 0, restored.stderr
    assert_whole(line, 200)
    publish(line, 201, 251)
    assert_whole(line, 250)


def test_a_backup_waits_for_up_and_down(line: StackSettings) -> None:
    command = [sys.executable, "-m", "counterflow", "backup", "create", "later"]
    with exclusive(line.home / ".lock"):
        waiting = subprocess.Popen(command, env={**os.environ, **line.environment}, stdout=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(5)
        assert supervision.states(line)["lander"].state == "RUNNING"
    assert waiting.wait(PATIENCE_S) == 0
    assert_whole(line, 250)


def test_nothing_is_dropped_without_a_copy_or_a_confirmation(line: StackSettings) -> None:
    refused = counterflow(line, "backup", "restore", "first")
    assert refused.returncode == 1, refused.stdout
    for name, reason in (("second", "does not exist"), ("../secrets", "not a valid name"), ("a'b", "not a valid")):
        refused = counterflow(line, "backup", "restore", name, "--yes")
        assert refused.returncode == 2
        assert reason in refused.stderr
        assert "hint: " in refused.stderr
    again = counterflow(line, "backup", "create", "first")
    assert again.returncode == 2
    assert "already exists" in again.stderr
    landed = line.clickhouse_home / "backups/first/landed.json"
    whole = landed.read_bytes()
    landed.write_bytes(whole[:50])
    refused = counterflow(line, "backup", "restore", "first", "--yes")
    landed.write_bytes(whole)
    assert refused.returncode == 2
    assert "cannot be read" in refused.stderr
    assert_whole(line, 250)


def test_offsets_of_another_kafka_are_not_taken_over(line: StackSettings) -> None:
    """The topics of this one have other ids, so none of their records is in the copy."""
    place = line.clickhouse_home / "backups/empty/landed.json"
    there = {"topic": TOPIC, "topic_id": "of another Kafka", "offset": 10**6}
    place.write_bytes(orjson.dumps([{**there, "partition": partition} for partition in range(4)]))
    restored = counterflow(line, "backup", "restore", "empty", "--yes")
    assert restored.returncode == 0, restored.stderr
    assert_whole(line, 250)

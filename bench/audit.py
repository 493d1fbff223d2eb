"""`counterflow audit` of a hundred million records: how long it takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

from confluent_kafka import Producer

from bench.figure import Figure
from bench.generate_fleet import midnight
from counterflow.base.clickhouse import ClickHouse
from counterflow.collectors.agent.checkpoint import Self, encode, key
from counterflow.schemas.definition import CHECKPOINTS, topics
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

AGENTS, SYSTEMS_OF_EACH, DISKS, INTERVAL_S, DAYS = 2, 29, 10, 15, 30
A_DAY = SYSTEMS_OF_EACH * DISKS * (86_400 // INTERVAL_S)
"""Records of an agent in a day."""
_FILL = {"max_insert_block_size": 2_000_000, "min_insert_block_size_rows": 2_000_000, "max_execution_time": 0}


def main() -> None:
    """Fill the tables, write the checkpoints of the agents to Kafka, and run the command."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-audit-") as home:
        settings = free_settings(Path(home), parts)
        try:
            lifecycle.start(settings, "kafka", "clickhouse")
            create_topics(settings, topics())
            with settings.clickhouse("admin", timeout_s=1800) as client:
                migrate(client)
                _fill(client)
            _commit(settings)
            seconds, report = _audit(settings)
        finally:
            lifecycle.down(settings)
    wanted = AGENTS * A_DAY * DAYS
    if report["landed"] != wanted or report["lost"] or report["results_wrong"]:
        raise AssertionError({name: value for name, value in report.items() if name not in ("agents", "results")})
    method = (
        f"{report['landed']:,} disk records of {AGENTS} agents over {DAYS} days in ClickHouse and its ledger; "
        f"`counterflow audit --json`, start-up included, wall, {os.cpu_count()} cores shared with the engine."
    )
    Figure("audit of 100 million records", round(seconds, 1), "s", "<= 60", method).emit()


def _fill(client: ClickHouse) -> None:
    # At this size the rollups would take most of the time; the ledger and the views that list systems stay.
    for view in client.rows("SELECT name FROM system.tables WHERE database = 'counterflow' AND match(name, '_to_1h$')"):
        client.post(f"DROP VIEW counterflow.{view['name']}")
    begin = midnight() - timedelta(days=DAYS)
    with ThreadPoolExecutor(AGENTS) as pool:
        for number in range(DAYS):
            days = [day(agent, number, begin) for agent in range(AGENTS)]
            list(pool.map(lambda statement: client.post(statement, settings=_FILL), days))


def day(agent: int, number: int, begin: datetime) -> str:
    """Return the statement that inserts the disk records of an agent on a day, `number` days after `begin`."""
    at = int((begin + timedelta(days=number)).timestamp())
    things = SYSTEMS_OF_EACH * DISKS
    return f"""
INSERT INTO counterflow.disk (ts, interval_s, system, source, agent_id, seq, collected_at, disk, device_type, leaf,
  busy_pct, reads, writes, transfers, read_kb, written_kb, service_ms, wait_ms)
SELECT toDateTime64({at} + intDiv(number, {things}) * {INTERVAL_S}, 3, 'UTC') AS ts, {INTERVAL_S},
  concat('sys', toString({agent}), '-', toString(intDiv(number % {things}, {DISKS}))), 'nmon', 'bench-{agent}',
  {number * A_DAY} + number + 1, ts, concat('hdisk', toString(number % {DISKS})), 'disk', true,
  h % 1000 / 10 AS busy, busy * 15, busy * 5, busy * 20, busy * 120, busy * 40, busy / 20, busy / 100
FROM (SELECT number, cityHash64(number, {number}) AS h FROM numbers({A_DAY}))"""


def _commit(settings: StackSettings) -> None:
    producer = Producer(settings.kafka("admin").client)
    for agent in range(AGENTS):
        producer.produce(CHECKPOINTS, encode(Self(seq=A_DAY * DAYS)), key(f"bench-{agent}"), 0)
    if producer.flush(30):
        raise TimeoutError("the checkpoints were not acknowledged within 30 s")


def _audit(settings: StackSettings) -> tuple[float, dict[str, int]]:
    """Return the seconds of the command, and its report."""
    command = [sys.executable, "-m", "counterflow", "audit", "--to", f"{midnight().astimezone(UTC):%FT%TZ}", "--json"]
    begin = time.monotonic()
    run = subprocess.run(
        command, env={**os.environ, **settings.environment}, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - begin
    if run.returncode not in (0, 1):
        raise AssertionError(run.stderr)
    found: dict[str, int] = json.loads(run.stdout)
    return seconds, found


if __name__ == "__main__":
    main()

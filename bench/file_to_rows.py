"""From an nmon file until its last row can be queried: publish, broker and lander side by side, no jobs."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench import cpu
from bench.day import publish
from bench.figure import Figure
from bench.generate_nmon import Shape, generate
from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.definition import topics
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle
from counterflow.stack.account import wait_landed
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

SNAPSHOTS = 480
LONGEST_S = 900


def main() -> None:
    """Publish a recording with the users' own command, and wait until all of it has landed."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-file-") as name:
        settings = free_settings(Path(name) / "home", parts)
        path = Path(name) / "aix.nmon"
        with path.open("wb") as out:
            generate(out, Shape(snapshots=SNAPSHOTS))
        try:
            lifecycle.start(settings, "kafka", "clickhouse")
            create_topics(settings, topics())
            with settings.clickhouse("migrator") as client:
                migrate(client)
            lifecycle.start(settings, "lander")
            begin, idle = time.monotonic(), cpu.of_parts(settings)
            published, _, agent = publish(path, settings, "bench-file")
            published_s = time.monotonic() - begin
            with ClickHouse(settings.clickhouse_url, "reader", settings.clickhouse_password("reader")) as client:
                account = wait_landed(client, "bench-file", published, LONGEST_S)
            seconds = time.monotonic() - begin
            spent = {"agent": agent, **(cpu.of_parts(settings) - idle)}
        finally:
            lifecycle.down(settings)
        size = path.stat().st_size / 1e6
    if account.lost:
        raise AssertionError(account)
    shares = ", ".join(
        f"{part} {1e6 * taken / published:.1f}" for part, taken in sorted(spent.items(), key=lambda one: -one[1])
    )
    method = (
        f"generated AIX recording of {size:.0f} MB, {SNAPSHOTS} snapshots of 1,200 disks, {published:,} records: "
        f"`counterflow publish` with its start-up (done after {published_s:.0f} s), broker, lander and engine with "
        f"ledger and rollups on {os.cpu_count()} cores, wall; CPU us a record: {shares}."
    )
    Figure("nmon file to rows", round(size / seconds, 1), "MB/s", ">= 12", method).emit()


if __name__ == "__main__":
    main()

"""Recordings of AIX through the whole line, with every job, until the last result can be queried."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bench.day import cpu, publish
from bench.figure import Figure
from bench.generate_nmon import Shape, generate
from counterflow.base.clickhouse import ClickHouse
from counterflow.stack import lifecycle
from counterflow.stack.account import wait_computed, wait_landed
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

RECORDINGS, DISKS, SNAPSHOTS = 6, 300, 240
LONGEST_S = 1800


def main() -> None:
    """Publish the recordings one after the other with the command users have; every part runs as after `up`."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-line-") as name:
        settings = free_settings(Path(name) / "home", parts)
        folder = Path(name) / "recordings"
        folder.mkdir()
        for number in range(RECORDINGS):
            with (folder / f"aix{number}.nmon").open("wb") as out:
                generate(out, Shape(snapshots=SNAPSHOTS, disks=DISKS, host=f"aix{number}", seed=number))
        size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
        try:
            lifecycle.up(settings)
            begin, idle = time.monotonic(), cpu(settings)
            published, _, agent = publish(folder, settings, "bench-line", system=None)
            published_s = time.monotonic() - begin
            with ClickHouse(settings.clickhouse_url, "reader", settings.clickhouse_password("reader")) as client:
                account = wait_landed(client, "bench-line", published, LONGEST_S)
                pending = wait_computed(client, "bench-line", LONGEST_S)
            seconds = time.monotonic() - begin
            spent = {"agent": agent} | {part: taken - idle.get(part, 0) for part, taken in cpu(settings).items()}
        finally:
            lifecycle.down(settings)
    if account.lost or account.duplicates or pending:
        raise AssertionError(f"{account}, {pending} results provisional")
    together = sum(spent.values())
    shares = ", ".join(f"{part} {taken:.1f}" for part, taken in sorted(spent.items(), key=lambda one: -one[1]))
    method = (
        f"{RECORDINGS} generated AIX recordings of {DISKS} disks, {SNAPSHOTS} snapshots each, {size:.1f} MB, {published:,} "
        f"records, `counterflow publish` on a stack that has just come up, all jobs running, {os.cpu_count()} cores; CPU s of "
        f"all parts until the last result is complete: {together:.0f} ({shares}); published after {published_s:.0f} s, "
        f"computed after {seconds:.0f} s."
    )
    Figure("the whole line, a record", round(1e6 * together / published, 1), "us of CPU", "<= 15", method).emit()
    Figure("the whole line, nmon", round(size / together, 2), "MB a core-second", ">= 3.5", "The same run.").emit()
    Figure(
        "the whole line, last result after the last byte", round(seconds - published_s, 1), "s", "<= 5", "The same run."
    ).emit()


if __name__ == "__main__":
    main()

"""Recordings of AIX through the whole line, with every job, until the last result can be queried."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench import cpu
from bench.day import publish
from bench.figure import Figure
from bench.generate_nmon import Shape, generate
from counterflow.stack import lifecycle
from counterflow.stack.account import wait_computed, wait_landed
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

RECORDINGS, DISKS, SNAPSHOTS = 6, 300, 240
LONGEST_S = 1800


def main() -> None:
    """Publish two folders of recordings, each at once, with the users' own command: the first warms the JVMs."""
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-line-") as name:
        folders = [Path(name) / which for which in ("first", "second")]
        sizes = [record(folder, at * RECORDINGS) for at, folder in enumerate(folders)]
        cold, warm = all_through(free_settings(Path(name) / "home", parts), folders)
    together = sum(warm.cpu_s.values())
    shares = ", ".join(f"{part} {taken:.1f}" for part, taken in sorted(warm.cpu_s.items(), key=lambda one: -one[1]))
    method = (
        f"{RECORDINGS} generated AIX recordings of {DISKS} disks, {SNAPSHOTS} snapshots each, {sizes[1]:.1f} MB, "
        f"{warm.records:,} records, by `counterflow publish`, all jobs running, {os.cpu_count()} cores, after as many "
        f"that warmed the JVMs (then {1e6 * sum(cold.cpu_s.values()) / cold.records:.0f} us); CPU s of all parts until "
        f"the last result is complete, their idle load included: {together:.0f} ({shares}); published after "
        f"{warm.published_s:.0f} s, computed after {warm.seconds:.0f} s."
    )
    Figure("the whole line, a record", round(1e6 * together / warm.records, 1), "us of CPU", "<= 15", method).emit()
    Figure("the whole line, nmon", round(sizes[1] / together, 2), "MB a core-second", ">= 3.5", "The same run.").emit()
    after = round(warm.seconds - warm.published_s, 1)
    Figure("the whole line, last result after the last byte", after, "s", "<= 5", "The same run.").emit()


class Through(NamedTuple):
    """Seconds until all was published, and until the last result was complete; CPU seconds by part."""

    records: int
    published_s: float
    seconds: float
    cpu_s: dict[str, float]


def record(folder: Path, first: int) -> float:
    """Write recordings of systems numbered from `first` on; return their size in MB."""
    folder.mkdir()
    for number in range(first, first + RECORDINGS):
        with (folder / f"aix{number}.nmon").open("wb") as out:
            generate(out, Shape(snapshots=SNAPSHOTS, disks=DISKS, host=f"aix{number}", seed=number))
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def all_through(settings: StackSettings, folders: Sequence[Path]) -> list[Through]:
    """Start a stack, publish one folder after the other, and stop it."""
    try:
        lifecycle.up(settings)
        return [through(settings, folder) for folder in folders]
    finally:
        lifecycle.down(settings)


def through(settings: StackSettings, folder: Path) -> Through:
    """Publish a folder and wait for its last result."""
    agent_id = f"bench-{folder.name}"
    begin, idle = time.monotonic(), cpu.of_parts(settings)
    published, _, agent = publish(folder, settings, agent_id, system=None)
    published_s = time.monotonic() - begin
    with settings.clickhouse("reader") as client:
        account = wait_landed(client, agent_id, published, LONGEST_S)
        pending = wait_computed(client, agent_id, LONGEST_S)
    seconds = time.monotonic() - begin
    if account.lost or pending:
        raise AssertionError(f"{account}, {pending} results provisional")
    return Through(published, published_s, seconds, {"agent": agent, **(cpu.of_parts(settings) - idle)})


if __name__ == "__main__":
    main()

"""State of the jobs by number of systems: an hour of each, at one interval a minute."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from bench import cpu
from bench.figure import Figure
from bench.generate_nmon import Shape, generate
from counterflow.base.logs import configure
from counterflow.collectors.agent.publish import publish_files
from counterflow.pipelines.submission.rest import client
from counterflow.stack import lifecycle
from counterflow.stack.account import wait_computed, wait_landed
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

SYSTEMS = (10, 100, 500)
HOUR = Shape(snapshots=60, interval=60, disks=24)
"""The recording of each system; jobs keep the state of an interval for at least as long."""


class Kept(NamedTuple):
    """State of all jobs in their newest checkpoints, and the CPU time of the hour."""

    systems: int
    state_mb: float
    records: int
    task_manager_s: float


def main() -> None:
    """Publish an hour of ever more systems, and measure the checkpoints after each step."""
    configure(logging.WARNING)
    parts = StackSettings.from_environment().parts
    with tempfile.TemporaryDirectory(prefix="bench-state-") as name:
        settings = free_settings(Path(name) / "home", parts)
        try:
            lifecycle.up(settings)
            empty = _checkpointed(settings)
            found = [_after(settings, Path(name), systems) for systems in SYSTEMS]
        finally:
            lifecycle.down(settings)
    for kept in found:
        print(f"{kept.systems} systems more, {kept.records:,} records: {kept.state_mb:.1f} MB")
    last, all_systems = found[-1], sum(SYSTEMS)
    kept_kb = 1000 * (last.state_mb - empty) / all_systems
    shown = ", ".join(f"{sum(SYSTEMS[: at + 1])} systems {kept.state_mb:.0f} MB" for at, kept in enumerate(found))
    method = (
        f"generated AIX recordings of an hour at one interval a minute, {HOUR.disks} disks and {HOUR.processes} "
        f"processes; size of the newest checkpoints of all jobs ({shown}), less that of empty ones."
    )
    Figure("state of all jobs, a system", round(kept_kb), "KB", "<= 1000", method).emit()
    method = (
        f"CPU s of the TaskManager while {last.systems} systems passed through all jobs, {last.records:,} records, "
        f"{os.cpu_count()} cores."
    )
    each_us = 1e6 * last.task_manager_s / last.records
    Figure("TaskManager, a record", round(each_us, 1), "us of CPU", "<= 10", method).emit()


def _after(settings: StackSettings, folder: Path, systems: int) -> Kept:
    paths = list(_recordings(folder, systems))
    before = cpu.of_parts(settings)["taskmanager"]
    agent_id = f"state-{systems}"
    sent = sum(publish_files(paths, kafka=settings.kafka("agent"), agent_id=agent_id).records.values())
    with settings.clickhouse("reader") as reader:
        wait_landed(reader, agent_id, sent)
        wait_computed(reader, agent_id)
    used = cpu.of_parts(settings)["taskmanager"] - before
    return Kept(systems, _checkpointed(settings), sent, used)


def _recordings(folder: Path, systems: int) -> Iterator[Path]:
    """Write a recording for each system; they differ only in their names."""
    out = BytesIO()
    generate(out, HOUR)
    for number in range(systems):
        path = folder / f"{systems}-{number}.nmon"
        path.write_bytes(out.getvalue().replace(HOUR.host.encode(), f"{HOUR.host}{systems}x{number}".encode()))
        yield path


def _checkpointed(settings: StackSettings) -> float:
    """Wait for a checkpoint of each job that begins from now on; return MB of all."""
    since_ms = time.time() * 1000
    with client(settings.flink_url, settings.flink_certificate, timeout_s=10) as http:

        def newest(job_id: str) -> dict[str, Any]:
            while True:
                found = http.get(f"/jobs/{job_id}/checkpoints").raise_for_status().json()
                done = (found.get("latest") or {}).get("completed")
                if done and done["trigger_timestamp"] >= since_ms:
                    return dict(done)
                time.sleep(1)

        running = http.get("/jobs/overview").raise_for_status().json()["jobs"]
        all_of = [newest(job["jid"]) for job in running if job["state"] == "RUNNING"]
    return sum(float(one["state_size"]) for one in all_of) / 1e6


if __name__ == "__main__":
    main()

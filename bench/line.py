"""Files through the whole stack with every job: memory, state, processor time, and how soon a counter is queryable."""

from __future__ import annotations

import os
import time
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from bench import generate_collection_services as jobs
from bench.figure import Figure
from bench.generate_nmon import Recording, Shape, generate
from bench.stack import Published, cpu_s, listed, publish, running
from counterflow.collectors.agent.config import Config
from counterflow.schemas.clickhouse_rollups import due
from counterflow.stack import flink, lifecycle
from counterflow.stack.account import wait_computed, wait_landed
from counterflow.stack.settings import StackSettings
from tests.support.agents import Agent

SYSTEMS, HOUR = 500, Shape(snapshots=60, interval=60, disks=24)
"""Systems whose state is measured, and the recording of each; jobs keep an interval's state for at least as long."""
RECORDINGS, RECORDING = 6, Shape(snapshots=240, disks=300)
DAY = jobs.Shape()
SNAPSHOTS, INTERVAL_S = 40, 3
"""Snapshots that are timed until a query returns them, and the seconds between them."""
LONGEST_S = 1800


class Through(NamedTuple):
    """Seconds until all was published, landed, and computed; CPU seconds of each part until then."""

    sent: Published
    published_s: float
    landed_s: float
    computed_s: float
    cpu_s: dict[str, float]


def main() -> None:
    """Bring a stack up, and measure it idle, then with one kind of input after the other."""
    with running() as (settings, folder):
        idle(settings)
        state(settings, folder / "hour")
        recordings(settings, folder / "recordings")
        day(settings, folder / "exports")
        latency(settings, folder)


def idle(settings: StackSettings) -> None:
    """Print the memory of the stack without input."""
    time.sleep(20)
    gib = sum(part.rss_bytes for part in lifecycle.status(settings)) / 2**30
    method = "Resident set of all parts and their children, summed, 20 s after `up`, jobs running without input."
    Figure("resident memory of the idle stack", round(gib, 2), "GiB", "<= 2.6", method).emit()


def state(settings: StackSettings, folder: Path) -> None:
    """Print the jobs' state of a system, and what a record costs them; the JVMs are warm afterwards."""
    _record(folder, HOUR, SYSTEMS)
    empty = _checkpointed(settings)
    through = _through(settings, folder)
    state_mb = _checkpointed(settings) - empty
    method = (
        f"generated AIX recordings of an hour of {SYSTEMS} systems at one interval a minute, {HOUR.disks} disks and "
        f"14 processes; size of the newest checkpoints of all jobs, {state_mb:.0f} MB more than without."
    )
    Figure("state of all jobs, a system", round(1000 * state_mb / SYSTEMS), "KB", "<= 1000", method).emit()
    method = (
        f"CPU s of the TaskManager while {SYSTEMS} systems passed through all jobs, {through.sent.records:,} records, "
        f"{os.cpu_count()} cores."
    )
    each_us = 1e6 * through.cpu_s["taskmanager"] / through.sent.records
    Figure("TaskManager, a record", round(each_us, 1), "us of CPU", "<= 2", method).emit()


def recordings(settings: StackSettings, folder: Path) -> None:
    """Print what a record of nmon costs all parts, and when its last result is complete."""
    mb = _record(folder, RECORDING, RECORDINGS)
    through = _through(settings, folder)
    together = sum(through.cpu_s.values())
    method = (
        f"{RECORDINGS} generated AIX recordings of {RECORDING.disks} disks, {RECORDING.snapshots} snapshots each, "
        f"{mb:.1f} MB, {through.sent.records:,} records, by `counterflow publish`, all jobs running, {os.cpu_count()} "
        f"cores, the JVMs warm; CPU s of all parts until the last result is complete, their idle load included: "
        f"{together:.0f} ({listed(through.cpu_s)}); published after {through.published_s:.0f} s, landed after "
        f"{through.landed_s:.0f} s, computed after {through.computed_s:.0f} s."
    )
    each_us = round(1e6 * together / through.sent.records, 1)
    Figure("the whole line, a record", each_us, "us of CPU", "<= 13", method).emit()
    Figure("the whole line, nmon", round(mb / together, 2), "MB a core-second", ">= 3.5", "The same run.").emit()
    after = round(through.computed_s - through.published_s, 1)
    Figure("the whole line, last result after the last byte", after, "s", "<= 5", "The same run.").emit()


def day(settings: StackSettings, folder: Path) -> None:
    """Print the time of a day of job counters of a busy IBM i system, and the agent's memory."""
    folder.mkdir()
    jobs.generate(folder, DAY)
    through = _through(settings, folder, "--system", "BENCH")
    method = (
        f"generated QAPMJOBMI of {DAY.intervals * DAY.rows:,} rows with QAPMJOBOS, {through.sent.records:,} records; "
        "from `counterflow publish` to the last row landed and the last result complete, wall, all parts on "
        f"{os.cpu_count()} cores; published after {through.published_s:.0f} s, landed after {through.landed_s:.0f} s; "
        f"CPU s: {listed(through.cpu_s)}."
    )
    Figure("a day of jobs through the line", round(through.computed_s), "s", "<= 100", method).emit()
    resident, method = round(through.sent.resident_mib), "peak of `counterflow publish` in the same run."
    Figure("a day of jobs, memory of the agent", resident, "MiB resident", "<= 300", method).emit()


def latency(settings: StackSettings, folder: Path) -> None:
    """Append snapshots as nmon does to a followed file, one burst each, and poll ClickHouse for each."""
    made = Recording(Shape(SNAPSHOTS, INTERVAL_S, disks=1, host="live"))
    recording = folder / "live.nmon"
    recording.write_text("\n".join((*made.header(), "")))
    source = {"name": "bench", "paths": [str(recording)], "format": "nmon", "zone": "UTC", "follow": True}
    delays = []
    usual_s = Config.model_fields["poll_s"].default
    with Agent(folder, settings, "latency", source, poll_s=usual_s) as agent, settings.clickhouse("reader") as client:
        time.sleep(5)
        process = psutil.Process(agent.process.pid)
        began, busy_s = time.monotonic(), sum(process.cpu_times()[:2])
        for n in range(1, SNAPSHOTS + 1):
            with recording.open("a") as out:
                out.write("\n".join((*made.snapshot(n), "")))
            written = time.monotonic()
            query = f"SELECT uniqExact(ts) AS n FROM counterflow.system_cpu WHERE system = '{made.shape.host}'"
            while client.rows(query)[0]["n"] < n:
                if time.monotonic() - written > 60:
                    raise TimeoutError(f"snapshot {n} is not queryable after 60 s")
                time.sleep(0.05)
            delays.append(time.monotonic() - written)
            time.sleep(max(0.0, INTERVAL_S - delays[-1]))
        cpu_pct = 100 * (sum(process.cpu_times()[:2]) - busy_s) / (time.monotonic() - began)
        agent.stop()
    method = (
        f"{len(delays)} snapshots written {INTERVAL_S} s apart to a followed nmon file; from the write until "
        "`system_cpu` returns the row, polled every 50 ms, wall, stack otherwise idle, all settings at their defaults."
    )
    p95 = round(sorted(delays)[int(len(delays) * 0.95)], 2)
    Figure("counter read to queryable, p95", p95, "s", "<= 3", method).emit()
    Figure("an agent that follows a file", round(cpu_pct, 1), "% of a core", "<= 1", "CPU s by wall, same run.").emit()


def _record(folder: Path, shape: Shape, systems: int) -> float:
    """Write a recording for each system; they differ in their names alone. Return their size in MB."""
    folder.mkdir()
    out = BytesIO()
    generate(out, shape)
    for number in range(systems):
        host = f"{folder.name}{number}".encode()
        (folder / f"{number}.nmon").write_bytes(out.getvalue().replace(shape.host.encode(), host))
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


def _settle(settings: StackSettings) -> None:
    """Wait until the engine owes nothing for earlier rows: no hour to be summed, nothing to be merged."""
    owed = f"SELECT (SELECT count() {due()}) + (SELECT count() FROM system.merges) AS n"
    with settings.clickhouse("admin") as client:
        while client.rows(owed)[0]["n"]:
            time.sleep(1)


def _through(settings: StackSettings, folder: Path, *options: str) -> Through:
    """Publish a folder and wait for its last result."""
    agent_id = f"bench-{folder.name}"
    _settle(settings)
    begin, before = time.monotonic(), cpu_s(settings)
    sent = publish(folder, settings, agent_id, *options)
    published_s = time.monotonic() - begin
    with settings.clickhouse("reader") as client:
        account = wait_landed(client, agent_id, sent.records, LONGEST_S)
        landed_s = time.monotonic() - begin
        pending = wait_computed(client, agent_id, LONGEST_S)
    computed_s = time.monotonic() - begin
    if account.lost or pending:
        raise AssertionError(f"{account}, {pending} results provisional")
    spent = {"agent": sent.cpu_s, **(cpu_s(settings) - before)}
    return Through(sent, published_s, landed_s, computed_s, spent)


def _checkpointed(settings: StackSettings) -> float:
    """Wait for a checkpoint of each job that begins from now on; return MB of all."""
    since_ms = time.time() * 1000
    with flink.client(settings) as http:

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

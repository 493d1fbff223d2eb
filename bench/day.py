"""A day of job counters of a busy IBM i system through the whole line, from exports to computed results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import cpu
from bench.figure import Figure
from bench.generate_collection_services import Shape, generate
from counterflow.base.clickhouse import ClickHouse
from counterflow.stack import lifecycle
from counterflow.stack.account import wait_computed, wait_landed
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings

LONGEST_S = 1800


def main(intervals: int = 96) -> None:
    """Publish the day with the users' own command, and wait until all of it has landed and is computed."""
    parts = StackSettings.from_environment().parts
    shape = Shape(intervals=intervals)
    with tempfile.TemporaryDirectory(prefix="bench-day-") as name:
        settings = free_settings(Path(name) / "home", parts)
        folder = Path(name) / "exports"
        folder.mkdir()
        generate(folder, shape)
        try:
            lifecycle.up(settings)
            begin, idle = time.monotonic(), cpu.of_parts(settings)
            published, resident, agent = publish(folder, settings, "bench-day")
            publish_s = time.monotonic() - begin
            with ClickHouse(settings.clickhouse_url, "reader", settings.clickhouse_password("reader")) as client:
                account = wait_landed(client, "bench-day", published, LONGEST_S)
                landed_s = time.monotonic() - begin
                pending = wait_computed(client, "bench-day", LONGEST_S)
                seconds = time.monotonic() - begin
            spent = {"agent": agent, **(cpu.of_parts(settings) - idle)}
        finally:
            lifecycle.down(settings)
    print(
        f"published after {publish_s:.0f} s, landed after {landed_s:.0f} s, computed after {seconds:.0f} s; {account}"
    )
    shares = ", ".join(f"{name} {cpu:.0f}" for name, cpu in sorted(spent.items(), key=lambda part: -part[1]))
    print(f"CPU s: {shares}; together {sum(spent.values()):.0f}")
    if account.lost or pending:
        raise AssertionError(f"{account}, {pending} results provisional")
    method = (
        f"generated QAPMJOBMI of {shape.intervals * shape.rows:,} rows with QAPMJOBOS, {published:,} records; from "
        "`counterflow publish` to the last row landed and the last result complete, wall, all parts on "
        f"{os.cpu_count()} cores; published after {publish_s:.0f} s, landed after {landed_s:.0f} s; CPU s: {shares}."
    )
    Figure("a day of jobs through the line", round(seconds), "s", "<= 100", method).emit()
    Figure(
        "a day of jobs, memory of the agent", round(resident), "MiB resident", "<= 300",
        "peak of `counterflow publish` in the same run.",
    ).emit()  # fmt: skip


def publish(
    path: Path, settings: StackSettings, agent_id: str, *, system: str | None = "BENCH"
) -> tuple[int, float, float]:
    """Return the number of published records, the peak of the command's memory, MiB, and its CPU seconds."""
    command = [sys.executable, "-m", "counterflow", "publish", str(path), "--json", "--agent-id", agent_id]
    command += ["--system", system] if system else []
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**usual, **settings.environment})
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return sum(json.loads(out)["records"].values()), usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))

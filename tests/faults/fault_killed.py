"""Faults 6, 9, 10, 14 and 16: SIGKILL of each part while it works, one at a time, and of the supervisor."""

from __future__ import annotations

import collections
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo

import orjson
import pytest

from bench.generate_nmon import START, Shape, generate
from counterflow.collectors.records import Record
from counterflow.schemas.definition import datasets
from counterflow.stack import lifecycle, supervision
from tests.faults.line import PARTS, Line
from tests.support.reading import read_file
from tests.support.waiting import until

NUMBERS = {"agent": 1, "kafka": 6, "taskmanager": 9, "jobmanager": 10, "lander": 14, "clickhouse": 16, "exporter": 24}
BEGIN, DAYS = START.date(), 2
"""Days of the generated recordings."""


class Folder:
    """A folder of generated recordings, and a `counterflow publish` that is run until it has published all."""

    def __init__(self, line: Line, folder: Path, snapshots: int = 500, disks: int = 60) -> None:
        self.line, self.path, self.name = line, folder, f"{line.name}-{folder.name}"
        folder.mkdir()
        for number in range(2):
            shape = Shape(snapshots, disks=disks, seed=number, host=f"{self.name}-{number}")
            with (folder / f"{number}.nmon").open("wb") as out:
                generate(out, shape)
        self.runs = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._publish)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self.kill()
        self._thread.join()

    def kill(self) -> None:
        """SIGKILL the run that is publishing; the next one resumes."""
        if self._process:
            with suppress(ProcessLookupError):
                self._process.kill()

    def wait(self, timeout_s: float = 300) -> None:
        """Wait until a run has published everything."""
        self._thread.join(timeout_s)
        assert not self._thread.is_alive(), f"{self.name}: {self.runs} runs did not publish everything"

    def written(self) -> collections.Counter[str]:
        """Count the natural keys of the records that the files hold, by dataset."""
        keys = {
            (item.dataset, *(item.fields.get(name, "") for name in datasets()[item.dataset].key))
            for file in sorted(self.path.iterdir())
            for item in read_file(file, ZoneInfo("UTC"))
            if isinstance(item, Record)
        }
        return collections.Counter(str(dataset) for dataset, *_ in keys)

    def _publish(self) -> None:
        command = [sys.executable, "-m", "counterflow", "publish", str(self.path), "--agent-id", self.name]
        environment = {**os.environ, **self.line.stack.environment}
        while not self._ended:
            self.runs += 1
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
            if self._process.wait() == 0:
                return
            time.sleep(1)


def audited(line: Line, names: Collection[str]) -> dict[str, dict[str, int]]:
    """Return what one audit of the folders' days reports of each of these agents, and the days' wrong results."""
    times = ("--from", f"{BEGIN}", "--to", f"{BEGIN.replace(day=BEGIN.day + DAYS)}")
    report = orjson.loads(line.counterflow("audit", *times, "--grace", "0", "--json").stdout)
    of_results = {"wrong": report["results_wrong"]}
    return {
        agent["agent_id"]: {"pending": agent["pending"], "lost": agent["lost"], **of_results}
        for agent in report["agents"]
        if agent["agent_id"] in names
    }


@pytest.mark.parametrize("part", NUMBERS)
def test_killed(line: Line, report: Callable[..., None], part: str) -> None:
    log = line.stack.logs / "jobmanager.log"
    before = log.stat().st_size
    time.sleep(random.uniform(0, 2))
    began = time.monotonic()
    killed = line.kill(part)
    until(lambda: line.pid(part) not in (0, killed))
    until(lambda: all(found.state == "running" for found in lifecycle.status(line.stack)), within_s=300)
    line.back()
    report(NUMBERS[part], time.monotonic() - began, line.oracle())
    assert b"NoResourceAvailableException" not in log.read_bytes()[before:], "jobs did not wait for the TaskManager"


def test_supervisor_killed(line: Line) -> None:
    line.kill("supervisor")
    until(lambda: not supervision.alive(line.stack))
    line.back()
    assert "that a killed supervisor left" in line.counterflow("status").stdout
    assert line.counterflow("up", timeout_s=900).returncode == 0
    line.back()
    line.kill("lander")
    line.back()
    assert line.oracle().right


def test_killed_at_random(line: Line, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """As many kills as `--kills` sets, over all parts, between them a pause from none to a whole recovery.

    Meanwhile folders of recordings are published. In the middle ClickHouse is frozen until the lander has paused its
    partitions; then the broker is frozen for longer than a session of a consumer, and killed.
    """
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    chance = random.Random(seed)
    kills = request.config.getoption("--kills")
    with ExitStack() as published:
        folders = [published.enter_context(Folder(line, tmp_path / f"folder{n}")) for n in range(3)]
        for number in range(kills):
            if number == kills // 2:
                kill_broker_while_reading_is_paused(line)
            victim = chance.choice([*PARTS, "agent", *folders])
            victim.kill() if isinstance(victim, Folder) else line.kill(victim)
            time.sleep(chance.choice([chance.uniform(0, 0.5), chance.uniform(0, 5), chance.uniform(5, 20)]))
            if number % 25 == 24:
                line.back()
        line.back()
        for folder in folders:
            folder.wait()
    until(lambda: all(found.state == "running" for found in lifecycle.status(line.stack)), within_s=300)
    written = {folder.name: folder.written() for folder in folders}
    until(lambda: {name: line.counted(name) for name in written} == written, within_s=300, every_s=1)
    right = {name: {"pending": 0, "lost": 0, "wrong": 0} for name in written}
    until(lambda: audited(line, written) == right, within_s=300, every_s=1)
    assert line.oracle().right


def kill_broker_while_reading_is_paused(line: Line) -> None:
    """Freeze ClickHouse until inserts have failed, then lose the broker, then let ClickHouse continue."""
    until(lambda: line.pid("clickhouse") and line.pid("kafka"))
    engine = line.pid("clickhouse")
    os.kill(engine, signal.SIGSTOP)
    try:
        until(lambda: "inserts in a row failed" in line.health(line.stack.lander_metrics_port))
        broker = line.pid("kafka")
        os.kill(broker, signal.SIGSTOP)
        time.sleep(15)
        os.kill(broker, signal.SIGKILL)
        until(lambda: line.pid("kafka") not in (0, broker))
    finally:
        os.kill(engine, signal.SIGCONT)

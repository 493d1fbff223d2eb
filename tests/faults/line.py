"""The stack under load, and what must be true of it whatever was done to it.

Recordings grow, an agent publishes them, jobs compute, the lander lands. `counterflow audit` says at the end whether
every record arrived once and every result is right; a parse of the files beside it says how many there are.
"""

from __future__ import annotations

import collections
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self
from zoneinfo import ZoneInfo

import httpx

from counterflow.clickhouse import ClickHouse, ClickHouseError
from counterflow.collectors.reading import read_file
from counterflow.collectors.records import Record
from counterflow.stack import supervision
from counterflow.stack.settings import StackSettings
from tests.agents import until
from tests.integration.test_agent import Agent, Recording, is_read

PARTS = ("kafka", "clickhouse", "jobmanager", "taskmanager", "lander", "exporter", "jobs", "health")
EVERY_S = 0.1
"""Seconds from a snapshot of each recording to the next: about 200 records a second."""
_lines = itertools.count()


class Verdict(NamedTuple):
    """What the oracle says."""

    landed: int
    lost: int
    duplicates: int
    results_checked: int
    results_wrong: int


class Line:
    """A load of its own on a stack: its files, its agent, its time."""

    def __init__(self, stack: StackSettings, folder: Path, disks: int = 8) -> None:
        number = next(_lines)
        self.stack, self.folder, self.name = stack, folder, f"faults-{os.getpid()}-{number}"
        self.begin = datetime(2026, 8, 1, tzinfo=UTC) + number * timedelta(days=2)
        self.recordings = [Recording(folder / f"{n}.nmon", f"{self.name}-{n}", disks) for n in range(2)]
        for recording in self.recordings:
            recording.start = self.begin
        self.agent = self._agent()
        self.files: list[Path] = [recording.path for recording in self.recordings]
        self._write, self._done = threading.Event(), threading.Event()
        self._writer = threading.Thread(target=self._load)
        password = stack.clickhouse_password("reader")
        self.reader = ClickHouse(stack.clickhouse_url, "reader", password, timeout_s=10)

    def __enter__(self) -> Self:
        self._write.set()
        self._writer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._write.set()
        self._writer.join()
        self.agent.__exit__()
        self.reader.close()

    def kill(self, part: str) -> None:
        """SIGKILL a part as it is: in the middle of whatever it does."""
        if part == "agent":
            self.agent.process.kill()
            self.agent.process.wait()
            self.agent = self._agent()
        elif pid := supervision.states(self.stack)[part].pid:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def back(self, timeout_s: float = 180) -> float:
        """Wait until a snapshot written from now on has come through, to its result; returns the seconds."""
        began = time.monotonic()
        recording = self.recordings[0]
        ts = recording.start + timedelta(seconds=recording.written + 2)
        until(lambda: self._result(recording, ts), timeout_s, self.agent.log)
        return time.monotonic() - began

    def oracle(self, timeout_s: float = 120) -> Verdict:
        """Rest the load, let everything come through, and say what is lost, doubled or wrong; then go on."""
        with self.resting():
            until(is_read(self.stack, self.name, *self.files), timeout_s, self.agent.log)
            end = time.monotonic() + timeout_s
            while True:
                said = self._audit()
                moving = said is None or said["pending"] or said["results_wrong"] or said["lost"]
                if not moving or time.monotonic() > end:
                    break
                time.sleep(1)
            assert said, "the audit cannot ask Kafka and ClickHouse"
            assert not said["pending"], said
            assert self.landed() == self.written()
        names = ("landed", "lost", "duplicates", "results_checked", "results_wrong")
        return Verdict(*(said[name] for name in names))

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Write nothing meanwhile."""
        self._write.clear()
        time.sleep(2 * EVERY_S)
        try:
            yield
        finally:
            self._write.set()

    def written(self) -> collections.Counter[str]:
        """Count the records that the files hold, by dataset."""
        items = (item for file in self.files for item in read_file(file, ZoneInfo("UTC")))
        return collections.Counter(item.dataset for item in items if isinstance(item, Record))

    def landed(self) -> collections.Counter[str]:
        """Count the records that came to the tables, by dataset."""
        sql = "SELECT dataset, sum(rows) AS n FROM counterflow.ledger WHERE agent_id = {agent:String} GROUP BY dataset"
        rows = self.reader.rows(sql, {"param_agent": self.name})
        return collections.Counter({row["dataset"]: int(row["n"]) for row in rows if row["dataset"] != "quality"})

    def counterflow(self, *words: str, timeout_s: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a command against the stack."""
        command = [sys.executable, "-m", "counterflow", *words]
        environment = {**os.environ, **self.stack.environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout_s)

    def answers(self, ask: Callable[[], Any]) -> Any:
        """Ask a server that may be away."""
        with suppress(ClickHouseError, httpx.TransportError):
            return ask()
        return None

    def _agent(self) -> Agent:
        return Agent(self.folder, self.stack, self.name)

    def _load(self) -> None:
        while not self._done.wait(EVERY_S):
            self._write.wait()
            for recording in self.recordings:
                recording.append()

    def _result(self, recording: Recording, ts: datetime) -> bool:
        sql = (
            "SELECT max(n) AS n FROM counterflow.disk_load WHERE system = {system:String} AND disk = '*' "
            "AND ts >= parseDateTime64BestEffort({ts:String}, 3, 'UTC')"
        )
        host = f"{self.name}-{self.recordings.index(recording)}"
        rows = self.answers(lambda: self.reader.rows(sql, {"param_system": host, "param_ts": f"{ts:%FT%TZ}"}))
        return bool(rows) and int(rows[0]["n"]) == recording.disks

    def _audit(self) -> dict[str, Any] | None:
        times = ("--from", f"{self.begin:%FT%TZ}", "--to", f"{self.begin + timedelta(days=2):%FT%TZ}")
        run = self.counterflow("audit", *times, "--grace", "0", "--json")
        return json.loads(run.stdout) if run.returncode in (0, 1) and run.stdout else None


def right(verdict: Verdict) -> bool:
    """Say whether nothing is lost, doubled or wrong, of something."""
    return verdict.landed > 0 and verdict.results_checked > 0 and verdict[1:3] == (0, 0) and verdict.results_wrong == 0

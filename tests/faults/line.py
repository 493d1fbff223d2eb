"""The stack under load, and what must be true of it after every fault.

Recordings grow, an agent publishes them, jobs compute, the lander lands. `counterflow audit` reports at the end whether
every record arrived and every result is right; a parse of the files beside it gives their number.
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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self
from zoneinfo import ZoneInfo

import httpx

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.collectors.records import Record
from counterflow.pipelines import submission
from counterflow.schemas.definition import datasets
from counterflow.stack import flink, supervision
from counterflow.stack.jobs import cluster
from counterflow.stack.settings import StackSettings
from tests.integration.test_agent import Recording, follow, is_read
from tests.support.agents import Agent
from tests.support.ports import free_ports
from tests.support.reading import read_file
from tests.support.waiting import PATIENCE_S, until

PARTS = ("kafka", "clickhouse", "jobmanager", "taskmanager", "lander", "exporter", "jobs", "health")
EVERY_S = 0.1
"""Seconds from a snapshot of each recording to the next: about 200 records a second."""
_ABOUT_INPUT = ("quality", "deadletter")
_lines = itertools.count()


class Verdict(NamedTuple):
    """The verdict of the oracle on the records of one agent, and on the results of its time."""

    landed: int
    deadletter: int
    lost: int
    doubled: int
    results_checked: int
    results_wrong: int

    @property
    def right(self) -> bool:
        """Whether there are records and results, none of them lost, doubled or wrong."""
        return min(self.landed, self.results_checked) > 0 and not (self.lost or self.doubled or self.results_wrong)


class Line:
    """A load of its own on a stack: its files, its agent, its time."""

    def __init__(self, stack: StackSettings, folder: Path, disks: int = 8) -> None:
        number = next(_lines)
        self.stack, self.folder, self.name = stack, folder, f"faults-{os.getpid()}-{number}"
        self.begin = datetime(2026, 8, 1, tzinfo=UTC) + number * timedelta(days=2)
        self.recordings = [Recording(folder / f"{n}.nmon", f"{self.name}-{n}", disks, network=True) for n in range(2)]
        for recording in self.recordings:
            recording.start = self.begin
        [self.metrics_port] = free_ports(1)
        self.agent = self.new_agent()
        self.burst = 1
        """Snapshots that each recording gets at a time."""
        self.files: list[Path] = [recording.path for recording in self.recordings]
        self._write, self._done = threading.Event(), threading.Event()
        self._writer = threading.Thread(target=self._load)
        self.reader = stack.clickhouse("reader", timeout_s=10)

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

    def pid(self, part: str) -> int:
        """Return the process id of a part, 0 while there is none."""
        return self.agent.process.pid if part == "agent" else supervision.states(self.stack)[part].pid

    def kill(self, part: str) -> int:
        """SIGKILL a part in the middle of whatever it does; return the id of its process."""
        if pid := self.pid(part):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if part == "agent":
            self.agent.process.wait(PATIENCE_S)
            self.agent = self.new_agent()
        return pid

    def back(self, timeout_s: float = 600) -> float:
        """Wait until a snapshot written from now on has its result; return the seconds."""
        began = time.monotonic()
        recording = self.recordings[0]
        ts = recording.start + timedelta(seconds=recording.written + 2)
        until(lambda: self._result(recording, ts), self.agent.log, within_s=timeout_s)
        return time.monotonic() - began

    def checkpoint(self, timeout_s: float = 120) -> None:
        """Wait until every job has completed a checkpoint from now on: it runs, and has restored its state."""
        began = datetime.now(UTC)

        def completed() -> bool:
            with suppress(CounterflowError, httpx.HTTPError):  # a JobManager that is not back yet
                found = submission.listing(cluster(self.stack))
                late = [one.job_id for one in found if not one.checkpointed or one.checkpointed < began]
                self.request_checkpoints([job_id for job_id in late if job_id])
                time.sleep(1)
                return not late
            return False

        until(completed, within_s=timeout_s)

    def request_checkpoints(self, job_ids: Iterable[str]) -> None:
        """Let jobs write a checkpoint now, not at their next interval; one that is still starting refuses."""
        with flink.client(self.stack) as http:
            for job_id in job_ids:
                http.post(f"/jobs/{job_id}/checkpoints", json={"checkpointType": "CONFIGURED"}).raise_for_status()

    def failed_checkpoints(self) -> dict[str, int]:
        """Return how many checkpoints of each job have failed since it was submitted, by its id."""
        with cluster(self.stack).connect() as connected:
            return {job["jid"]: connected.checkpoints(job["jid"])[1] for job in connected.running()}

    def wait_committed(self, timeout_s: float = 120) -> None:
        """Wait until the agent has committed everything that is written."""
        until(is_read(self.stack, self.name, *self.files), self.agent.log, within_s=timeout_s)

    def oracle(self, timeout_s: float = 120) -> Verdict:
        """Pause the load, wait for every result, return what is lost, doubled or wrong, and resume."""
        with self.resting():
            self.wait_committed()
            end = time.monotonic() + timeout_s
            while (found := self._audit()) is None or not (found.right or time.monotonic() > end):
                assert found or time.monotonic() < end, "the audit cannot reach Kafka or ClickHouse, or much is pending"
                time.sleep(1)
            if not found.lost:
                assert self.landed() == self.written()
        return found

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Pause the load until the block ends."""
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
        """Count the landed records by dataset, each once, without those that report unreadable input."""
        sql = (
            "SELECT dataset, bitmapCardinality(groupBitmapMergeState(seqs)) AS n FROM counterflow.ledger "
            "WHERE agent_id = {agent:String} GROUP BY dataset"
        )
        rows = self.reader.rows(sql, {"param_agent": self.name})
        found = {row["dataset"]: int(row["n"]) for row in rows}
        return collections.Counter({name: n for name, n in found.items() if name not in _ABOUT_INPUT})

    def counted(self, agent: str) -> collections.Counter[str]:
        """Count the rows of an agent that queries find, by dataset, without those that report unreadable input."""
        names = [d.dataset for d in datasets().values() if d.role == "counter" and d.dataset not in _ABOUT_INPUT]
        sql = " UNION ALL ".join(
            f"SELECT '{name}' AS dataset, count() AS n FROM counterflow.{name} FINAL WHERE agent_id = {{agent:String}}"
            for name in names
        )
        return collections.Counter(
            {row["dataset"]: int(row["n"]) for row in self.reader.rows(sql, {"param_agent": agent}) if int(row["n"])}
        )

    def counterflow(self, *words: str, timeout_s: float = 300) -> subprocess.CompletedProcess[str]:
        """Run a command against the stack."""
        command = [sys.executable, "-m", "counterflow", *words]
        environment = {**os.environ, **self.stack.environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout_s)

    def health(self, port: int) -> str:
        """Return what a process reports as wrong; empty while it does not answer."""
        reply = self.answers(lambda: httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=20, trust_env=False).text)
        return reply or ""

    def answers(self, request: Callable[[], Any]) -> Any:
        """Return the response of a server; None while it is down."""
        with suppress(ClickHouseError, httpx.TransportError):
            return request()
        return None

    def new_agent(self) -> Agent:
        """Start an agent under the name of the load."""
        return follow(self.folder, self.stack, self.name, metrics_port=self.metrics_port)

    def _load(self) -> None:
        while not self._done.wait(EVERY_S):
            self._write.wait()
            for recording in self.recordings:
                recording.append(self.burst)

    def _result(self, recording: Recording, ts: datetime) -> bool:
        """Return whether the disks of an interval landed, and its links came back from Flink."""
        since = "WHERE system = {system:String} AND ts >= parseDateTime64BestEffort({ts:String}, 3, 'UTC')"
        disks = f"SELECT max(disks) FROM (SELECT count() AS disks FROM counterflow.disk_load {since} GROUP BY ts)"
        sql = f"SELECT ({disks}) AS n, (SELECT count() FROM counterflow.link_load {since}) AS links"
        host = f"{self.name}-{self.recordings.index(recording)}"
        rows = self.answers(lambda: self.reader.rows(sql, {"param_system": host, "param_ts": f"{ts:%FT%TZ}"}))
        return bool(rows) and int(rows[0]["n"] or 0) == recording.disks and int(rows[0]["links"]) > 0

    def _audit(self) -> Verdict | None:
        times = ("--from", f"{self.begin:%FT%TZ}", "--to", f"{self.begin + timedelta(days=2):%FT%TZ}")
        run = self.counterflow("audit", *times, "--grace", "0", "--json")
        if run.returncode not in (0, 1) or not run.stdout:
            return None
        report = json.loads(run.stdout)
        [ours] = [agent for agent in report["agents"] if agent["agent_id"] == self.name]
        if ours["pending"]:
            return None
        of_records = (ours[name] for name in ("landed", "deadletter", "lost"))
        doubled = (self.counted(self.name) - self.landed()).total()
        return Verdict(*of_records, doubled, report["results_checked"], report["results_wrong"])

"""Folders of recordings that are published while parts are killed, and what must be in the tables afterwards."""

from __future__ import annotations

import collections
import os
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo

import orjson

from bench.generate_nmon import START, Shape, generate
from counterflow.collectors.records import Record
from counterflow.schemas.definition import datasets
from tests.faults.line import Line
from tests.support.reading import read_file

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

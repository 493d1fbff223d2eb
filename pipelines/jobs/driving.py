"""Runs the driver, a process with Flink's planner, and returns the outcome of each job."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import orjson

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.jobs.rest import cause

DRIVER = Path(__file__).with_name("driver.py")
_PATIENCE_S = 10


class Planned(NamedTuple):
    """Outcome of planning a job: its archive is written, or why Flink rejects it."""

    job: str
    error: str = ""


class Driver:
    """The driver's process: starts with the first job, which takes seconds, and ends with the context."""

    def __init__(self, python: Path, environment: Mapping[str, str]) -> None:
        """Take the interpreter that has PyFlink, and additional environment variables."""
        self._python, self._environment = python, environment
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start no process yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.end()

    def plan(self, requests: Sequence[Mapping[str, Any]]) -> Iterator[Planned]:
        """Plan the requests that `render` made; yield the outcome of each as soon as it is known.

        Raises `CounterflowError` where the process ends before the last outcome.
        """
        if not requests:
            return
        process = self._running()
        assert process.stdin is not None  # noqa: S101 - a pipe
        assert process.stdout is not None  # noqa: S101 - a pipe
        output: list[bytes] = []
        left = [request["job"] for request in requests]
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(orjson.dumps({"jobs": requests}) + b"\n")
                process.stdin.flush()
            while left and (line := process.stdout.readline()):
                if line.startswith(b'{"job"'):
                    left.pop(0)
                    yield Planned(**orjson.loads(line))
                else:
                    output.append(line)  # output of Flink and Java, between the answers
        finally:
            if left:  # the caller left, or the process ended
                self.end()
        if left:
            raise CounterflowError(f"Flink rejected {left[0]}: {cause(b''.join(output).decode(errors='replace'))}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.end()
            self._process = subprocess.Popen(
                [self._python, DRIVER],
                env={**os.environ, **self._environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        return self._process

    def end(self) -> None:
        """Close the process's input and wait for it; its JVM exits once its client is gone. The next job starts it."""
        process, self._process = self._process, None
        if process is not None:
            try:
                process.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                for pipe in filter(None, (process.stdin, process.stdout)):
                    pipe.close()

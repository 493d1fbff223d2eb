"""The driver, a process with Flink's planner, and what became of the jobs that it was given."""

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


class Taken(NamedTuple):
    """What became of a job that was given to Flink: its Flink job id, or why it was refused."""

    job: str
    job_id: str = ""
    error: str = ""


class Driver:
    """Begins with the first job, which takes seconds, and ends with the context: more jobs are planned at once."""

    def __init__(self, python: Path, environment: Mapping[str, str]) -> None:
        """Take the interpreter that has PyFlink, and what the process needs beside the usual."""
        self._python, self._environment = python, environment
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Begin nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._end()

    def submit(self, requests: Sequence[Mapping[str, Any]]) -> Iterator[Taken]:
        """Submit what `render` made; yields what became of each as soon as that is known.

        Raises `CounterflowError` where the process ended before it came to all.
        """
        if not requests:
            return
        process = self._running()
        assert process.stdin is not None  # noqa: S101 - a pipe
        assert process.stdout is not None  # noqa: S101 - a pipe
        said: list[bytes] = []
        left = [request["job"] for request in requests]
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(orjson.dumps({"jobs": requests}) + b"\n")
                process.stdin.flush()
            while left and (line := process.stdout.readline()):
                if line.startswith(b'{"job"'):
                    left.pop(0)
                    yield Taken(**orjson.loads(line))
                else:
                    said.append(line)  # what Flink and Java say beside the answers
        finally:
            if left:  # nobody waits for the other answers
                self._end()
        if left:
            raise CounterflowError(f"Flink did not take {left[0]}: {cause(b''.join(said).decode(errors='replace'))}")

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                [self._python, DRIVER],
                env={**os.environ, **self._environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        return self._process

    def _end(self) -> None:
        """Leave the process alone, and wait for it; its JVM ends when nobody speaks to it any more."""
        process, self._process = self._process, None
        if process is not None:
            try:
                process.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

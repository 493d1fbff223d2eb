"""Runs the driver by Flink's own client (`flink run`), which ends once the jobs are submitted."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson

from counterflow.base.errors import CounterflowError
from counterflow.pipelines.submission.render import DRIVER
from counterflow.pipelines.submission.rest import cause


class Outcome(NamedTuple):
    """Outcome of a submission: the Flink job id, or why Flink rejects the job."""

    job: str
    job_id: str = ""
    error: str = ""


def drive(
    python: Path, environment: Mapping[str, str], requests: Sequence[Mapping[str, Any]], *, lock: int
) -> Iterator[Outcome]:
    """Submit the requests that `render` made; yield the outcome of each as soon as it is known.

    Parameters
    ----------
    python : the interpreter that has PyFlink.
    environment : additional environment variables: `FLINK_HOME`, `FLINK_CONF_DIR`, `FLINK_LIB_DIR`.
    lock : descriptor of a locked file. The client inherits it, so that the lock is held until it ends, even where this
        process is killed before.

    Raises
    ------
    CounterflowError : the client ended before the last outcome.
    """
    left = {request["job"] for request in requests}
    output: list[str] = []
    with TemporaryDirectory(prefix="counterflow-driver-") as scratch:
        file = Path(scratch) / "jobs.json"
        file.write_bytes(orjson.dumps({"jobs": requests}))
        flink = Path(environment["FLINK_HOME"]) / "bin/flink"
        client = subprocess.Popen(
            [flink, "run", "--detached", "--pyClientExecutable", python, "--python", DRIVER, file],
            env={**os.environ, **environment, "JVM_ARGS": f"-Djava.io.tmpdir={scratch}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            pass_fds=[lock],
        )
        with client:
            assert client.stdout is not None  # noqa: S101 - a pipe
            try:
                for line in client.stdout:
                    if line.startswith('{"job"'):
                        outcome = Outcome(**orjson.loads(line))
                        left.discard(outcome.job)
                        yield outcome
                    else:
                        output.append(line)  # of Flink and Java
            finally:
                client.terminate()
    if left:
        raise CounterflowError(f"Flink's client ended before it submitted {min(left)}: {cause(''.join(output))}")

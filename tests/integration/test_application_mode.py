"""A job on a Flink cluster of its own, as the chart runs it: a JobManager that runs the driver itself.

The files, arguments and entry class are those of a FlinkDeployment, but the cluster is Flink's standalone one instead
of pods. The job applies a rule, so that the rules are shipped too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Producer

from counterflow.cli import cli
from counterflow.schemas.definition import datasets
from counterflow.stack import flink
from counterflow.stack.settings import StackSettings
from tests.support.waiting import PATIENCE_S

JOB = "roce_cap"
LINK = {"system": "APP1", "link_type": "nrg", "link": "MIRROR_DATABASE", "interval_s": 15.0, "n": 1}


def test_a_jobmanager_runs_the_job_that_was_rendered(
    kafka: StackSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flink.jobmanager(kafka).prepare()
    monkeypatch.setenv("COUNTERFLOW_HOME", str(kafka.home))
    _run("dev", "topics", "create", "--replicas", "1", "--users", "--as", "broker", "--mechanism", "PLAIN")
    driver, job, _ = _run("jobs", "render", JOB, "--to", str(tmp_path)).split()
    program = ("--job-classname", "org.apache.flink.client.python.PythonDriver")
    arguments = ("-pyclientexec", str(kafka.flink.python), "-py", driver, job)

    scratch = f"-Dio.tmp.dirs={tmp_path}"
    with (
        _running(
            kafka, tmp_path / "jobmanager.log", "standalone-job.sh", "start-foreground", scratch, *program, *arguments
        ),
        _running(kafka, tmp_path / "taskmanager.log", "taskmanager.sh", "start-foreground", scratch),
    ):
        producer = Producer({**kafka.kafka("admin").client, "log_level": 0})
        producer.produce(_topic("link_load"), orjson.dumps({**LINK, "ts": "2026-03-02T08:00:00.000Z"}), key="APP1")
        producer.flush(30)
        verdict = _first(kafka, _topic("verdict"))
        with flink.client(kafka) as http:
            overview = http.get("/jobs/overview").json()["jobs"]

    assert [(one["name"], one["state"]) for one in overview] == [(JOB, "RUNNING")]
    assert (verdict["rule"], verdict["system"], verdict["entity"], verdict["n"]) == (JOB, "APP1", LINK["link"], 1)


def _run(*words: str) -> str:
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output or result.exception
    return result.stdout


def _topic(dataset: str) -> str:
    return datasets()[dataset].topic


@contextmanager
def _running(kafka: StackSettings, log: Path, script: str, *arguments: str) -> Iterator[None]:
    command = [kafka.flink.distribution / "bin" / script, *arguments]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, env={**os.environ, **kafka.flink.environment}, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        yield
    except BaseException:
        print(log.read_text(errors="replace")[-20_000:])
        raise
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)


def _first(kafka: StackSettings, topic: str) -> dict[str, Any]:
    consumer = Consumer({**kafka.kafka("admin").client, "group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            message = consumer.poll(1)
            if message is not None and not message.error():
                found: dict[str, Any] = orjson.loads(message.value() or b"")
                if found["system"] == LINK["system"]:  # others may have used the topic before
                    return found
    finally:
        consumer.close()
    raise AssertionError(f"nothing of {LINK['system']} was written to {topic}")

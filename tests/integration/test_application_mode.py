"""A job on a Flink cluster of its own, as the chart runs it: a JobManager that runs the driver itself.

The files, arguments and entry class are those of a FlinkDeployment, but the cluster is Flink's standalone one instead
of pods. The job applies a rule, so that the rules are shipped too.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import Consumer, Producer

from counterflow.schemas.definition import datasets
from counterflow.stack import flink
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run
from tests.support.prometheus import running
from tests.support.waiting import until

JOB = "roce_cap"
LINK = {"system": "APP1", "link_type": "nrg", "link": "MIRROR_DATABASE", "interval_s": 15.0, "n": 1}


def test_a_jobmanager_runs_the_job_that_was_rendered(kafka: StackSettings, tmp_path: Path) -> None:
    flink.jobmanager(kafka).prepare()
    _run(kafka, "dev", "topics", "create", "--replicas", "1", "--users", "--as", "broker", "--mechanism", "PLAIN")
    driver, job, _ = _run(kafka, "jobs", "render", JOB, "--to", str(tmp_path)).split()
    program = ("--job-classname", "org.apache.flink.client.python.PythonDriver")
    arguments = ("-pyclientexec", str(kafka.flink_python), "-py", driver, job)

    def start(part: str, script: str, *arguments: str) -> AbstractContextManager[None]:
        command = (str(kafka.flink_distribution / "bin" / script), "start-foreground", f"-Dio.tmp.dirs={tmp_path}")
        return running(tmp_path / f"{part}.log", *command, *arguments, **kafka.flink_environment)

    consumer = Consumer({**kafka.kafka("admin").client, "group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe([_topic("verdict")])

    def judged() -> dict[str, Any] | None:
        message = consumer.poll(1)
        row = orjson.loads(message.value() or b"{}") if message and not message.error() else {}
        return row if row.get("system") == LINK["system"] else None  # others may have used the topic before

    with (
        start("jobmanager", "standalone-job.sh", *program, *arguments),
        start("taskmanager", "taskmanager.sh"),
        closing(consumer),
    ):
        producer = Producer({**kafka.kafka("admin").client, "log_level": 0})
        producer.produce(_topic("link_load"), orjson.dumps({**LINK, "ts": "2026-03-02T08:00:00.000Z"}), key="APP1")
        producer.flush(30)
        verdict = until(judged, tmp_path / "jobmanager.log")
        with flink.client(kafka) as http:
            overview = http.get("/jobs/overview").json()["jobs"]

    assert [(one["name"], one["state"]) for one in overview] == [(JOB, "RUNNING")]
    assert (verdict["rule"], verdict["system"], verdict["entity"], verdict["n"]) == (JOB, "APP1", LINK["link"], 1)


def _run(kafka: StackSettings, *words: str) -> str:
    done = run(*words, **kafka.environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _topic(dataset: str) -> str:
    return datasets()[dataset].topic

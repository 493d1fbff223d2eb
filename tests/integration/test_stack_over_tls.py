"""The whole stack over TLS, through the commands that people type."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from counterflow.pipelines.jobs import all_jobs
from counterflow.stack import certificate, lifecycle
from counterflow.stack.settings import StackSettings
from tests.support.agents import until
from tests.support.dds import Authority

PARTS = {"supervisor", "kafka", "clickhouse", "jobmanager", "taskmanager", "lander", "exporter", "jobs", "health"}


@pytest.fixture(scope="module")
def line(new_stack: Callable[[], StackSettings], tmp_path_factory: pytest.TempPathFactory) -> StackSettings:
    """A stack whose Kafka and ClickHouse speak TLS alone, as Flink's ports always do."""
    settings = Authority(tmp_path_factory.mktemp("authority")).over_tls(new_stack())
    lifecycle.up(settings)
    return settings


def counterflow(line: StackSettings, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "counterflow", *words],
        env={**os.environ, **line.environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_status_shows_every_part(line: StackSettings) -> None:
    done = counterflow(line, "status", "--json")
    assert done.returncode == 0, done.stderr
    found = {one["name"]: one["state"] for one in json.loads(done.stdout)["parts"]}
    assert found == dict.fromkeys(PARTS, "running")


def test_jobs_are_listed_cancelled_and_submitted_again(line: StackSettings) -> None:
    def listed() -> dict[str, tuple[str, str]]:
        lines = counterflow(line, "jobs", "list", "--json").stdout.splitlines()
        return {one["job"]: (one["state"], one["job_id"]) for one in map(json.loads, lines)}

    before = listed()
    assert {name: state for name, (state, _) in before.items()} == dict.fromkeys(all_jobs(), "RUNNING")
    assert counterflow(line, "jobs", "cancel", "io_mix").stdout == "io_mix cancelled\n"
    until(lambda: listed()["io_mix"][0] == "RUNNING", 60)  # by the part that watches
    assert listed()["io_mix"][1] != before["io_mix"][1]
    assert counterflow(line, "jobs", "submit", "io_mix").stdout == "io_mix running\n"


def test_the_doctor_finds_a_certificate_that_expires(line: StackSettings) -> None:
    until(lambda: "All parts work." in counterflow(line, "doctor").stdout, 60)
    kept = line.flink_certificate.read_bytes()
    end = datetime.now(UTC) + timedelta(days=9)
    pem, _ = certificate.issue(end - certificate.VALID, b"password")
    line.flink_certificate.write_bytes(pem)
    try:
        done = counterflow(line, "doctor")
    finally:
        line.flink_certificate.write_bytes(kept)
    assert done.returncode == 2
    what, remedy = (
        f"fail     flink: its certificate expires on {end:%F}",
        "to do: counterflow down, then counterflow up",
    )
    assert f"{what}\n         {remedy}\n" in done.stdout

"""The command line as a new user runs it, against the one real stack of the test session."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.simulate import START
from counterflow.stack.account import wait_computed, wait_judged, wait_landed
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run_apart

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Case = dict[str, Any]


@pytest.fixture(scope="session")
def environment(stack: StackSettings) -> dict[str, str]:
    """The environment in which the commands find the stack."""
    return {**os.environ, "COUNTERFLOW_HOME": str(stack.home), "COUNTERFLOW_PARTS": str(stack.parts)}


@pytest.fixture(scope="session")
def counterflow(environment: dict[str, str]) -> Run:
    """Run `counterflow ARGUMENTS`; returns when it ends."""

    return partial(run_apart, **environment)


@pytest.fixture(scope="session")
def reader(stack: StackSettings) -> Iterator[ClickHouse]:
    """ClickHouse as the user who may only read."""
    with stack.clickhouse("reader") as client:
        yield client


@pytest.fixture(scope="session")
def demo(counterflow: Run) -> subprocess.CompletedProcess[str]:
    """What `counterflow demo --json` reported; its stories begin as those of `simulated`, and stay in the stack."""
    return counterflow("demo", "--start", f"{START:%FT%TZ}", "--json", within_s=900)


@pytest.fixture(scope="session")
def simulated(counterflow: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    """Simulate a case, once a session; return what the command reports of it, and the `folder` of its files."""

    @cache
    def make(name: str) -> Case:
        folder = tmp_path_factory.mktemp(name)
        run = counterflow("study", "simulate", name, "--out", folder, "--json")
        assert run.returncode == 0, run.stderr
        return {**json.loads(run.stdout), "folder": folder}

    return make


@pytest.fixture(scope="session")
def published(
    counterflow: Run, reader: ClickHouse, demo: subprocess.CompletedProcess[str], simulated: Callable[[str], Case]
) -> Callable[[str], Case]:
    """Return a simulated case all of whose records and results are stored: a story by the demo, others on request."""
    stored = {story["case"] for story in json.loads(demo.stdout)["stories"]}

    def make(name: str) -> Case:
        case = simulated(name)
        if name not in stored:
            _publish(name, case["folder"], counterflow, reader)
            stored.add(name)
        return case

    return make


def _publish(name: str, folder: Path, counterflow: Run, reader: ClickHouse) -> None:
    records = 0
    for path in sorted(folder.iterdir()):
        named = () if path.name in ("HMC", "SITE") else ("--system", path.name)
        sent = counterflow("publish", path, *named, "--agent-id", name, "--json")
        assert sent.returncode == 0, sent.stderr
        outcome = json.loads(sent.stdout)
        assert set(outcome["rejects"]) <= {"read_with_another", "column_missing", "sample_missing"}, outcome
        records += sum(outcome["records"].values())
    landed = wait_landed(reader, name, records)
    assert (landed.lost, landed.deadletter) == (0, 0)
    assert wait_computed(reader, name) == 0
    assert wait_judged(reader, name) == 0


def during(run: Case) -> str:
    """Return the condition that an interval belongs to a run."""
    return f"ts > parseDateTimeBestEffort('{run['after']}') AND ts <= parseDateTimeBestEffort('{run['until']}')"


def states(reader: ClickHouse, run: Case, rule: str, system: str, entity: str) -> list[str]:
    """Return the state after each interval of a run, of a log or of links of a type."""
    judged = f"rule = '{rule}' AND system = '{system}' AND '{entity}' IN (entity, entity_type) AND NOT stale"
    rows = reader.rows(f"SELECT state FROM counterflow.verdict FINAL WHERE {during(run)} AND {judged} ORDER BY ts")
    return [row["state"] for row in rows]

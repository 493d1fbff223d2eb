"""Servers of a bench, on free ports and in a folder of their own, and what their processes cost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from counterflow.schemas.definition import topics
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle, supervision
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.servers import free_settings


@contextmanager
def running(*parts: str) -> Iterator[tuple[StackSettings, Path]]:
    """Yield the settings of started parts, with topics and tables, and a folder; without names, of the whole stack."""
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        settings = free_settings(Path(name) / "home", StackSettings.from_environment().parts)
        try:
            if parts:
                lifecycle.start(settings, *parts)
            else:
                lifecycle.up(settings)
            if "kafka" in parts:
                create_topics(settings, topics())
            if "clickhouse" in parts:
                with settings.clickhouse("migrator") as client:
                    migrate(client)
            yield settings, Path(name)
        finally:
            lifecycle.down(settings)


def cpu_s(settings: StackSettings) -> Counter[str]:
    """Return CPU seconds, user and system, by part, of it and its children, including those that have ended."""
    found: Counter[str] = Counter()
    for name, state in supervision.states(settings).items():
        with suppress(psutil.NoSuchProcess):
            one = psutil.Process(state.pid)
            for process in [one, *(one.children(recursive=True) if name != "supervisor" else ())]:
                times = process.cpu_times()
                found[name] += times.user + times.system + times.children_user + times.children_system
    return found


def listed(spent: Mapping[str, float]) -> str:
    """Return CPU seconds by part as text, the largest first."""
    return ", ".join(f"{part} {taken:.1f}" for part, taken in sorted(spent.items(), key=lambda one: -one[1]))


class Published(NamedTuple):
    """What `counterflow publish` sent, the peak of its resident memory, and its CPU seconds."""

    records: int
    resident_mib: float
    cpu_s: float


def publish(path: Path, settings: StackSettings, agent_id: str, *options: str) -> Published:
    """Publish files by the users' own command."""
    command = [sys.executable, "-m", "counterflow", "publish", str(path), "--json", "--agent-id", agent_id, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=usual_environment(settings.environment))
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    sent = sum(json.loads(out)["records"].values())
    return Published(sent, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def usual_environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a user's command: Python may keep what it compiled."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**usual, **(more or {})}

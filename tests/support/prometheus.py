"""Prometheus' own programs: those of the machine, else those that `make prometheus` unpacked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.support.waiting import PATIENCE_S

REPOSITORY = Path(__file__).resolve().parents[2]


def program(name: str) -> str:
    """Return the path of `prometheus`, `promtool`, `prometheus-alertmanager` or `amtool`."""
    unpacked = REPOSITORY / ".counterflow/prometheus/usr/bin"
    found = shutil.which(name) or shutil.which(name, path=str(unpacked))
    assert found, f"there is no {name}: make prometheus"
    return found


def folder(name: str) -> Path:
    """Return the folder in which a long-running program starts: the one below which it was unpacked."""
    return Path(program(name)).parents[2]


def run(name: str, *arguments: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run one of the programs, in the root of the repository."""
    command = [program(name), *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=PATIENCE_S, cwd=REPOSITORY, env={**os.environ}
    )

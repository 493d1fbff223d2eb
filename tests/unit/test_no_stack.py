"""Commands that need a stack give one answer where none runs: at once, what is missing and what starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[2] / "samples/nmon/linux_16n_plain.nmon"
NEED_A_STACK = (
    ("audit",),
    ("backup", "a"),
    ("checkup",),
    ("culprit", "SYSA", "--from", "2026-03-02", "--to", "2026-03-03"),
    ("deadletter", "list"),
    ("deadletter", "replay", "--reason", "schema"),
    ("doctor",),
    ("jobs", "list"),
    ("land",),
    ("jobs", "submit"),
    ("migrate",),
    ("publish", str(SAMPLE)),
    ("report",),
    ("restore", "a"),
    ("rules", "learn", "log_ceiling", "--from", "2026-03-02", "--to", "2026-03-03"),
    ("sql", "SELECT 1"),
    ("study", "compare", "--baseline", "a", "--scenario", "b"),
    ("topics", "create"),
    ("verdicts", "export"),
)


@pytest.mark.parametrize("arguments", NEED_A_STACK, ids=" ".join)
def test_the_answer_is_the_same(arguments: tuple[str, ...], tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERFLOW_")}
    environment["COUNTERFLOW_HOME"] = str(tmp_path)
    command = [sys.executable, "-m", "counterflow", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        f"error: no stack is running in {tmp_path}\n"
        "hint: counterflow up starts one; counterflow look FILE needs none\n",
    )

"""Which stack commands use: where none runs, all give one answer, at once: what is missing and what starts it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from counterflow.stack.settings import StackSettings
from tests.support.command_line import run

SAMPLE = Path(__file__).parents[2] / "samples/nmon/linux_16n_plain.nmon.gz"
NEED_A_STACK = (
    ("audit",),
    ("backup", "create", "a"),
    ("deadletter", "list"),
    ("deadletter", "replay", "--reason", "schema"),
    ("doctor",),
    ("doctor", "SYSA", "--at", "2026-03-02"),
    ("jobs", "list"),
    ("dev", "land"),
    ("jobs", "submit"),
    ("dev", "migrate"),
    ("publish", str(SAMPLE)),
    ("report",),
    ("backup", "restore", "a"),
    ("sql", "SELECT 1"),
    ("study", "compare", "--baseline", "a", "--scenario", "b"),
    ("dev", "topics", "create"),
    ("dev", "verdicts"),
)


@pytest.mark.parametrize("arguments", NEED_A_STACK, ids=" ".join)
def test_the_answer_is_the_same(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*arguments, COUNTERFLOW_HOME=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        f"error: no stack is running in {tmp_path}\n"
        "hint: counterflow up starts one; counterflow look FILE needs none\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit",),
        ("deadletter", "replay", "--reason", "schema"),
        ("jobs", "rerun", "--from", "2026-03-02", "--to", "2026-03-03"),
        ("dev", "topics", "create", "--users"),
    ],
    ids=" ".join,
)
def test_the_stack_of_this_folder_is_not_taken_for_the_servers_that_variables_name(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    stack = StackSettings(home=tmp_path, grafana=None)
    stack.stack_file.write_text(stack.model_dump_json())
    elsewhere = {
        "COUNTERFLOW_KAFKA_BOOTSTRAP": "kafka.example.com:9094",
        "COUNTERFLOW_TLS_CA": str(tmp_path / "ca.pem"),
    }
    done = run(*arguments, COUNTERFLOW_HOME=str(tmp_path), **elsewhere)
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        "",
        "error: COUNTERFLOW_KAFKA_BOOTSTRAP names kafka.example.com:9094, "
        f"but the stack of {tmp_path} runs here\n"
        "hint: unset COUNTERFLOW_KAFKA_BOOTSTRAP for this stack, or set COUNTERFLOW_HOME to another folder\n",
    )


@pytest.mark.parametrize("arguments", [("up",), ("demo",), ("demo", "--live", "--seconds", "1")], ids=" ".join)
def test_no_stack_is_started_beside_the_servers_that_variables_name(arguments: tuple[str, ...], tmp_path: Path) -> None:
    nmon = tmp_path / "bin/nmon"
    nmon.parent.mkdir()
    nmon.touch(0o755)
    home = tmp_path / "home"
    elsewhere = {"COUNTERFLOW_CLICKHOUSE_URL": "https://clickhouse.example.com:8443", "COUNTERFLOW_HOME": str(home)}
    done = run(*arguments, PATH=f"{nmon.parent}:{os.environ['PATH']}", **elsewhere)
    assert done.returncode == 2
    assert "COUNTERFLOW_CLICKHOUSE_URL points to your own servers, but this command starts new ones" in done.stderr
    assert "hint: unset COUNTERFLOW_CLICKHOUSE_URL" in done.stderr
    assert not home.exists()


def test_variables_may_name_the_stack_of_this_folder(tmp_path: Path) -> None:
    stack = StackSettings(home=tmp_path, kafka_port=29092, clickhouse_port=28123, grafana=None)
    stack.stack_file.write_text(stack.model_dump_json())
    home = {"COUNTERFLOW_HOME": str(tmp_path)}
    its_own = {
        "COUNTERFLOW_KAFKA_BOOTSTRAP": "127.0.0.1:29092",
        "COUNTERFLOW_CLICKHOUSE_URL": "http://127.0.0.1:28123",
    }
    assert StackSettings.load(home) == StackSettings.load(home | its_own) == stack

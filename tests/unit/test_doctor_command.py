"""`doctor SYSTEM` on a kept recording: what it examines, in what form, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from counterflow.analysis.answer import Answer
from tests.unit.test_look import LINUX, counterflow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a recording, kept as `kept`."""
    folder = tmp_path_factory.mktemp("doctor")
    (folder / "vm.nmon").write_bytes(LINUX)
    assert counterflow("look", "vm.nmon", "--zone", "UTC", "--keep", "kept", folder=folder).returncode == 0
    return folder


def test_a_time_without_records_before_or_in_question_is_refused(folder: Path) -> None:
    begun = "2026-11-21T01:41:18"  # the beginning of the first interval, which ends a second later
    there = "hint: there is vm from 2026-11-21 01:41:18 to 2026-11-21 01:41:48\n"
    for begin, end, empty in (
        (begun, "2026-11-21T01:41:30", "2026-11-21 00:41:18 to 2026-11-21 01:41:18"),
        ("2027-01-01", "2027-01-02", "2027-01-01 00:00:00 to 2027-01-02 00:00:00"),
    ):
        done = counterflow("doctor", "vm", "--on", "kept", "--at", begin, "--to", end, folder=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"error: nothing was recorded of vm from {empty} UTC\n{there}"
    assert counterflow("doctor", "vm", "--on", "kept", *times(), folder=folder).returncode == 0


def test_every_answer_has_one_shape_and_fits_80_columns(folder: Path) -> None:
    (folder / "facts.yaml").write_text("systems: {vm: {vios: true, vios_memory_mb: 512, performance_adjustment: 1}}")
    facts = ("--on", "kept", "--facts", "facts.yaml")
    shown = counterflow("doctor", "vm", *facts, folder=folder)
    assert shown.returncode == 1, shown.stderr
    assert max(map(len, shown.stdout.splitlines())) <= 80
    order = [line.split()[0] for line in shown.stdout.splitlines() if line[:1].strip() and line[8:9] == " "]
    assert order == sorted(order, key=["pass", "unknown", "warn", "fail"].index)
    shown = counterflow("doctor", "vm", *facts, "--json", folder=folder)
    ranked = counterflow("doctor", "vm", "--on", "kept", *times(), "--json", folder=folder)
    answers = [json.loads(line) for line in (shown.stdout + ranked.stdout).splitlines()]
    assert {tuple(answer) for answer in answers} == {Answer._fields}
    assert {answer["kind"] for answer in answers} == {"verdict", "kpi", "alert", "board", "rule", "change"}
    warned = {answer["subject"]: answer for answer in answers if answer["kind"] == "rule"}["pool_adjustment"]
    assert (warned["status"], warned["figure"], warned["needs"]) == ("warn", "no, expected yes (QPFRADJ is 1)", {})


def times() -> tuple[str, ...]:
    return "--at", "2026-11-21T01:41:30", "--to", "2026-11-21T01:41:40"


def test_options_of_another_question_are_refused(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    for words in (("--facts", "f.yaml"), ("--at", "2026-03-02"), ("A", "B", "--at", "2026-03-02"), ("A", "--sql")):
        done = counterflow("doctor", *words, "--on", "kept", folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert "Usage: " in done.stderr

"""`counterflow agent install`: the unit is written once, never over another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import run


def test_it_writes_what_it_prints_and_leaves_another_unit_alone(tmp_path: Path) -> None:
    words = ("agent", "install", "--program", "/opt/a/counterflow", "--config", "/etc/perf/agent.yaml")
    unit = tmp_path / "counterflow-agent.service"
    printed = run(*words, "--print").stdout
    assert "ExecStart=/opt/a/counterflow agent run --config /etc/perf/agent.yaml\n" in printed
    assert "LoadCredential=secrets:/etc/perf/secrets\n" in printed

    written = run(*words, "--to", str(tmp_path))
    assert (written.returncode, written.stdout.splitlines()[0]) == (0, f"{unit}: written")
    assert unit.read_text() == printed
    again = run(*words, "--to", str(tmp_path))
    assert (again.returncode, again.stdout.splitlines()[0]) == (0, f"{unit}: is there already")

    unit.write_text(printed + "# ours\n")
    refused = run(*words, "--to", str(tmp_path))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"error: {unit} differs from the unit of this version\nhint: ")
    assert unit.read_text() == printed + "# ours\n"


def test_a_folder_that_is_not_there_and_a_path_that_a_unit_would_read_otherwise_are_named(tmp_path: Path) -> None:
    program = ("agent", "install", "--program", "/opt/counterflow")
    absent = run(*program, "--to", str(tmp_path / "none"))
    assert absent.returncode == 1
    assert "No such file or directory" in absent.stderr
    for path in ("relative/agent.yaml", "/etc/two words/agent.yaml", "/etc/%h/agent.yaml"):
        refused = run(*program, "--config", path, "--print")
        assert (refused.returncode, refused.stderr.splitlines()[0]) == (
            2,
            f"error: {path}: no path for a unit of systemd",
        )


@pytest.mark.parametrize("hidden", ["/home/ann/bin/counterflow", "/root/counterflow", "/tmp/venv/bin/counterflow"])
def test_a_program_that_the_unit_hides_from_itself_is_refused(hidden: str) -> None:
    refused = run("agent", "install", "--program", hidden, "--print")
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: {hidden}: the agent's unit sees no such folder\nhint: move it")

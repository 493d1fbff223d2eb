"""Which Java and npm the stack runs: the machine's, or those in the parts folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from counterflow.base.errors import CounterflowError
from counterflow.stack import runtimes

Machine = Callable[..., Path]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with programs that print the given words to standard error; `has` returns their folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    def has(**programs: str) -> Path:
        for name, words in programs.items():
            (folder / name).write_text(f"#!/bin/sh\necho '{words}' >&2\n")
            (folder / name).chmod(0o755)
        return folder

    return has


@pytest.mark.usefixtures("machine")
def test_a_bare_machine_runs_what_is_in_the_parts_folder(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    java = runtimes.java(parts)
    assert Path(java).is_relative_to(parts)
    assert runtimes.java_environment(parts) == {"JAVA_HOME": java.removesuffix("/bin/java")}
    assert [Path(word).is_relative_to(parts) for word in runtimes.npm(parts)] == [True, True]
    lacks = {name: runtimes.lack(name) for name in ("java", "node")}
    assert lacks == {"java": "java is not on PATH", "node": "node is not on PATH"}


def test_what_the_machine_has_is_used(machine: Machine, tmp_path: Path) -> None:
    folder = machine(java='openjdk version "17.0.15" 2025-04-15', node="", npm="")
    assert runtimes.java(tmp_path) == str(folder / "java")
    assert runtimes.java_environment(tmp_path) == {}
    assert runtimes.npm(tmp_path) == (str(folder / "npm"),)
    assert not any(map(runtimes.lack, ("java", "node")))


def test_npm_does_not_serve_without_node(machine: Machine, tmp_path: Path) -> None:
    machine(npm="")
    assert len(runtimes.npm(tmp_path)) == 2
    assert runtimes.lack("node") == "node is not on PATH"


@pytest.mark.parametrize(
    ("words", "serves"),
    [
        ('openjdk version "17.0.15" 2025-04-15', True),
        ('NOTE: Picked up JDK_JAVA_OPTIONS: -Xmx1g\nopenjdk version "21.0.8" 2025-07-15 LTS', True),
        ('openjdk version "22" 2024-03-19', True),
        ('openjdk version "11.0.2" 2019-01-15', False),
        ('java version "1.8.0_292"', False),
        ("no JVM is installed", False),
    ],
)
def test_a_java_serves_from_17_on(machine: Machine, tmp_path: Path, words: str, serves: bool) -> None:
    java = machine(java=words) / "java"
    assert (runtimes.java(tmp_path) == str(java)) is serves
    lacks = "" if serves else f"Java 17 or newer is needed; {java} reports: {words}"
    assert runtimes.lack("java") == lacks


def test_java_home_comes_before_path(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = machine(java='openjdk version "21.0.8"')
    monkeypatch.setenv("JAVA_HOME", str(folder.parent))
    assert runtimes.java(tmp_path / "parts") == str(folder / "java")
    assert runtimes.lack("java") == ""
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(CounterflowError, match="JAVA_HOME is /nowhere, where there is no bin/java") as refused:
        runtimes.lack("java")
    assert refused.value.hint == "unset JAVA_HOME"

"""The first `counterflow up` of a new user: everything missing is named together, before anything is fetched."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from counterflow.cli._scraped import scrape
from counterflow.stack import preflight
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run
from tests.support.servers import free_settings

MUCH = 1 << 60


def up(settings: StackSettings, **environment: str) -> subprocess.CompletedProcess[str]:
    named = {f"COUNTERFLOW_{name.upper()}": str(port) for name, port in settings.ports.items()}
    return run("up", **{**settings.environment, **named, **environment})


def test_all_that_is_missing_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    settings = free_settings(file / "home", tmp_path / "parts")
    with (
        socket.create_server(("127.0.0.1", settings.kafka_port)),
        socket.create_server(("127.0.0.1", settings.flink_port)),
    ):
        done = up(settings, JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert "the stack cannot start here, for 4 reasons:" in done.stderr
    assert f"{file}/home cannot be written: Not a directory" in done.stderr
    assert f"JAVA_HOME is {tmp_path}, where there is no bin/java" in done.stderr
    assert f"port {settings.kafka_port} (kafka) is taken by pid {os.getpid()}" in done.stderr
    assert f"port {settings.flink_port} (flink) is taken by pid {os.getpid()}" in done.stderr
    assert "COUNTERFLOW_KAFKA_PORT" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "parts").exists()


def test_an_invalid_port_is_reported_in_one_sentence(tmp_path: Path) -> None:
    done = up(free_settings(tmp_path / "home", tmp_path / "parts"), COUNTERFLOW_FLINK_PORT="many")
    assert done.returncode == 2
    assert "error: COUNTERFLOW_FLINK_PORT is 'many'" in done.stderr


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """State what the stack takes: bytes of parts and of memory, and none of the home."""

    def of(parts: int, memory: int) -> None:
        for name, size in (("PARTS_BYTES", parts), ("HOME_BYTES", 0), ("MEMORY_BYTES", memory)):
            monkeypatch.setattr(preflight, name, size)

    return of


def test_disk_and_memory_are_compared_with_what_the_stack_takes(tmp_path: Path, takes: Callable[..., None]) -> None:
    settings = free_settings(tmp_path / "home", tmp_path / "parts")
    takes(0, 0)
    assert list(preflight.machine(settings)) == []
    takes(MUCH, MUCH)
    [disk, memory] = preflight.machine(settings)
    assert disk.what.startswith(f"the disk of {tmp_path} has ")
    assert disk.what.endswith(f" free, the stack takes {MUCH / 2**30:.1f} GiB")
    assert "COUNTERFLOW_PARTS" in disk.hint
    assert memory.what.endswith(f"the stack takes {MUCH / 2**30:.1f} GiB")


def test_files_that_the_kernel_caches_take_no_memory_of_a_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, takes: Callable[..., None]
) -> None:
    """100 MiB at most, of which 90 are used, and 60 of these by files: 70 are available."""
    counts = {"anon": 30 << 20, "file": 60 << 20, "inactive_file": 40 << 20, "active_file": 20 << 20}
    (tmp_path / "memory.max").write_text(f"{100 << 20}\n")
    (tmp_path / "memory.current").write_text(f"{90 << 20}\n")
    (tmp_path / "memory.stat").write_text("".join(f"{name} {size}\n" for name, size in counts.items()))
    monkeypatch.setattr(preflight, "GROUP", tmp_path)
    settings = free_settings(tmp_path / "home", tmp_path / "parts")
    for size, problems in ((70 << 20, 0), (71 << 20, 1)):
        takes(0, size)
        assert len(list(preflight.machine(settings))) == problems


def test_a_path_with_a_space_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "a space").mkdir()
    settings = free_settings(tmp_path / "a space/home", tmp_path / "a space/home/parts")
    done = up(settings)
    assert done.returncode == 1
    assert f"Flink cannot start with a space in a path: {settings.home}\n" in done.stderr
    assert "counterflow up --home <a path without a space>" in done.stderr
    assert not settings.parts.exists()


def test_without_a_node_exporter_the_demo_scrapes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert scrape(None, None, "demo") is None  # type: ignore[arg-type]

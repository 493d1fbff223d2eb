"""`counterflow publish` before it publishes: what it refuses, and how it ends while it copies its input."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from counterflow.cli._files import recordings
from tests.support.waiting import PATIENCE_S, until

SAMPLE = Path(__file__).parents[2] / "samples/nmon/linux_16n_plain.nmon.gz"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A stack elsewhere whose broker does not answer."""
    return {**os.environ, "COUNTERFLOW_HOME": str(tmp_path / "home"), "COUNTERFLOW_KAFKA_BOOTSTRAP": "127.0.0.1:1"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["."], "error: no file in ."),
        ([str(SAMPLE), "--system", ""], "Error: Invalid value for '--system': is empty; give a name"),
        ([str(SAMPLE), "--run", ""], "Error: Invalid value for '--run': is empty; give a name"),
    ],
    ids=["empty folder", "empty system", "empty run"],
)
def test_what_is_missing_is_named(words: list[str], problem: str, environment: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "counterflow", "publish", *words]
    empty = tmp_path / "empty"
    empty.mkdir()
    done = subprocess.run(
        command, env=environment, cwd=empty, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_a_signal_while_it_copies_its_input(
    number: signal.Signals, environment: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "counterflow", "publish", "-"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdin
            process.stdin.write(b"x" * 200_000)
            process.stdin.flush()
            until(lambda: [path for path in tmp_path.rglob("standard-input") if path.stat().st_size])
            # Python sees a signal that comes just before a read blocks when that read returns: it is sent again.
            until(lambda: process.poll() is not None or process.send_signal(number))
            assert process.returncode != 0
        finally:
            process.kill()


def test_inputs_of_two_commands_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both in one home, at the same time; the copies are gone when the commands have ended."""
    first, second = click.Context(click.Command("first")), click.Context(click.Command("second"))
    found = []
    with first, second:
        for context, data in ((first, b"data of the first"), (second, b"data of the second, which is longer")):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
            with context.scope(cleanup=False):
                found += recordings((Path("-"),), tmp_path / "remote")
        assert [path.read_bytes() for path in found] == [b"data of the first", b"data of the second, which is longer"]
        assert {path.name for path in found} == {"standard-input"}
    assert list((tmp_path / "remote").iterdir()) == []


def test_an_entry_that_cannot_be_looked_at_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.nmon", "b.nmon", "closed.nmon"):
        (tmp_path / name).touch()
    is_file = Path.is_file

    def looked_at(path: Path) -> bool:
        if path.name == "closed.nmon":  # a link into a folder that this user may not enter
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", looked_at)
    assert [path.name for path in recordings((tmp_path,))] == ["a.nmon", "b.nmon", "closed.nmon"]

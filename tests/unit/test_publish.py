"""`counterflow publish`: what it refuses, what it reports, and how it ends while it copies its input."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from datetime import UTC
from pathlib import Path

import click
import orjson
import pytest

from counterflow.cli._files import recordings
from counterflow.collectors.reading import unrecognised
from tests.support.agents import assert_exactly_once
from tests.support.command_line import run
from tests.support.memory_broker import Broker
from tests.support.reading import read_file
from tests.support.waiting import until

SAMPLE = Path(__file__).parents[2] / "samples/nmon/linux_16n_plain.nmon.gz"


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, str]:
    """The environment of a stack elsewhere."""
    (tmp_path / "kafka-agent").write_text("of no use")
    places = {"COUNTERFLOW_HOME": str(tmp_path / "home"), "COUNTERFLOW_SECRETS": str(tmp_path)}
    return {**places, "COUNTERFLOW_KAFKA_BOOTSTRAP": "127.0.0.1:1"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["."], "error: no file in ."),
        ([str(SAMPLE), "--system", ""], "Error: Invalid value for '--system': is empty; give a name"),
        ([str(SAMPLE), "--run", ""], "Error: Invalid value for '--run': is empty; give a name"),
    ],
    ids=["empty folder", "empty system", "empty run"],
)
def test_what_is_missing_is_named(
    words: list[str], problem: str, elsewhere: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    done = run("publish", *words, **elsewhere)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


def test_what_cannot_be_read_is_reported_and_the_others_go_on(
    elsewhere: dict[str, str], broker: Broker, tmp_path: Path
) -> None:
    loop, junk, empty, missing = (tmp_path / f"{name}.nmon" for name in ("loop", "junk", "empty", "missing"))
    loop.symlink_to(loop.name)
    junk.write_bytes(b"\x00\x01 no counters here")
    empty.touch()
    done = run("publish", "--json", "--agent-id", "a", loop, junk, empty, missing, SAMPLE, **elsewhere)
    assert done.returncode == 1
    assert orjson.loads(done.stdout)["failures"] == {
        str(loop): "Too many levels of symbolic links",
        str(junk): unrecognised(junk.read_bytes()).detail,
        str(empty): "the file is empty",
        str(missing): "no such file; check the path",
    }
    rows = broker.rows("a")
    assert_exactly_once(rows, read_file(SAMPLE, UTC))
    reasons = {row["file"]: row["reason"] for row in rows if row["dataset"] == "quality"}
    assert reasons == {str(loop): "unreadable", str(junk): "not_this_format", str(empty): "empty_file"}
    (dead,) = [row for row in rows if row["dataset"] == "deadletter"]
    assert (dead["origin"], dead["payload_bytes"]) == (f"{junk}:0", 19)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_a_signal_while_it_copies_its_input(
    number: signal.Signals, elsewhere: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "counterflow", "publish", "-"]
    environment = {**os.environ, **elsewhere}
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

"""What every room stands on: caches, the engine in a process, and programs that end when they are to end."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterflow.base.files import cached
from tests.support.waiting import PATIENCE_S


class Maker:
    """Makes bytes, and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> bytes:
        self.times += 1
        return b"made " * 10_000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "counterflow"


def test_it_is_made_once_for_each_name(folder: Path) -> None:
    make = Maker()
    assert cached("one-1.0", make) == cached("one-1.0", make) == b"made " * 10_000
    assert make.times == 1
    cached("one-1.1", make)
    assert make.times == 2
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("left", [0, 1, 20, -1], ids=["empty", "a byte", "cut", "without its end"])
def test_what_is_damaged_is_made_again_and_kept(folder: Path, left: int) -> None:
    make = Maker()
    cached("one", make)
    [kept] = folder.iterdir()
    kept.write_bytes(kept.read_bytes()[:left])
    assert cached("one", make) == cached("one", make) == b"made " * 10_000
    assert make.times == 2


def test_without_a_folder_it_is_made_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    make = Maker()
    assert cached("one", make) == cached("one", make) == b"made " * 10_000
    assert make.times == 2


def test_a_full_disk_leaves_nothing_behind(folder: Path) -> None:
    """A limit of the process keeps its files from growing, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        assert cached("one", Maker()) == b"made " * 10_000
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(folder.iterdir())


def test_concurrent_makers_get_the_same(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: cached("one", Maker()), range(64))) == {b"made " * 10_000}
    assert len(list(folder.iterdir())) == 1


_OPEN = """
import sys
from pathlib import Path
from counterflow.base.embedded import Embedded
from counterflow.base.errors import CounterflowError
try:
    engine = Embedded(Path(sys.argv[1]))
except CounterflowError as error:
    print(error.exit_code, error, error.hint, sep="|")
else:
    print("open", flush=True)
    sys.stdin.read()
"""


def test_a_database_that_another_process_has_open_is_refused_with_the_way_out(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _OPEN, str(tmp_path / "clickhouse")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        try:
            assert first.stdout
            assert first.stdout.readline() == "open\n"
            second = subprocess.run(command, capture_output=True, text=True, check=True, input="", timeout=PATIENCE_S)
            code, refused, hint = second.stdout.splitlines()[-1].split("|")
            assert code == "2"
            assert refused.startswith(f"{tmp_path / 'clickhouse'} cannot be opened")
            assert "another command may have it open" in hint
        finally:
            first.kill()


LOOP = """
from counterflow.base.stopping import stopping
stop = stopping()
print(flush=True)
while not stop.wait({seconds}):
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_waits_ends(number: signal.Signals) -> None:
    ends(number, seconds=600)


def test_a_program_within_the_lock_of_its_event_ends() -> None:
    for _ in range(8):  # with a handler that sets the event, every second one hung
        ends(signal.SIGTERM, seconds=0)


def ends(number: signal.Signals, seconds: float) -> None:
    with subprocess.Popen([sys.executable, "-c", LOOP.format(seconds=seconds)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            process.stdout.readline()
            process.send_signal(number)
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()

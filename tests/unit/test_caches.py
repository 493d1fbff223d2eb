"""What takes long to make is cached whole, and made again where it is missing, damaged or cannot be cached."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from counterflow.base.caches import cached


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

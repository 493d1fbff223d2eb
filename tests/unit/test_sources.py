"""Files are found by pattern and identified by what they are."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from counterflow.collectors.sources.files import ends_at_line_end, find, unicode, window


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.nmon", "b.nmon", ".c.nmon", "d.txt", "x/e.nmon", "x/y/f.nmon", ".git/g.nmon"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe.nmon")
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("a.nmon", ["a.nmon"]),
        ("none.nmon", []),
        ("*.nmon", ["a.nmon", "b.nmon"]),
        ("[ab].*", ["a.nmon", "b.nmon"]),
        ("", ["a.nmon", "b.nmon", "d.txt"]),
        ("x", ["x/e.nmon"]),
        ("*/*.nmon", ["x/e.nmon"]),
        ("**/*.nmon", ["a.nmon", "b.nmon", "x/e.nmon", "x/y/f.nmon"]),
        ("**", ["a.nmon", "b.nmon", "d.txt", "x/e.nmon", "x/y/f.nmon"]),
        ("*/y/f.nmon", ["x/y/f.nmon"]),
        (".c*", [".c.nmon"]),
    ],
)
def test_patterns_name_files(tree: Path, pattern: str, names: list[str]) -> None:
    found = [p for p in find(tree / pattern) if isinstance(p, Path)]
    assert [str(p.relative_to(tree)) for p in found] == names


def test_what_is_not_there_is_reported(tree: Path) -> None:
    (error,) = find(tree / "none" / "*.nmon")
    assert isinstance(error, FileNotFoundError)
    assert error.filename == str(tree / "none")


def test_an_entry_that_cannot_be_looked_at_hides_no_other(tree: Path) -> None:
    (tree / "b.loop.nmon").symlink_to("b.loop.nmon")
    for pattern in ("*.nmon", "", "**/*.nmon"):
        found = list(find(tree / pattern))
        errors = {(str(error.filename), error.errno) for error in found if isinstance(error, OSError)}
        assert errors == {(str(tree / "b.loop.nmon"), errno.ELOOP)}, pattern
        assert {tree / "a.nmon", tree / "b.nmon"} <= {path for path in found if isinstance(path, Path)}
    assert [path for path in find(tree / "d.*") if isinstance(path, OSError)] == [], "no pattern names it"


def test_a_folder_is_entered_once_whatever_links_lead_to_it(tree: Path) -> None:
    (tree / "x" / "up").symlink_to("..")
    (tree / "z").symlink_to("x")
    for pattern in ("**/*.nmon", "**"):
        found = list(find(tree / pattern))
        assert not [error for error in found if isinstance(error, OSError)]
        names = [str(path.relative_to(tree)) for path in found if isinstance(path, Path) and path.suffix == ".nmon"]
        assert names == ["a.nmon", "b.nmon", "x/e.nmon", "x/y/f.nmon"]
    assert [str(path) for path in find(tree / "z" / "*.nmon")] == [str(tree / "z/e.nmon")]


def test_a_window_ends_where_the_file_ended(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"one\ntwo\nthree")
    with path.open("rb", buffering=0) as raw:
        fd = raw.fileno()
        assert ends_at_line_end(fd, 8)
        assert not ends_at_line_end(fd, 13)
        seen = window(fd, 8)
        assert seen.read() == b"one\ntwo\n"
        assert seen.seek(4) == 4
        assert (seen.readline(), seen.readline()) == (b"two\n", b"")
        assert seen.seek(0, os.SEEK_END) == 8
        raw.seek(1)
        seen.seek(0)
        assert seen.read(3) == b"one", "nothing else moves the window"


def test_a_name_that_is_not_unicode_is_written_out() -> None:
    assert unicode(os.fsdecode(b"caf\xe9.nmon")) == "caf\\udce9.nmon"

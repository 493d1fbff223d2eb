"""Data of another version is refused before a server or the engine opens it; nothing of it changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from counterflow.stack import supervision
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run
from tests.support.recordings import RECORDINGS

SAMPLE = RECORDINGS / "linux_16n_plain.nmon"


def content(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def tables(database: Path) -> None:
    """Make what the engine keeps of our tables."""
    (database / "metadata").mkdir(parents=True)
    (database / "metadata/counterflow.sql").write_text("ATTACH DATABASE _ UUID '0'\nENGINE = Atomic\n")


def topics_of_0_1(home: Path) -> None:
    """Make what a stack of a checkout before 0.2.0 left of topics with one record a message."""
    for topic in ("counterflow.disk.v1-0", "counterflow.checkpoints-0", "__consumer_offsets-0"):
        log = home / "kafka/data" / topic / "00000000000000000000.log"
        log.parent.mkdir(parents=True)
        log.write_bytes(b"records")


def tables_of_0_1(home: Path) -> None:
    tables(home / "clickhouse/data")


def of_other_tables(home: Path) -> None:
    tables_of_0_1(home)
    (home / "made_by.json").write_text('{"version": "0.9.0", "schema": "0"}')


def kept_by_0_1(folder: Path) -> None:
    """Make what `look --keep` left before it marked the folder."""
    tables(folder / "clickhouse")


def kept_with_other_tables(folder: Path) -> None:
    kept_by_0_1(folder)
    (folder / "made_by.json").write_text(json.dumps({"version": "0.1.0", "schema": "0"}))


def with_an_invalid_mark(folder: Path) -> None:
    folder.mkdir()
    (folder / "made_by.json").write_text("{")


OLDER = " holds data, but no made_by.json: an older version made it, which was never released"
STACK = "start it with the version that made it, or take another folder: counterflow up --home FOLDER"
LOOK = "use the version that made it, or another folder"


@pytest.mark.parametrize(
    ("words", "made", "reason", "hint"),
    [
        (("up",), topics_of_0_1, OLDER, STACK),
        (("up",), tables_of_0_1, OLDER, STACK),
        (("demo",), of_other_tables, " was made by version 0.9.0, whose tables differ", STACK),
        (("look", SAMPLE, "--keep", "FOLDER"), kept_by_0_1, OLDER, LOOK),
        (("sql", "systems", "--on", "FOLDER"), kept_with_other_tables, " was made by version 0.1.0, whose", LOOK),
        (("report", "--on", "FOLDER"), kept_by_0_1, OLDER, LOOK),
        (("up",), with_an_invalid_mark, "/made_by.json is not the mark of a version", "restore the file"),
    ],
)
def test_a_folder_of_another_version_is_refused_untouched(
    words: tuple[object, ...], made: Callable[[Path], None], reason: str, hint: str, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    made(folder)
    before = content(folder)
    given = (folder if word == "FOLDER" else word for word in words)
    done = run(*given, COUNTERFLOW_HOME=str(folder), COUNTERFLOW_GRAFANA="none", NO_COLOR="1")
    assert done.returncode == 2
    error, way_out = done.stderr.splitlines()
    assert error.startswith(f"error: {folder}{reason}")
    assert way_out.startswith(f"hint: {hint}")
    assert content(folder) == before
    assert supervision.processes(StackSettings(home=folder)) == []

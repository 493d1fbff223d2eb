"""Data of another version is refused before a server or the engine opens it; nothing of it changes."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from counterflow.stack import supervision
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run
from tests.support.recordings import RECORDINGS

SAMPLE = RECORDINGS / "linux_16n_plain.nmon"


def counterflow(*arguments: object, home: Path) -> subprocess.CompletedProcess[str]:
    return run(*arguments, COUNTERFLOW_HOME=str(home), COUNTERFLOW_GRAFANA="none", NO_COLOR="1")


def content(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def home_of_0_1(home: Path) -> None:
    """Make what a stack of a checkout before 0.2.0 left: topics of one record a message, tables, passwords, no mark."""
    for topic in ("counterflow.disk.v1-0", "counterflow.checkpoints-0", "__consumer_offsets-0"):
        log = home / "kafka/data" / topic / "00000000000000000000.log"
        log.parent.mkdir(parents=True)
        log.write_bytes(b"records")
    metadata = home / "clickhouse/data/metadata"
    metadata.mkdir(parents=True)
    (metadata / "counterflow.sql").write_text("ATTACH DATABASE _ UUID '0'\nENGINE = Atomic\n")
    (home / "secrets").mkdir()
    (home / "secrets/kafka-admin").write_text("password")


def only_tables(home: Path) -> None:
    home_of_0_1(home)
    shutil.rmtree(home / "kafka")


def of_other_tables(home: Path) -> None:
    only_tables(home)
    (home / "made_by.json").write_text('{"version": "0.9.0", "schema": "0"}')


OLDER = "holds data, but no made_by.json: an older version made it, which was never released"


@pytest.mark.parametrize(
    ("command", "made", "reason"),
    [
        ("up", home_of_0_1, OLDER),
        ("up", only_tables, OLDER),
        ("demo", of_other_tables, "was made by version 0.9.0, whose tables differ"),
    ],
)
def test_a_home_of_another_version_is_refused_untouched(
    command: str, made: Callable[[Path], None], reason: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    made(home)
    before = content(home)
    done = counterflow(command, home=home)
    assert (done.returncode, done.stderr) == (
        2,
        f"error: {home} {reason}\n"
        "hint: start it with the version that made it, or take another folder: counterflow up --home FOLDER\n",
    )
    assert content(home) == before
    assert supervision.processes(StackSettings(home=home)) == []


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that `look --keep` made, with the engine's own files."""
    folder = tmp_path_factory.mktemp("look") / "kept"
    done = counterflow("look", SAMPLE, "--keep", folder, home=folder.parent)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    ("words", "schema", "reason"),
    [
        (("look", SAMPLE, "--keep"), None, OLDER),
        (("sql", "systems", "--on"), "0", "was made by version 0.1.0, whose tables differ"),
        (("report", "--on"), None, OLDER),
    ],
)
def test_a_kept_folder_of_another_version_is_refused_untouched(
    kept: Path, tmp_path: Path, words: tuple[object, ...], schema: str | None, reason: str
) -> None:
    folder = tmp_path / "kept"
    shutil.copytree(kept, folder, symlinks=True)
    (folder / "made_by.json").unlink()
    if schema:
        (folder / "made_by.json").write_text(json.dumps({"version": "0.1.0", "schema": schema}))
    before = content(folder)
    done = counterflow(*words, folder, home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: {folder} {reason}\nhint: use the version that made it, or another folder" in done.stderr
    assert content(folder) == before


def test_an_invalid_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "made_by.json").write_text("{")
    done = counterflow("up", home=tmp_path)
    assert done.returncode == 2
    assert f"error: {tmp_path / 'made_by.json'} is not the mark of a version" in done.stderr

"""Data of another version is refused before a server or the engine opens it; nothing of it changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined] # its stub forgets to export it

from counterflow.base.errors import CounterflowError
from counterflow.schemas import topics
from counterflow.stack import supervision
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.recordings import RECORDINGS

SAMPLE = RECORDINGS / "linux_16n_plain.nmon"


def counterflow(*arguments: object, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COUNTERFLOW_HOME": str(home), "COUNTERFLOW_GRAFANA": "none", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "counterflow", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


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
    (home / "jobs.json").write_text('{"io_mix": {"job_id": "0", "fingerprint": "0"}}')
    (home / "secrets").mkdir()
    (home / "secrets/kafka-admin").write_text("password")


def only_tables(home: Path) -> None:
    home_of_0_1(home)
    shutil.rmtree(home / "kafka")


def of_a_newer_version(home: Path) -> None:
    only_tables(home)
    (home / "made_by.json").write_text('{"version": "0.9.0", "migrations": {"0007_links": "0"}}')


def of_other_tables(home: Path) -> None:
    only_tables(home)
    (home / "made_by.json").write_text('{"version": "0.2.0", "migrations": {"counters": "0"}}')


HOMES = {
    home_of_0_1: "has the topic counterflow.disk.v1, which this version does not read: it has counterflow.disk.v2",
    only_tables: "holds data, but no made_by.json: an older version made it, which was never released",
    of_a_newer_version: "was made by a newer version, 0.9.0: this one lacks its migration 0007_links",
    of_other_tables: "was made by version 0.2.0, whose tables differ: counters",
}


@pytest.mark.parametrize("command", ["up", "demo"])
@pytest.mark.parametrize("made", HOMES)
def test_a_home_of_another_version_is_refused_untouched(
    made: Callable[[Path], None], command: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    made(home)
    before = content(home)
    done = counterflow(command, home=home)
    assert (done.returncode, done.stderr) == (
        2,
        f"error: {home} {HOMES[made]}\n"
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


READERS = {
    "look": lambda folder: ("look", SAMPLE, "--keep", folder),
    "sql": lambda folder: ("sql", "systems", "--on", folder),
    "report": lambda folder: ("report", "--on", folder, "--out", folder.parent / "report"),
}


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize(
    ("migrations", "reason"),
    [
        (None, "holds data, but no made_by.json: an older version made it, which was never released"),
        ({"counters": "0"}, "was made by version 0.1.0, whose tables differ: counters"),
    ],
)
def test_a_kept_folder_of_another_version_is_refused_untouched(
    kept: Path, tmp_path: Path, command: str, migrations: dict[str, str] | None, reason: str
) -> None:
    folder = tmp_path / "kept"
    shutil.copytree(kept, folder, symlinks=True)
    (folder / "made_by.json").unlink()
    if migrations:
        (folder / "made_by.json").write_text(json.dumps({"version": "0.1.0", "migrations": migrations}))
    before = content(folder)
    done = counterflow(*READERS[command](folder), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: {folder} {reason}\nhint: use the version that made it, or another folder" in done.stderr
    assert content(folder) == before


def test_a_kept_folder_that_lacks_a_migration_gets_it_by_the_next_look(kept: Path, tmp_path: Path) -> None:
    """Its engine has the tables; the mark alone is that of an older version, and the next look changes nothing else."""
    folder = tmp_path / "kept"
    shutil.copytree(kept, folder, symlinks=True)
    mark = json.loads((folder / "made_by.json").read_text())
    older = {"version": "0.1.0", "migrations": dict(list(mark["migrations"].items())[:-1])}
    (folder / "made_by.json").write_text(json.dumps(older))
    refused = counterflow("sql", "systems", "--on", folder, home=tmp_path)
    assert refused.returncode == 2
    assert f"was made by version 0.1.0, and lacks {list(mark['migrations'])[-1]}" in refused.stderr
    assert counterflow("look", SAMPLE, "--keep", folder, home=tmp_path).returncode == 0
    assert json.loads((folder / "made_by.json").read_text()) == mark
    assert counterflow("sql", "systems", "--on", folder, home=tmp_path).returncode == 0


def test_an_invalid_mark_is_named(tmp_path: Path) -> None:
    (tmp_path / "made_by.json").write_text("{")
    done = counterflow("up", home=tmp_path)
    assert done.returncode == 2
    assert f"error: {tmp_path / 'made_by.json'} is not the mark of a version" in done.stderr


def test_a_broker_with_topics_of_an_older_version_gets_none(kafka: StackSettings) -> None:
    admin = AdminClient({**kafka.kafka("admin").client, "log_level": 0})
    admin.create_topics([NewTopic("counterflow.disk.v1", 1)])["counterflow.disk.v1"].result()
    try:
        before = set(admin.list_topics(timeout=10).topics)
        with pytest.raises(CounterflowError, match=r"the broker has the topic counterflow\.disk\.v1") as refused:
            create_topics(kafka, topics())
        assert refused.value.exit_code == 2
        assert set(admin.list_topics(timeout=10).topics) == before
    finally:
        admin.delete_topics(["counterflow.disk.v1"])["counterflow.disk.v1"].result()

"""Data of another version is refused before a server or the engine opens it; nothing of it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterflow.stack import supervision
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run
from tests.support.recordings import RECORDINGS

SAMPLE = RECORDINGS / "linux_16n_plain.nmon"


def content(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


MARK = "made_by.json"
TABLES = "ATTACH DATABASE _ UUID '0'\nENGINE = Atomic\n"
"""What the engine keeps of our tables."""
OF_STACK = {"clickhouse/data/metadata/counterflow.sql": TABLES}
KEPT = {"clickhouse/metadata/counterflow.sql": TABLES}
"""What `look --keep` left before it marked the folder."""
TOPICS = {
    f"kafka/data/{topic}/00000000000000000000.log": "records"
    for topic in ("counterflow.disk.v1-0", "counterflow.checkpoints-0", "__consumer_offsets-0")
}
"""What a stack of a checkout before 0.2.0 left of topics with one record a message."""
OF_0_1, OF_0_9 = ({MARK: f'{{"version": "{version}", "schema": "0"}}'} for version in ("0.1.0", "0.9.0"))
OLDER = " holds data, but no made_by.json: an older version made it, which was never released"
STACK = "start it with the version that made it, or take another folder: counterflow up --home FOLDER"
LOOK = "use the version that made it, or another folder"


@pytest.mark.parametrize(
    ("words", "made", "reason", "hint"),
    [
        (("up",), TOPICS, OLDER, STACK),
        (("up",), OF_STACK, OLDER, STACK),
        (("demo",), OF_STACK | OF_0_9, " was made by version 0.9.0, whose tables differ", STACK),
        (("look", SAMPLE, "--keep", "FOLDER"), KEPT, OLDER, LOOK),
        (("sql", "systems", "--on", "FOLDER"), KEPT | OF_0_1, " was made by version 0.1.0, whose", LOOK),
        (("report", "--on", "FOLDER"), KEPT, OLDER, LOOK),
        (("up",), {MARK: "{"}, "/made_by.json is not the mark of a version", "restore the file"),
    ],
)
def test_a_folder_of_another_version_is_refused_untouched(
    words: tuple[object, ...], made: dict[str, str], reason: str, hint: str, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    before = content(folder)
    given = (folder if word == "FOLDER" else word for word in words)
    done = run(*given, COUNTERFLOW_HOME=str(folder), COUNTERFLOW_GRAFANA="none", NO_COLOR="1")
    assert done.returncode == 2
    error, way_out = done.stderr.splitlines()
    assert error.startswith(f"error: {folder}{reason}")
    assert way_out.startswith(f"hint: {hint}")
    assert content(folder) == before
    assert supervision.processes(StackSettings(home=folder)) == []

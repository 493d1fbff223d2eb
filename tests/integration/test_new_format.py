"""A format is added as CONTRIBUTING.md describes: in a copy of the checkout, by one folder and what is made of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.pages import REPOSITORY

FOLDER = "collectors/formats/tape_csv"
FILES = {
    "__init__.py": '''\
"""Mounts of tape drives as CSV."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import BinaryIO

from counterflow.collectors.records import Context, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.csv_rows import CsvRows, is_csv_of, read_items, utc
from counterflow.collectors.text.numbers import number_within
from counterflow.collectors.text.stamps import iso

COLUMNS = ("time_utc", "drive", "mounts")


class TapeCsv:
    """CSV of mounts."""

    name = "tape_csv"

    def recognises(self, head: bytes) -> bool:
        """Return whether the first line of `head` names the columns."""
        return is_csv_of(head, _is_header)

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield a record per row."""
        rows = CsvRows(stream, context, position, _is_header, f"a first line {','.join(COLUMNS)}", known=COLUMNS)
        yield from read_items(rows, lambda values: _records(values, rows))


def _is_header(names: Collection[str]) -> bool:
    return set(COLUMNS) <= set(names)


def _records(values: dict[str, str], rows: CsvRows) -> Iterator[Record | Reject]:
    try:
        ts = iso(utc(values["time_utc"]))
    except (ValueError, OverflowError) as error:
        yield Reject(Reason.STAMP_INVALID, f"time_utc: {error}", "none")
        return
    try:
        mounts = number_within(values["mounts"], lambda: rows.points_group, whole=True)
    except Unusable as error:
        yield Reject(error.reason, f"mounts: {error}", "none")
        return
    if mounts is not None:
        counter = {"section": "TAPE", "instance": values["drive"], "counter": "mounts", "value": mounts}
        yield Record("counter", {"ts": ts, "system": rows.context.system, "source": TapeCsv.name, **counter})


FORMAT = TapeCsv()
''',
    "mapping.yaml": """\
counter:
  section: "`TAPE`"
  instance: drive
  counter: "`mounts`"
  value: mounts
""",
    "README.md": """\
---
title: mounts of tapes
system: Workloads, sites
wanted: mounts of tape drives
produce: you write it
example: two_drives
table: true
---

# Mounts of tapes

A row states the mounts of one drive.
""",
    "cases/all.case": """\
system: SYSA
== two_drives
-- input.csv --
time_utc,drive,mounts
2026-03-02T08:00:00Z,TAP01,3
2026-03-02T08:00:00Z,TAP02,12.5
----

== bad_number
-- input.csv --
time_utc,drive,mounts
2026-03-02T08:00:00Z,TAP01,three
----
""",
}
MACHINES_OWN = shutil.ignore_patterns(".git", ".venv", ".counterflow", "__pycache__", "*_cache", "dist")


def contents(checkout: Path) -> dict[str, bytes]:
    """Return every file by its path; those below a link once."""
    found = (path for path in checkout.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(checkout)): path.read_bytes() for path in found}


def test_one_folder_adds_a_format(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(REPOSITORY, checkout, symlinks=True, ignore=MACHINES_OWN)
    before = contents(checkout)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    for name, text in FILES.items():
        path = checkout / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    run("tests.golden.rewrite", "tape_csv")  # make golden
    run("docs.generators.formats")
    cases = (checkout / FOLDER / "cases/all.case").read_text(encoding="utf-8")
    assert "counter" in cases
    changed = {name for name, text in contents(checkout).items() if before.get(name) != text}
    assert changed == {"README.md", *(f"{FOLDER}/{name}" for name in FILES)}
    assert "tape_csv" in run("counterflow", "look", "--formats")
    checks = ("tests/golden", "tests/fuzz", "tests/unit/test_docs.py", "tests/unit/test_definition.py")
    chosen = "tape_csv or dress or example or folder or mapping or readme or site"
    assert " passed" in run("pytest", "-q", "-p", "no:cacheprovider", "-n0", *checks, "-k", chosen)

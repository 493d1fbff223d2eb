"""A format is added as CONTRIBUTING.md describes: in a copy of the checkout, by one folder and what is made of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.pages import REPOSITORY

FORMATS = "collectors/formats"
MACHINES_OWN = shutil.ignore_patterns(".git", ".venv", ".counterflow", "__pycache__", "*_cache", "dist")
CHECKS = ("tests/golden", "tests/fuzz", "tests/unit/test_docs.py", "tests/unit/test_definition.py")
OF_ALL_FORMATS = ("name_of_its_folder", "lists_the_formats", "page_beside_its_format", "fills_columns")
"""Parts of the names of checks that look at all formats together."""


def contents(checkout: Path) -> dict[str, bytes]:
    """Return every file by its path; those below a link once."""
    found = (path for path in checkout.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(checkout)): path.read_bytes() for path in found}


def test_one_folder_adds_a_format(tmp_path: Path) -> None:
    """It is that of logs of queries with another word for a query, so that no other format reads its files."""
    checkout = tmp_path / "checkout"
    shutil.copytree(REPOSITORY, checkout, symlinks=True, ignore=MACHINES_OWN)
    before = contents(checkout)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    added = shutil.copytree(checkout / FORMATS / "query_log", checkout / FORMATS / "mount_log")
    whole = {}
    for path in (path for path in added.rglob("*") if path.is_file()):
        whole[path] = (
            path.read_text(encoding="utf-8").replace("query", "mount").replace("ogs of queries", "ogs of mounts")
        )
        expectation = re.compile(r"(?<=^----\n).*?(?=^==|\Z)", re.DOTALL | re.MULTILINE)
        path.write_text(expectation.sub("\n", whole[path]) if path.suffix == ".case" else whole[path])
    run("tests.golden.rewrite", "mount_log")  # make golden
    run("docs.generators.formats")
    assert {path: path.read_text(encoding="utf-8") for path in whole} == whole
    changed = {name for name, text in contents(checkout).items() if before.get(name) != text}
    assert changed == {"README.md", *(str(path.relative_to(checkout)) for path in whole)}
    assert "mount_log" in run("counterflow", "look", "--formats")
    chosen = " or ".join(["mount_log", *OF_ALL_FORMATS])
    assert " passed" in run("pytest", "-q", "-p", "no:cacheprovider", "-n0", *CHECKS, "-k", chosen)

"""Commands that read files start where Python has no POSIX modules; the folders of a checkout have one name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.pages import REPOSITORY
from tests.support.waiting import PATIENCE_S

SAMPLE = Path(__file__).parents[2] / "samples/nmon/linux_16n_plain.nmon.gz"
POSIX = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
SCRIPT = """
import sys
import multiprocessing, subprocess, shutil, tempfile, tarfile, zipfile, pathlib  # these take what this machine has
for name in sys.argv[1].split(","):
    sys.modules[name] = None
sys.argv = ["counterflow", *sys.argv[2:]]
from counterflow.cli import main
main()
"""


@pytest.mark.parametrize(
    "words",
    [
        ("look", "--summary", str(SAMPLE)),
        ("look", "--records", str(SAMPLE)),
        ("bundle", str(SAMPLE), "--out"),
        ("report", "--help"),
    ],
    ids=" ".join,
)
def test_no_posix_module_is_imported(words: tuple[str, ...], tmp_path: Path) -> None:
    more = [str(tmp_path / "b.tgz")] if words[-1] == "--out" else []
    command = [sys.executable, "-c", SCRIPT, ",".join(POSIX), *words, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", ["analysis", "collectors", "dashboards", "pipelines", "schemas"])
def test_a_folder_of_the_checkout_is_refused_with_its_name(package: str) -> None:
    command = [sys.executable, "-c", f"import {package}"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert f"ImportError: import counterflow.{package} instead of {package}" in done.stderr

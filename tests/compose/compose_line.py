"""The images and compose.yaml, with real containers: the demo's input, each container killed once, the audit.

`make compose-test` runs this file; it takes minutes and needs a container engine, so `make test` does not. No container
reaches any network, not even the machine's: the line uses the containers' own loopback.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.support.recordings import RECORDINGS
from tests.support.servers import free_settings

REPOSITORY = Path(__file__).resolve().parents[2]
RECORDING = (RECORDINGS / "linux_16n_plain.nmon").read_text()
PARTS = Path(os.environ.get("COUNTERFLOW_PARTS", REPOSITORY / ".counterflow/parts"))
RECORDED = ("--from", "2026-11-21", "--to", "2026-11-22")
STANDINS = {
    "PROMETHEUS_IMAGE": "counterflow-standin-prometheus",
    "ALERTMANAGER_IMAGE": "counterflow-standin-alertmanager",
}
ENDING = {"configure", "topics", "migrate"}
"""Services that do one thing and end."""
ALONE = {"services": {"network": {"network_mode": "none", "hostname": "localhost", "ports": "RESET"}}}
PATIENCE_S = 300
DEMO = ("demo", "--json", "--start", "2026-01-15T06:00")
"""Stories that begin at a fixed time, so that results can be compared."""


def execute(*command: str | Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **(environment or {})}
    return subprocess.run(command, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False)


def done(*command: str | Path, environment: dict[str, str] | None = None) -> str:
    """Return the output of a command that has to succeed."""
    result = execute(*command, environment=environment)
    assert result.returncode == 0, f"{' '.join(map(str, command))}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def until(condition: Callable[[], object], what: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what()
        time.sleep(1)


@pytest.fixture(scope="module")
def images() -> list[str]:
    """The images, built."""
    if not shutil.which("docker"):
        pytest.skip("there is no docker, which builds and runs the images")
    if (answer := execute("docker", "info")).returncode:
        pytest.skip(f"docker does not answer: {(answer.stdout + answer.stderr).strip().splitlines()[-1]}")
    return done("make", "--no-print-directory", "images").split()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `counterflow demo` reports on the machine itself."""
    settings = free_settings(tmp_path_factory.mktemp("home"), PARTS)
    ports = {f"COUNTERFLOW_{name.upper()}": str(port) for name, port in settings.ports.items()}
    home = {"COUNTERFLOW_HOME": str(settings.home), "COUNTERFLOW_PARTS": str(PARTS), "COUNTERFLOW_GRAFANA": "none"}
    output = done(REPOSITORY / ".venv/bin/counterflow", *DEMO, environment=ports | home)
    return dict(json.loads(output))


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["lost"] == 0
    for name in ("published", "landed", "deadletter", "results", "answers"):
        assert found[name] == expected[name], name


class Container(NamedTuple):
    """A running container: its service of compose.yaml, its process on this machine, its state and health."""

    service: str
    name: str
    pid: int
    state: str
    health: str

    @property
    def well(self) -> bool:
        return self.state == "running" and self.health in ("", "healthy")


def inspect(names: Sequence[str]) -> list[Container]:
    found = json.loads(done("docker", "inspect", *names)) if names else []
    return [
        Container(
            one["Config"]["Labels"].get("com.docker.compose.service", ""),
            one["Name"].removeprefix("/"),
            one["State"]["Pid"],
            one["State"]["Status"],
            one["State"].get("Health", {}).get("Status", ""),
        )
        for one in found
    ]


def kill(container: Container) -> None:
    """Kill the container's first process, as the kernel does when memory is short; the engine may restart it."""
    os.kill(container.pid, signal.SIGKILL)


class Compose:
    """compose.yaml in a project of its own, within a network of its own."""

    def __init__(self, folder: Path) -> None:
        self.project = f"counterflow-{uuid.uuid4().hex[:8]}"
        override = folder / "override.yaml"
        override.write_text(yaml.safe_dump(ALONE).replace("ports: RESET", "ports: !reset []"))
        self.files = ("--file", str(REPOSITORY / "compose.yaml"), "--file", str(override))
        self.recordings = folder / "recordings"
        self.recordings.mkdir()
        self.environment = {"COUNTERFLOW_RECORDINGS": str(self.recordings)}
        for name, standin in STANDINS.items():
            if execute("docker", "image", "inspect", standin).returncode == 0:
                self.environment[name] = standin

    def command(self, *words: str) -> tuple[str, ...]:
        return ("docker", "compose", *self.files, "--project-name", self.project, "--profile", "agent", *words)

    def __call__(self, *words: str) -> str:
        return done(*self.command(*words), environment=self.environment)

    def run(self, service: str, *words: str) -> str:
        return self("run", "--rm", "--no-deps", "-T", service, *words)

    def within(self, *words: str) -> str:
        """Return what a command prints in the lander's container; a new one could not join a killed network."""
        return self("exec", "-T", "lander", "counterflow", *words)

    def landed(self, query: str) -> bool:
        try:
            return any(json.loads(one)["n"] for one in self.within("sql", "--json", query).splitlines())
        except AssertionError:
            return False  # the lander or ClickHouse is away

    def services(self) -> list[str]:
        """Return all services except those whose image is neither present nor available."""
        loaded = json.loads(self("config", "--format", "json"))["services"]
        missing = {
            name
            for name, one in loaded.items()
            if execute("docker", "image", "inspect", one["image"]).returncode
            and execute("docker", "pull", one["image"]).returncode
        }
        for name in sorted(missing):
            print(f"not tried: {name}, whose image {loaded[name]['image']} is not available here")
        return sorted(loaded.keys() - missing)

    def containers(self) -> list[Container]:
        names = done("docker", "ps", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={self.project}")
        return [one for one in inspect(names.split()) if one.service not in ENDING]

    def jobs(self) -> dict[str, str]:
        """Return the state of each job; empty while the JobManager or its container is starting."""
        try:
            lines = self("exec", "-T", "jobs", "counterflow", "jobs", "list", "--json").splitlines()
        except AssertionError:
            return {}
        return {one["job"]: one["state"] for one in map(json.loads, lines)}


@pytest.fixture(scope="module")
def line(images: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    compose = Compose(tmp_path_factory.mktemp("compose"))
    try:
        compose("up", "--detach", "--no-build", *compose.services())
        yield compose
    finally:
        print(execute(*compose.command("ps", "--all"), environment=compose.environment).stdout)
        execute(*compose.command("down", "--volumes", "--timeout", "30"), environment=compose.environment)


def settle(compose: Compose) -> None:
    """Wait until every container is healthy and every job runs."""
    until(
        lambda: all(one.well for one in compose.containers()), lambda: [c for c in compose.containers() if not c.well]
    )
    until(
        lambda: set(compose.jobs().values()) == {"RUNNING"},
        lambda: compose("logs", "--tail", "30", "jobs", "jobmanager"),
    )


def test_a_release_holds_the_images(images: list[str], tmp_path: Path) -> None:
    """They are loaded from its folder, and the tests below run what was loaded."""
    made = {name: image(name) for name in images if ":" in name}
    done("make", "--no-print-directory", "release", f"RELEASE={tmp_path}")
    done("sh", "-c", 'cd "$0" && sha256sum --check --quiet SHA256SUMS', tmp_path)
    done("docker", "image", "rm", *made)
    done("docker", "load", "--input", next(tmp_path.glob("images-*.tar")))
    for name, its in made.items():
        loaded = image(name)
        assert loaded["Id"] == its["Id"], name
        if "counterflow" in loaded["Config"]["Entrypoint"]:
            version = done("docker", "run", "--rm", "--network", "none", name, "--version")
            assert name.rpartition(":")[2] in version, name


def image(name: str) -> dict[str, Any]:
    """What the engine knows of an image."""
    found: list[dict[str, Any]] = json.loads(done("docker", "image", "inspect", name))
    return found[0]


def test_compose_gives_the_results_of_the_machine(expected: dict[str, Any], line: Compose) -> None:
    settle(line)
    same(json.loads(line.run("demo", *DEMO, "--running")), expected)


def test_every_target_of_prometheus_answers(line: Compose) -> None:
    if not any(one.service == "prometheus" for one in line.containers()):
        pytest.skip("there is no image of Prometheus")
    request = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:9090/api/v1/targets').read().decode())"

    def targets() -> dict[str, str]:
        reply = json.loads(line("exec", "-T", "lander", "python", "-c", request))
        return {one["labels"]["job"]: one["health"] for one in reply["data"]["activeTargets"]}

    until(lambda: set(targets().values()) == {"up"}, targets)
    assert targets().keys() == {"counterflow-agent", "counterflow-lander", "counterflow-verdicts"}


def test_nothing_is_lost_whichever_container_is_killed(line: Compose) -> None:
    settle(line)
    for container in line.containers():
        survive(line, container)
    found: dict[str, Any] = {}

    def complete() -> bool:
        found.update(json.loads(line.within("audit", *RECORDED, "--json")))
        return not found["pending"] and not found["results_pending"]

    until(complete, lambda: found)
    assert (found["lost"], found["sample_missing"]) == (0, 0)
    assert found["results_checked"] > found["results_wrong"] == 0
    lost = line.within("sql", "--json", "SELECT agent_id, lost FROM counterflow.loss").splitlines()
    assert "compose" in {json.loads(one)["agent_id"] for one in lost}
    assert [one for one in map(json.loads, lost) if one["lost"]] == []


def survive(line: Compose, container: Container) -> None:
    """Kill a container, write a recording at once, and wait until it has landed and everything is healthy again."""
    kill(container)
    system = f"after-{container.service}"
    (line.recordings / f"{system}.nmon").write_text(RECORDING.replace("AAA,host,vm", f"AAA,host,{system}"))
    count = f"SELECT count() AS n FROM counterflow.system_cpu WHERE system = '{system}'"
    until(lambda: line.landed(count), lambda: f"no row recorded after {container.service} was killed has landed")
    until(lambda: inspect([container.name])[0].pid not in (0, container.pid), line.containers)
    settle(line)


@pytest.fixture
def one_container(images: list[str]) -> Iterator[str]:
    """The image that holds the whole line, started as a user starts it, but without a network."""
    name = f"counterflow-{uuid.uuid4().hex[:8]}"
    confined = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges")
    alone = ("--network", "none", "--hostname", "localhost")
    try:
        done("docker", "run", "--detach", "--name", name, *alone, *confined, "--volume", f"{name}:/data", "counterflow")
        yield name
    finally:
        print(execute("docker", "logs", "--tail", "30", name).stdout)
        execute("docker", "rm", "--force", "--volumes", name)
        execute("docker", "volume", "rm", name)


def test_the_whole_line_in_one_container(expected: dict[str, Any], one_container: str) -> None:
    def well() -> bool:
        return inspect([one_container])[0].well

    until(well, lambda: done("docker", "logs", one_container))
    within = ("docker", "exec", one_container, "counterflow")
    same(json.loads(done(*within, *DEMO, "--running")), expected)
    kill(inspect([one_container])[0])
    until(lambda: inspect([one_container])[0].state == "exited", lambda: inspect([one_container]))
    done("docker", "start", one_container)
    until(well, lambda: done("docker", "logs", one_container))
    assert "lost 0" in done(*within, "audit")
    done("docker", "stop", "--time", "120", one_container)
    assert json.loads(done("docker", "inspect", one_container))[0]["State"]["ExitCode"] == 0

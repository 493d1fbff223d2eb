"""`make demo` on a machine with Python, make and git, and nothing else: a Debian container.

`make bare-test` runs this file; it takes minutes and downloads everything, so `make test` does not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.servers import free_settings

REPOSITORY = Path(__file__).resolve().parents[2]
DEBIAN = os.environ.get("BARE_IMAGE", "debian:bookworm-slim")
MACHINE = f"""
FROM {DEBIAN}
RUN apt-get -qq update && apt-get -qq install --no-install-recommends git make python3 python3-venv
RUN rm -r /var/lib/apt/lists && useradd --create-home somebody
"""
DEMO = """
for program in java mvn node npm go uv curl gcc; do
  if command -v $program; then echo "this machine has $program"; exit 1; fi
done
cd && git clone --quiet /counterflow.bundle counterflow && cd counterflow && make demo
"""
CLIENTS = (  # variables that configure the clients of the registries
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "NPM_CONFIG_REGISTRY"),
)


def run(*command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def engine() -> str:
    """A container engine that answers."""
    reasons = []
    for name in ("docker", "podman"):
        if not shutil.which(name):
            reasons.append(f"there is no {name}")
        elif (answer := run(name, "info")).returncode:
            reasons.append(f"{name} info reports: {(answer.stdout + answer.stderr).strip().splitlines()[-1]}")
        else:
            return name
    pytest.skip("no container engine answers: " + "; ".join(reasons))


@pytest.fixture(scope="module")
def machine(engine: str) -> str:
    """An image of Debian with Python, make and git."""
    if run(engine, "image", "inspect", DEBIAN).returncode and (pulled := run(engine, "pull", DEBIAN)).returncode:
        pytest.skip(f"no image {DEBIAN}, BARE_IMAGE may name another: {pulled.stderr.strip().splitlines()[-1]}")
    built = run(engine, "build", "--network", "host", "--tag", "counterflow-bare", "-", given=MACHINE)
    assert built.returncode == 0, built.stdout + built.stderr
    return "counterflow-bare"


@pytest.fixture
def container(engine: str) -> Iterator[str]:
    """The name of a container, removed afterwards."""
    name = f"counterflow-bare-{uuid.uuid4().hex[:8]}"
    yield name
    run(engine, "rm", "--force", name)


def test_the_demo_runs_on_a_bare_machine(engine: str, machine: str, container: str, tmp_path: Path) -> None:
    bundle = tmp_path / "counterflow.bundle"
    subprocess.run(["git", "bundle", "create", "--quiet", bundle, "HEAD"], cwd=REPOSITORY, check=True)
    ports = free_settings(tmp_path, tmp_path).ports
    options = [f"--env=COUNTERFLOW_{name.upper()}={port}" for name, port in ports.items()]
    for name in CLIENTS:
        if value := os.environ.get(name):
            options.append(f"--env={name}={value}")
            if Path(value).is_file():
                options.append(f"--volume={value}:{value}:ro")
    options += ["--network=host", "--user=somebody", "--init", "--rm", f"--name={container}"]
    options.append(f"--volume={bundle}:/counterflow.bundle:ro")
    done = run(engine, "run", *dict.fromkeys(options), machine, "sh", "-euc", DEMO)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"java", "node", "libpython"} == set(re.findall(r"^installing (\w+) \(", done.stdout, re.M))
    assert re.search(r"lost 0 +repeated 0", done.stdout)

"""The packages of the agent: built, unpacked, checked by systemd, and an agent from them with a real broker."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import psutil
import pytest
import yaml

from counterflow.stack.settings import StackSettings
from tests.integration.test_agent import is_read
from tests.support.agents import AgentProcess, published
from tests.support.chart import program
from tests.support.recordings import RECORDINGS
from tests.support.waiting import until

REPOSITORY = Path(__file__).parents[2]
RECORDING = RECORDINGS / "linux_16n_plain.nmon"
UNIT = "usr/lib/systemd/system/counterflow-agent.service"

MOST_MB = 80
"""Resident memory that an agent of a host may take: docs/agent.md."""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both packages, and the .deb unpacked in `root`."""
    folder = tmp_path_factory.mktemp("packages")
    uv = os.environ.get("UV") or shutil.which("uv") or REPOSITORY / ".counterflow/uv/bin/uv"
    subprocess.run([REPOSITORY / "packaging/build.sh", uv, program("nfpm"), folder], check=True)
    (deb,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "--extract", deb, folder / "root"], check=True)
    return folder


def test_the_deb_has_program_unit_and_a_closed_folder_for_secrets(packages: Path) -> None:
    (deb,) = packages.glob("*.deb")
    listed = subprocess.run(["dpkg-deb", "--contents", deb], check=True, capture_output=True, text=True).stdout
    modes = {words[5]: (words[0], words[1]) for line in listed.splitlines() if (words := line.split())}
    assert modes["./opt/counterflow/bin/counterflow"] == ("-rwxr-xr-x", "root/root")
    assert modes[f"./{UNIT}"] == ("-rw-r--r--", "root/root")
    assert modes["./etc/counterflow/secrets/"] == ("drwx------", "root/root")
    assert "./usr/bin/counterflow" in modes
    field = subprocess.run(["dpkg-deb", "--field", deb, "Depends"], check=True, capture_output=True, text=True).stdout
    assert field.startswith("python3.")


def test_the_rpm_is_built_beside_it(packages: Path) -> None:
    (rpm,) = packages.glob("*.rpm")
    assert rpm.read_bytes()[:4] == bytes.fromhex("edabeedb")  # the lead of every rpm


def test_systemd_accepts_the_unit_and_finds_it_confined(packages: Path, tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not on PATH")
    text = (packages / "root" / UNIT).read_text()
    assert "ExecStart=/opt/counterflow/bin/counterflow agent run --config /etc/counterflow/agent.yaml\n" in text
    unit = tmp_path / Path(UNIT).name
    unit.write_text(text.replace("=/opt/", f"={packages / 'root'}/opt/"))  # where the program is now
    verified = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = ["systemd-analyze", "security", "--offline=yes", "--threshold=20", unit]  # 2.0 of 10, which is unconfined
    assert subprocess.run(judged, capture_output=True, check=False).returncode == 0


def test_an_agent_from_the_deb_publishes_a_recording_within_its_memory(
    packages: Path, broker: StackSettings, tmp_path: Path
) -> None:
    text = RECORDING.read_text()
    begin = text.index("ZZZZ,T0002")
    live = tmp_path / "live.nmon"
    live.write_text(text[:begin])
    snapshots = ["ZZZZ" + part for part in text[begin:].split("ZZZZ")[1:]]
    config = {"agent_id": "of-the-package", "kafka": broker.kafka("agent").described, "sources": [
        {"name": "nmon", "paths": [str(tmp_path / "*.nmon")], "zone": "UTC"}
    ]}  # fmt: skip
    (tmp_path / "agent.yaml").write_text(yaml.safe_dump(config))
    read = is_read(broker, "of-the-package", live)
    launcher = str(packages / "root/opt/counterflow/bin/counterflow")
    with AgentProcess([launcher, "agent", "run", "--config", str(tmp_path / "agent.yaml")], tmp_path / "log") as agent:
        until(read, tmp_path / "log")
        with live.open("a") as out:
            out.write("".join(snapshots[:2]))
        until(read, tmp_path / "log")
        resident_mb = psutil.Process(agent.process.pid).memory_info().rss / 2**20
        agent.stop()
    rows = published(broker, "of-the-package")
    assert len({row["ts"] for row in rows if row["dataset"] == "system_cpu"}) == 3
    assert resident_mb < MOST_MB

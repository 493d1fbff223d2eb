"""The Ansible role of the agent, run into a folder: what it writes, and that a second run changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROLES = Path(__file__).parents[2] / "packaging/ansible/roles"
CONFIG = "agent_id: web1 # {not a template}\n"


def play(folder: Path, *words: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    playbook = folder / "playbook.json"  # JSON is YAML
    playbook.write_text(
        json.dumps([{"hosts": "localhost", "gather_facts": False, "roles": ["counterflow_agent"], "vars": variables}])
    )
    program = Path(sys.executable).with_name("ansible-playbook")
    environment = os.environ | {
        "ANSIBLE_ROLES_PATH": str(ROLES),
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "home/tmp"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "LC_ALL": "C.UTF-8",
    }
    command = [str(program), "-i", "localhost,", "-c", "local", *words, str(playbook)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "root").mkdir()
    return {
        "counterflow_agent_root": str(tmp_path / "root"),
        "counterflow_agent_owner": str(os.getuid()),
        "counterflow_agent_config": CONFIG,
        "counterflow_agent_secrets": {"kafka": "s3cret", "db": "other"},
    }


def test_it_writes_what_the_unit_reads_once(tmp_path: Path, variables: dict[str, Any]) -> None:
    first = play(tmp_path, **variables)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "s3cret" not in first.stdout + first.stderr
    etc = tmp_path / "root/etc/counterflow"
    secrets = etc / "secrets"
    modes = {path.name: path.stat().st_mode & 0o777 for path in (etc, secrets, *secrets.iterdir(), etc / "agent.yaml")}
    assert modes == {"counterflow": 0o755, "secrets": 0o700, "kafka": 0o600, "db": 0o600, "agent.yaml": 0o644}
    assert ((etc / "agent.yaml").read_text(), (secrets / "kafka").read_text()) == (CONFIG, "s3cret")

    again = play(tmp_path, **variables)
    assert "changed=0 " in again.stdout, again.stdout

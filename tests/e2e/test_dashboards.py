"""Every query of every board on what went through the line, as the user who may only read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def checked(counterflow: Run, published: Callable[[str], Any]) -> subprocess.CompletedProcess[str]:
    """What the check says after stories of links, logs, jobs and replication."""
    for story in ("sriov-story", "log-ceiling-story", "figure2-1", "q-replication"):
        published(story)
    return counterflow("dashboards", "check", "--require-rows", "--json", timeout=300)


@pytest.fixture(scope="module")
def findings(checked: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in checked.stdout.splitlines()]


def test_nothing_is_wrong(findings: list[dict[str, Any]]) -> None:
    assert [(found["name"], found["problems"]) for found in findings if found["state"] == "error"] == []


def test_what_was_measured_is_shown(findings: list[dict[str, Any]]) -> None:
    rows = {found["name"]: found["rows"] for found in findings if found["thing"] == "panel"}
    assert [name for name in ("logical_io", "cap_verdict", "link_own") if not rows[name]] == []


def test_the_exit_status_tells_whether_anything_is_empty(
    checked: subprocess.CompletedProcess[str], findings: list[dict[str, Any]]
) -> None:
    assert checked.returncode == any(found["state"] != "ok" for found in findings), checked.stderr

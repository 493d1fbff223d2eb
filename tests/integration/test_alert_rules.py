"""Prometheus and Alertmanager accept the rules and the example; each rule fires and clears as its case describes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from counterflow.dashboards import build
from tests.support.prometheus import REPOSITORY, run

TESTS = sorted((REPOSITORY / "tests/alerts").glob("*.yml"))
ROUTING = REPOSITORY / "dashboards/prometheus/alertmanager.example.yml"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what Prometheus reads."""
    folder = tmp_path_factory.mktemp("made")
    build.write(folder, below="prometheus/")
    return folder / "prometheus"


def test_prometheus_takes_the_rules_and_the_example(made: Path) -> None:
    checked = run("promtool", "check", "rules", "--lint-fatal", made / "rules.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    checked = run("promtool", "check", "config", made / "prometheus.example.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_alerts_wait_fire_and_clear(path: Path, made: Path) -> None:
    tested = run("promtool", "test", "rules", shutil.copy(path, made))
    assert tested.returncode == 0, tested.stdout + tested.stderr


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (["alertname=CounterflowWatchdog", "severity=none"], "dead-mans-switch"),
        (["alertname=CounterflowLinkCapped", "severity=critical", "system=A"], "pager"),
        (["alertname=CounterflowDiskResponse", "severity=warning"], "mail"),
        (["alertname=CounterflowLinkHeadroom", "severity=info"], "notices"),
    ],
)
def test_the_example_routes_by_severity(labels: list[str], receiver: str) -> None:
    routed = run(
        *("amtool", "config", "routes", "test", f"--config.file={ROUTING}", f"--verify.receivers={receiver}", *labels)
    )
    assert routed.returncode == 0, routed.stdout + routed.stderr


def test_alertmanager_accepts_the_example() -> None:
    checked = run("amtool", "check-config", ROUTING)
    assert checked.returncode == 0, checked.stdout + checked.stderr

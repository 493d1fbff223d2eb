"""Prometheus and Alertmanager accept the rules and the example; each rule fires and clears as its case describes."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterflow.dashboards.alerting import PROMETHEUS as RULES
from tests.support.prometheus import REPOSITORY, run

TESTS = sorted((REPOSITORY / "tests/alerts").glob("*.yml"))
ROUTING = REPOSITORY / "dashboards/prometheus/alertmanager.example.yml"


def test_prometheus_takes_the_rules_and_the_example() -> None:
    checked = run("promtool", "check", "rules", "--lint-fatal", RULES)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    checked = run("promtool", "check", "config", RULES.with_name("prometheus.example.yml"))
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_alerts_wait_fire_and_clear(path: Path) -> None:
    tested = run("promtool", "test", "rules", path)
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

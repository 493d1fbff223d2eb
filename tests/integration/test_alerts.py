"""From a verdict in ClickHouse to a person: exporter, Prometheus and Alertmanager as they are, with our rules."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from counterflow.dashboards import alerting
from counterflow.schemas.migrations import migrate
from counterflow.stack.settings import HOST, StackSettings
from tests.support.prometheus import REPOSITORY, alertmanager, get, prometheus, routed, running, scraping
from tests.support.waiting import until
from tests.support.web import Post, receiving

SYSTEM = "alerts 'A'"


@pytest.fixture
def hook() -> Iterator[tuple[str, list[Post]]]:
    """A server that keeps what it is sent."""
    with receiving() as found:
        yield found


def alerts(posts: list[Post]) -> list[dict[str, Any]]:
    """Return the alerts in what was posted to the hook."""
    return [alert for post in posts for alert in post.json()["alerts"]]


def write_verdict(settings: StackSettings, state: str, system: str = SYSTEM) -> None:
    """Insert a verdict with the current time, as the lander does."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "")
    evidence = {"inputs": {"capacity_pct": 3}, "figures": {"share": 0.7004, "util": 0.898, "own_bytes_s": 470e6}}
    row = {"ts": now, "interval_s": 30, "system": system, "n": 2, "rule": "roce_cap", "entity_type": "nrg"}
    row |= {"entity": "NRG1", "state": state, "signal": state, "stale": False, "reason": "", "since": now}
    row |= {"evidence": json.dumps(evidence), "parameters": "0123456789abcdef"}
    with settings.clickhouse("lander") as lander:
        lander.post("INSERT INTO counterflow.verdict FORMAT JSONEachRow", json.dumps(row).encode())


@pytest.fixture
def tables(clickhouse: StackSettings) -> StackSettings:
    """A ClickHouse with the tables."""
    with clickhouse.clickhouse("admin") as admin:
        migrate(admin)
    return clickhouse


def quick(rules: str) -> str:
    """Return the rules with every wait set to one second."""
    return re.sub(r"^( +(?:for|keep_firing_for)): .*$", r"\1: 1s", rules, flags=re.MULTILINE)


def test_a_capped_link_reaches_a_webhook_and_clears(
    tables: StackSettings,
    new_stack: Callable[[], StackSettings],
    hook: tuple[str, list[Post]],
    tmp_path: Path,
) -> None:
    url, sent = hook
    spare = new_stack()  # never started: its ports are free
    metrics, of_prometheus, of_alertmanager = (f"{HOST}:{port}" for port in list(spare.ports.values())[:3])
    (tmp_path / "rules.yml").write_text(quick(alerting.files()[alerting.PROMETHEUS]))

    def of_the_link(status: str) -> list[dict[str, Any]]:
        return [
            alert
            for alert in alerts(sent)
            if alert["status"] == status
            and alert["labels"]["alertname"] == "CounterflowLinkCapped"
            and alert["labels"]["system"] == SYSTEM
        ]

    def metrics_page() -> str | None:
        return get(f"http://{metrics}/metrics")

    def states() -> set[str]:
        return {line for line in (metrics_page() or "").splitlines() if line.startswith("counterflow_verdict_state{")}

    exporter = (
        *(sys.executable, "-m", "counterflow", "dev", "verdicts"),
        *("--flink-url", "http://127.0.0.1:9", "--metrics-port", metrics.rpartition(":")[2]),
    )
    write_verdict(tables, "CAPPED")
    with ExitStack() as stack:
        with running(tmp_path / "exporter.log", *exporter, **tables.environment):
            until(metrics_page, f"exporter: {tmp_path / 'exporter.log'}")
            before = states()
        assert any(SYSTEM in line and 'state="CAPPED"' in line and line.endswith(" 1.0") for line in before)
        stack.enter_context(running(tmp_path / "exporter.log", *exporter, **tables.environment))
        until(metrics_page, "exporter after its restart")
        assert states() == before

        stack.enter_context(alertmanager(tmp_path, of_alertmanager, routed(url)))
        # an alert that fires before it knows the Alertmanager is lost
        again = "--rules.alert.resend-delay=1s"
        stack.enter_context(prometheus(tmp_path, of_prometheus, scraping(metrics, of_alertmanager), again))
        alert = until(lambda: of_the_link("firing"), f"alert: {sorted(p.name for p in tmp_path.glob('*.log'))}")[0]
        assert alert["labels"]["severity"] == "critical"
        begin, end = map(int, re.findall(r"(?:from|to)=(\d+)", alert["annotations"]["dashboard_url"]))
        assert begin < 1000 * time.time() < end + 60_000
        assert alert["annotations"] == {
            "summary": f"{SYSTEM}: link NRG1 is capped by the hypervisor",
            "description": "The link's share of the adapter's bytes, divided by its capacity, is 0.7004, "
            "with the physical port at 0.898 of its line rate and a capacity of 3 %. The link carries 470M bytes/s; "
            "its baseline is unknown bytes/s.",
            "dashboard_url": f"http://127.0.0.1:13000/d/cf-mirror?from={begin}&to={end}"
            f"&var-system={quote_plus(SYSTEM)}&var-link={quote_plus(f'{SYSTEM} / NRG1')}",
            "runbook_url": (REPOSITORY / "dashboards/alerts/link-capped/README.md").as_uri(),
        }
        until(lambda: [a for a in alerts(sent) if a["labels"]["alertname"] == "CounterflowWatchdog"], "sign of life")
        assert not of_the_link("resolved")

        write_verdict(tables, "OK")
        until(lambda: of_the_link("resolved"), "end of the alert")


def test_an_exporter_without_flink_misses_none(
    tables: StackSettings, new_stack: Callable[[], StackSettings], tmp_path: Path
) -> None:
    port = new_stack().verdicts_metrics_port
    exporter = ("-m", "counterflow", "dev", "verdicts", "--no-flink", f"--metrics-port={port}")
    with running(tmp_path / "exporter.log", sys.executable, *exporter, **tables.environment):
        page = until(lambda: get(f"http://{HOST}:{port}/metrics"), f"exporter: {tmp_path / 'exporter.log'}")
    assert "counterflow_exporter_clickhouse_up 1.0" in page
    assert "counterflow_flink_up" not in page
    assert "counterflow_job_running" not in page

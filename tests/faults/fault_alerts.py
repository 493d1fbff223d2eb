"""Fault 24: exporter, Prometheus and Alertmanager restarted while an alert fires."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from pathlib import Path

from counterflow.dashboards import alerting
from counterflow.stack import supervision
from counterflow.stack.settings import HOST, StackSettings
from tests.integration.test_alerts import alerts, hook, write_verdict
from tests.support.ports import free_ports
from tests.support.prometheus import alertmanager, get, prometheus, routed, scraping
from tests.support.waiting import until
from tests.support.web import Post

__all__ = ["hook"]
SYSTEM = "faults"


def test_an_alert_outlives_restarts(stack: StackSettings, hook: tuple[str, list[Post]], tmp_path: Path) -> None:
    url, sent = hook
    at, of_alertmanager = (f"{HOST}:{port}" for port in free_ports(2))
    rules = re.sub(r"^( +for): .*$", r"\1: 1s", alerting.files()[alerting.PROMETHEUS], flags=re.MULTILINE)
    rules = re.sub(r"^( +keep_firing_for): .*$", r"\1: 20s", rules, flags=re.MULTILINE)
    (tmp_path / "rules.yml").write_text(rules)
    exporter = f"{HOST}:{stack.verdicts_metrics_port}"
    again = "--rules.alert.resend-delay=5s"
    programs = {
        "alertmanager": lambda: alertmanager(tmp_path, of_alertmanager, routed(url, repeat_interval="5s")),
        "prometheus": lambda: prometheus(tmp_path, at, scraping(exporter, of_alertmanager), again),
    }
    runs = {name: ExitStack() for name in programs}

    def start(name: str) -> None:
        runs[name].enter_context(programs[name]())

    def notified(status: str) -> int:
        labels = {"alertname": "CounterflowLinkCapped", "system": SYSTEM}
        return sum(alert["status"] == status and labels.items() <= alert["labels"].items() for alert in alerts(sent))

    def fires() -> bool:
        before = notified("firing")
        return bool(until(lambda: notified("firing") > before, "further notification of the alert"))

    try:
        for name in programs:
            start(name)
        write_verdict(stack, "CAPPED", SYSTEM)
        assert fires()
        pid = supervision.states(stack)["exporter"].pid
        supervision.stop(stack, "exporter")
        time.sleep(3)  # three scrapes fail
        supervision.start(stack, "exporter")
        until(lambda: get(f"http://{HOST}:{stack.verdicts_metrics_port}/metrics"), "exporter")
        assert supervision.states(stack)["exporter"].pid != pid
        assert fires()
        for name in programs:
            runs[name].close()
            time.sleep(2)
            start(name)
            assert fires()
        assert not notified("resolved")
        write_verdict(stack, "OK", SYSTEM)
        until(lambda: notified("resolved"), "end of the alert", within_s=200)
    finally:
        for run in runs.values():
            run.close()

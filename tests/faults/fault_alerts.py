"""Fault 24: exporter, Prometheus and Alertmanager restarted while an alert fires."""

from __future__ import annotations

import re
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from counterflow.dashboards import alerting
from counterflow.stack import supervision
from counterflow.stack.settings import HOST, StackSettings
from tests.integration.test_alerts import get, hook, running, write_verdict
from tests.support.ports import free_ports
from tests.support.prometheus import folder, program
from tests.support.waiting import until

__all__ = ["hook"]
SYSTEM = "faults"


def test_an_alert_outlives_restarts(
    stack: StackSettings, hook: tuple[str, list[dict[str, Any]]], tmp_path: Path
) -> None:
    url, sent = hook
    prometheus, alertmanager = (f"{HOST}:{port}" for port in free_ports(2))
    rules = re.sub(r"^( +for): .*$", r"\1: 1s", alerting.files()[alerting.PROMETHEUS], flags=re.MULTILINE)
    rules = re.sub(r"^( +keep_firing_for): .*$", r"\1: 20s", rules, flags=re.MULTILINE)
    (tmp_path / "rules.yml").write_text(rules)
    exporter = {"targets": [f"{HOST}:{stack.verdicts_metrics_port}"]}
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": ["rules.yml"],
        "scrape_configs": [{"job_name": "counterflow-verdicts", "static_configs": [exporter]}],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
    }
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    route = {
        "receiver": "hook",
        "group_by": ["..."],
        "group_wait": "0s",
        "group_interval": "1s",
        "repeat_interval": "5s",
    }
    routing = {"route": route, "receivers": [{"name": "hook", "webhook_configs": [{"url": url}]}]}
    (tmp_path / "alertmanager.yml").write_text(yaml.safe_dump(routing))
    programs = {
        "prometheus-alertmanager": (
            f"--config.file={tmp_path / 'alertmanager.yml'}",
            f"--storage.path={tmp_path / 'alerts'}",
            f"--web.listen-address={alertmanager}",
            "--cluster.listen-address=",
        ),
        "prometheus": (
            f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'series'}",
            f"--web.listen-address={prometheus}",
            "--rules.alert.resend-delay=5s",
        ),
    }
    runs = {name: ExitStack() for name in programs}

    def start(name: str) -> None:
        command = (program(name), *programs[name])
        runs[name].enter_context(running(tmp_path / f"{name}.log", *command, cwd=folder(name)))

    def notified(status: str) -> int:
        labels = {"alertname": "CounterflowLinkCapped", "system": SYSTEM}
        return sum(alert["status"] == status and labels.items() <= alert["labels"].items() for alert in sent)

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

"""The audit over the real line: every record arrived once, and every result follows from its counters."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

from counterflow.pipelines.audit.results import audited
from tests.e2e.conftest import Run
from tests.support.waiting import PATIENCE_S


def test_after_the_demo_nothing_is_lost_or_wrong(counterflow: Run, demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stderr
    end = time.monotonic() + PATIENCE_S
    while True:
        run = counterflow("audit", "--from", "2026-03-02", "--to", "2026-03-03", "--json")
        report: dict[str, Any] = json.loads(run.stdout)
        if not report["results_pending"] or time.monotonic() > end:
            break
    assert run.returncode == 0, run.stdout
    assert (report["lost"], report["pending"]) == (0, 0)
    assert report["acked"] == report["landed"] + report["deadletter"] > 30_000
    assert (report["results_wrong"], report["results_pending"]) == (0, 0)
    assert report["sample_missing"] == 0
    assert 0 < report["sample_rows"] == sum(one["stored"] for one in report["sample"])
    checked = {result["dataset"]: result["checked"] for result in report["results"]}
    assert checked.keys() == audited().keys()
    assert all(checked.values()), checked
    assert report["results_checked"] == sum(checked.values())
    of_nothing = counterflow("audit", "--from", "2001-01-01", "--to", "2001-01-02")
    assert "None was checked: no result is computed from counters of this period." in of_nothing.stdout

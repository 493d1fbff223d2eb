"""The oracle over the real line: everything arrived once, and every result is what its counters say."""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any

from counterflow.pipelines.audit.results import audited
from tests.e2e.conftest import Run


def test_after_the_demo_nothing_is_lost_duplicated_or_wrong(
    counterflow: Run, demo: subprocess.CompletedProcess[str]
) -> None:
    assert demo.returncode == 0, demo.stderr
    end = time.monotonic() + 60
    while True:
        run = counterflow("audit", "--from", "2026-03-02", "--to", "2026-03-03", "--json")
        said: dict[str, Any] = json.loads(run.stdout)
        if not said["results_pending"] or time.monotonic() > end:
            break
    assert run.returncode == 0, run.stdout
    assert (said["lost"], said["duplicates"], said["pending"]) == (0, 0, 0)
    assert said["acked"] == said["landed"] + said["deadletter"] > 30_000
    assert (said["results_wrong"], said["results_pending"]) == (0, 0)
    checked = {result["dataset"]: result["checked"] for result in said["results"]}
    assert checked.keys() == audited().keys()
    assert all(checked.values()), checked
    assert said["results_checked"] == sum(checked.values())

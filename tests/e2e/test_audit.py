"""The oracle over the real line: everything arrived once, and every result is what its counters say."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.e2e.conftest import Case, Run


def test_nothing_is_lost_doubled_or_wrong(counterflow: Run, published: Callable[[str], Case]) -> None:
    for case in ("sriov-story", "log-ceiling-story", "end-of-day-story"):
        published(case)
    run = counterflow("audit", "--from", "2026-03-02", "--to", "2026-03-03", "--json")
    said = json.loads(run.stdout)
    assert run.returncode == 0, run.stdout
    assert (said["lost"], said["duplicates"], said["pending"]) == (0, 0, 0)
    assert said["acked"] == said["landed"] + said["deadletter"] > 0
    assert (said["results_wrong"], said["results_pending"]) == (0, 0)
    checked = {result["dataset"]: result["checked"] for result in said["results"]}
    assert said["results_checked"] == sum(checked.values())
    story = {"account_cpu", "io_mix", "job_cpu", "link_load", "log_load", "pool_faulting", "wait_signature"}
    assert all(checked[dataset] > 0 for dataset in story), checked

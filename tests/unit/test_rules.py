"""What every rule has in common; the verdicts of each are tested in the folder of its job."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from counterflow.pipelines.rules import rules
from tests.support.pages import REPOSITORY

INTERVALS = {
    "roce_cap": {"own_out_bytes_s": 6e8, "own_in_bytes_s": 6e8, "own_msgs_s": 4e6, "capacity_pct": 5},
    "log_ceiling": {"path": "zhpf", "rate_mb_s": 196, "ceiling_mb_s": 200, "waits_delta": 12},
}


@pytest.mark.parametrize("name", rules())
@pytest.mark.parametrize("second", [60, 120])
def test_an_interval_that_is_not_newer_than_the_last_changes_nothing(name: str, second: int) -> None:
    rule = rules()[name]
    newest, other = (
        rule.interval({"ts": f"2026-11-21T01:{at // 60:02}:00Z", "interval_s": 60, **INTERVALS[name]})
        for at in (120, second)
    )
    state, _ = rule.judge(rule.parameters(), rule.start, newest)
    after, verdict = rule.judge(rule.parameters(), state, other)
    assert after == state
    assert (verdict.signal, verdict.stale) == (None, True)


@pytest.mark.parametrize("name", rules())
def test_every_parameter_is_on_the_page_with_its_default(name: str) -> None:
    page = (REPOSITORY / f"pipelines/jobs/{name}/README.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", page, re.MULTILINE))
    assert {name: float(value) for name, value in documented.items()} == {
        field.name: float(field.default) for field in fields(rules()[name].parameters)
    }

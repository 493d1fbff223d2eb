"""A threshold stands once, with its source: what names it gets its number, and the rules of verdicts agree with it."""

from __future__ import annotations

import pytest

from counterflow.analysis.checks import checks
from counterflow.dashboards.alerting import alerts
from counterflow.dashboards.definition import charts
from counterflow.pipelines.rules import log_ceiling, roce_cap
from counterflow.schemas.thresholds import threshold, thresholds, with_thresholds


def test_a_board_an_alert_and_a_published_rule_have_the_number_of_their_figure() -> None:
    faulting, busy = thresholds()["pool_faulting_pct"], thresholds()["disk_busy_pct"]
    assert [one.at for one in charts()["pool_fault_worst"].thresholds] == [faulting.watch, faulting.limit]
    sql = alerts()["pool-faulting"].grafana
    assert sql is not None
    assert sql.above == faulting.limit
    assert f">= {threshold('pool_faulting_pct', 'limit') / 100:g} or" in str(alerts()["pool-faulting"].expr)
    assert f"more than {busy.watch:g} %" in checks()["disk_busy"].rule
    assert charts()["unix_disk_worst"].series["Busy"].levels == {"warning": busy.watch, "critical": busy.limit}


def test_rules_of_verdicts_judge_by_the_thresholds_that_boards_draw() -> None:
    cap, ceiling = roce_cap.Parameters(), log_ceiling.Parameters()
    drawn = {name: thresholds()[name] for name in thresholds()}
    assert drawn["link_port_used_pct"].limit == 100 * cap.util_threshold
    assert drawn["log_ceiling_used_pct"].watch == 100 * ceiling.plateau_ratio
    assert drawn["log_ceiling_used_pct"].limit == 100 * ceiling.near_ratio
    assert drawn["log_waiting_pct"].watch == 100 * ceiling.waiting_share
    assert drawn["zhyperlink_sync_pct"].watch == ceiling.sync_pct


def test_watching_begins_before_the_limit() -> None:
    both = {n: (one.watch, one.limit) for n, one in thresholds().items() if None not in (one.watch, one.limit)}
    assert {name for name, (watch, limit) in both.items() if (watch or 0) >= (limit or 0)} == set()


@pytest.mark.parametrize("named", ["<no_such_figure.watch>", "<memory_used_pct.watch>", "<disk_response_ms.wach>"])
def test_a_name_that_is_not_there_is_refused(named: str) -> None:
    with pytest.raises(ValueError, match=r"<\w+\.wa\w*ch>: (it has no `wat?ch`|.*no such figure)"):
        with_thresholds(f"above: {named}")


def test_a_level_can_be_written_in_another_unit() -> None:
    assert with_thresholds("x > <disk_response_ms.watch/1000> s") == "x > 0.01 s"

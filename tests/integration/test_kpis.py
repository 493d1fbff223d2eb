"""The SQL of the pages, as printed there: that of views over rows whose answers are plain to work out."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.stack.settings import StackSettings
from tests.support.pages import blocks
from tests.support.tables import empty_tables, insert

PERIOD = {"param_from": "2026-01-01 00:00:00", "param_to": "2026-01-01 00:01:00"}
ENVELOPE: dict[str, Any] = {"system": "kpis", "interval_s": 15.0}


def printed(view: str) -> str:
    """Return the last SQL statement on the page of a view: the one over a period."""
    page = f"docs/kpis/{view.replace('_', '-')}.md"
    return [block for block in blocks("sql") if block.page == page][-1].text


def test_period_figures_are_weighted_by_time_and_absent_is_zero(clickhouse: StackSettings) -> None:
    rows: dict[str, list[dict[str, Any]]] = {"manifest": [], "footprint": [], "disk_total": []}
    for second, seen in [(15, True), (30, False), (45, True), (60, False)]:
        at = {"ts": f"2026-01-01 00:{second // 60:02}:{second % 60:02}"}
        rows["manifest"].append({**at, "counted": "job", "row_count": int(seen)})
        if seen:
            figures = {"cpu_ms": 900.0 * second, "cpu_cores": 0.06 * second, "cpu_base": "physical"}
            rows["footprint"].append({**at, "command": "db2sysc", "memory_mb": 10.0 * second, **figures})
        response = {"response_ms": 8.0} if seen else {}
        figures = {"transfers_per_s": float(second), "read_mb": 30.0, "written_mb": 50.0, "busy_pct": float(second)}
        rows["disk_total"].append({**at, **figures, **response})
    with empty_tables(clickhouse) as admin:
        for table, some in rows.items():
            insert(admin, table, *some, **ENVELOPE)
        disks, commands = printed("disk_load"), printed("footprint")
        only = "system = 'kpis'"
        [disk] = admin.rows(f"SELECT * FROM ({disks}) WHERE {only}", PERIOD)
        [command] = admin.rows(f"SELECT * FROM ({commands}) WHERE {only}", PERIOD)
    assert disk == {
        "system": "kpis",
        "read_mb": 120,
        "written_mb": 200,
        "rw_ratio": 0.6,
        "response_ms": 8,  # an interval of unknown response weighs nothing
        "busy_pct_max": 60,
    }
    assert command == {
        "system": "kpis",
        "command": "db2sysc",
        "cpu_base": "physical",
        "cpu_s": 54,  # 13.5 + 40.5
        "cpu_cores_avg": 0.9,  # over the 60 s recorded, not the 30 s seen
        "cpu_cores_max": pytest.approx(2.7),
        "memory_mb_avg_when_present": 300,
    }


ELSEWHERE = ("docs/cookbook.md", "dashboards/alerts/")
"""Pages whose statements other tests run: stored questions, and statements that confirm an alert."""


def test_every_statement_of_the_pages_runs(clickhouse: StackSettings) -> None:
    with empty_tables(clickhouse) as admin:
        for block in blocks("sql"):
            if not block.page.startswith(ELSEWHERE):
                admin.rows(block.text, PERIOD)

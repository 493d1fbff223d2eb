"""The SQL of the pages, as printed there: that of jobs and views over rows whose answers are plain to work out."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.stack.settings import StackSettings
from tests.support.pages import blocks
from tests.support.tables import empty_tables, insert

PERIOD = {"param_from": "2026-01-01 00:00:00", "param_to": "2026-01-01 00:01:00"}
ENVELOPE: dict[str, Any] = {"system": "kpis", "interval_s": 15.0}


def printed(result: str) -> str:
    """Return the last SQL statement on the page of a job or a view: the one over a period."""
    pages = (f"pipelines/jobs/{result}/README.md", f"docs/kpis/{result.replace('_', '-')}.md")
    return [block for block in blocks("sql") if block.page in pages][-1].text


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


def test_links_are_weighted_by_time_and_out_and_in_stay_apart(clickhouse: StackSettings) -> None:
    rows = []
    for seconds, out_bytes_s in [(15, 100.0), (45, 500.0), (60, None)]:  # the last is a gap
        link: dict[str, Any] = {"ts": f"2026-01-01 00:{seconds // 60:02}:{seconds % 60:02}"}
        link |= {"link": "en0", "link_type": "interface", "own_in_bytes_s": 10.0}
        link |= {"interval_s": 30.0} if seconds == 45 else {}
        rows.append(link | ({"own_out_bytes_s": out_bytes_s, "out_line_pct": out_bytes_s / 10} if out_bytes_s else {}))
        rows[-1] |= {"in_line_pct": 1.0, "phys_line_pct": float(seconds)}
    with empty_tables(clickhouse) as admin:
        insert(admin, "link_load", *rows, **ENVELOPE)
        [link] = admin.rows(f"SELECT * FROM ({printed('link_load')}) WHERE system = 'kpis'", PERIOD)
    assert link == {
        "system": "kpis",
        "link_type": "interface",
        "link": "en0",
        "out_bytes_s": pytest.approx(1100 / 3),  # (100 x 15 + 500 x 30) / 45
        "in_bytes_s": 10,
        "line_pct_max": 50,
        "phys_line_pct_max": 60,
    }


ELSEWHERE = ("docs/cookbook.md", "dashboards/alerts/")
"""Pages whose statements other tests run: stored questions, and statements that confirm an alert."""


def test_every_statement_of_the_pages_runs(clickhouse: StackSettings) -> None:
    with empty_tables(clickhouse) as admin:
        for block in blocks("sql"):
            if not block.page.startswith(ELSEWHERE):
                admin.rows(block.text, PERIOD)

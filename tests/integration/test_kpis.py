"""The SQL of docs/kpis.md, as printed there, over rows whose answers are plain to work out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from counterflow.clickhouse import ClickHouse
from counterflow.schemas.migrations import migrate
from counterflow.stack.settings import StackSettings

PAGE = Path(__file__).resolve().parents[2] / "docs/kpis.md"
PERIOD = {"param_from": "2026-01-01 00:00:00", "param_to": "2026-01-01 00:01:00"}
ENVELOPE = {"system": "kpis", "interval_s": 15.0}


def test_period_figures_are_weighted_by_time_and_absent_is_zero(clickhouse: StackSettings) -> None:
    agent = {"source": "nmon", "agent_id": "kpis", "collected_at": "2026-01-01 00:02:00", "counted": "job"}
    rows: dict[str, list[dict[str, Any]]] = {"manifest": [], "footprint": [], "disk_load": []}
    for seq, (second, seen) in enumerate([(15, True), (30, False), (45, True), (60, False)]):
        at = {**ENVELOPE, "ts": f"2026-01-01 00:{second // 60:02}:{second % 60:02}"}
        rows["manifest"].append({**at, **agent, "seq": seq, "row_count": int(seen)})
        if seen:
            figures = {"cpu_ms": 900.0 * second, "cpu_cores": 0.06 * second, "cpu_base": "physical"}
            rows["footprint"].append({**at, "n": 1, "command": "db2sysc", "memory_mb": 10.0 * second, **figures})
        response = {"response_ms": 8.0} if seen else {}
        figures = {"transfers_per_s": float(second), "read_mb": 30.0, "written_mb": 50.0, "busy_pct": float(second)}
        rows["disk_load"].append({**at, "n": 4, "disk": "*", "leaf": True, **figures, **response})
    with ClickHouse(clickhouse.clickhouse_url, "admin", clickhouse.clickhouse_password("admin")) as admin:
        migrate(admin)
        for table, some in rows.items():
            admin.post(f"INSERT INTO counterflow.{table} FORMAT JSONEachRow", b"\n".join(map(orjson.dumps, some)))
        disks, commands = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
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

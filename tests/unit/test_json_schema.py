"""The validator of a published record accepts what is valid and refuses what ClickHouse would read wrongly."""

from __future__ import annotations

from typing import Any

import pytest

from counterflow.schemas.definition import datasets
from counterflow.schemas.json_schema import json_schema, validator

ROW: dict[str, Any] = {
    "ts": "2026-11-20T10:00:00Z",
    "interval_s": 15,
    "system": "lpar1",
    "source": "nmon",
    "agent_id": "a",
    "seq": 1,
    "collected_at": "2026-11-20T10:00:01.250Z",
    "disk": "hdisk0",
    "device_type": "disk",
    "leaf": True,
    "busy_pct": 12.5,
}
DISK = validator(datasets()["disk"])


@pytest.mark.parametrize(
    "change", [{}, {"busy_pct": 12}, {"seq": 2**63 - 1}, {"ts": "2026-11-20T10:00:00.123Z"}, {"run": "baseline"}]
)
def test_a_valid_record_is_accepted(change: dict[str, Any]) -> None:
    DISK.validate({**ROW, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"ts": None},
        {"ts": 1763632800},
        {"ts": 1763632800123},
        {"ts": "1763632800.5"},
        {"ts": "2026-11-20 10:00:00"},
        {"ts": "2026-11-20T10:00:00+02:00"},
        {"ts": "2026-11-20T10:00:00.123456Z"},
        {"ts": "2026-02-30T10:00:00Z"},
        {"ts": "1999-12-31T23:59:59Z"},
        {"busy_pct": float("nan")},
        {"busy_pct": float("inf")},
        {"busy_pct": "12"},
        {"busy_pct": True},
        {"busy_pct": None},
        {"seq": -1},
        {"seq": 1.5},
        {"seq": 2**63},
        {"leaf": 1},
        {"device_type": "tape"},
        {"disk": 0},
        {"bussy_pct": 1},
    ],
)
def test_what_clickhouse_would_read_wrongly_is_refused(change: dict[str, Any]) -> None:
    assert not DISK.is_valid({**ROW, **change})


@pytest.mark.parametrize("missing", ["ts", "system", "seq", "agent_id", "collected_at", "disk", "leaf"])
def test_what_is_never_null_is_required(missing: str) -> None:
    assert not DISK.is_valid({name: value for name, value in ROW.items() if name != missing})


@pytest.mark.parametrize("name", datasets())
def test_every_dataset_has_a_valid_closed_schema(name: str) -> None:
    schema = json_schema(datasets()[name])
    validator(datasets()[name])
    assert schema["additionalProperties"] is False
    assert "ts" in schema["required"]

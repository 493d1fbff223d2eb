"""The finding about bursts and steady disk I/O, on series whose share is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from counterflow.analysis.findings import findings
from counterflow.base.clickhouse import ClickHouse
from tests.support.tables import insert

BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)

SERIES: dict[str, list[float | None]] = {
    "bursts": [60.0] * 18 + [600.0] * 2,  # 1,200 of 2,280 transfers
    "steady": [600.0] * 20,
    "in between": [60.0] * 18 + [360.0] * 2,  # 720 of 1,800
    "too few": [600.0] * 19,
    "idle": [59.0] * 20,
    "not reported": [None] * 20,
}


def test_bursts_and_steady_io_are_told_apart_and_nothing_is_stated_in_between(client: ClickHouse) -> None:
    rows = [
        {"system": system, "ts": BEGIN + timedelta(minutes=minute), "transfers": count}
        for system, transfers in SERIES.items()
        for minute, count in enumerate(transfers, 1)
    ]
    insert(client, "disk", *rows, interval_s=60.0, disk="sda", device_type="disk", leaf=True)
    found = {one.system: one for one in findings(client) if one.name == "io_pattern"}
    assert {system: one.finding for system, one in found.items()} == {
        "bursts": "disk I/O in bursts: the busiest tenth of the time has 52.6 % of the transfers in 20 intervals; "
        "10/s at most, 1.9 on average",
        "steady": "steady disk I/O: the busiest tenth of the time has 10 % of the transfers in 20 intervals; "
        "10/s at most, 10 on average",
    }
    assert found["bursts"].at == "2026-03-02 08:19:00.000"


def test_io_is_weighted_by_the_time_it_took(client: ClickHouse) -> None:
    """An hour of 1/s, then 19 minutes of 2/s: the busiest tenth, 7.9 minutes, has 948 of 5,880 transfers."""
    rows = [{"ts": BEGIN, "interval_s": 3600.0, "transfers": 3600}]
    rows += [{"ts": BEGIN + timedelta(minutes=n), "interval_s": 60.0, "transfers": 120} for n in range(1, 20)]
    insert(client, "disk", *rows, system="A", disk="sda", device_type="disk", leaf=True)
    [found] = [one.finding for one in findings(client) if one.name == "io_pattern"]
    assert "has 16.1 % of the transfers in 20 intervals; 2/s at most, 1.2 on average" in found

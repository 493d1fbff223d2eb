"""Rows of z/OS systems as agents publish them: accounts, processors and Db2 logs of every minute, for benches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any

from bench.framed import send
from counterflow.base.kafka import Kafka
from counterflow.schemas.definition import datasets
from tests.support.frames import frame

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
LOG_COUNTS = [
    name for name in datasets()["db_log"].sources["db2_log_csv"] if f"prev_{name}" in datasets()["db_log"].columns
]


def minutes(systems: int, members: int, count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield `count` minutes of all systems: two rows of processors, one of accounts, one of each member's log."""
    for minute in range(count):
        before, ts = (f"{BEGIN + at * timedelta(minutes=1):%FT%TZ}" for at in (minute, minute + 1))
        for number in range(systems):
            envelope = {
                "ts": ts,
                "interval_s": 60.0,
                "system": f"SYS{number:03}",
                "agent_id": "bench",
                "collected_at": ts,
            }
            load = 20 + (minute * 7 + number * 13) % 600 / 10
            for kind, engines in (("gcp", 6.0), ("ziip", 10.0)):
                cpu = {"engine_type": kind, "engine": "all", "busy_pct": load, "logical_engines": engines}
                yield "system_cpu", {**envelope, "source": "rmf_dds", **cpu}
            work = {"workload": "SETTLE", "run_id": "bench", "unit_of_work": "accounts", "operation": ""}
            done = {"done": 288_000.0 * (minute + 1), "prev_done": 288_000.0 * minute, "prev_ts": before}
            yield "workload", {**envelope, "source": "workload_csv", **work, **done}
            for member in range(members):
                log = {"subsystem": f"DB{number:02}{member}", "log_path": "zhl", "copies": 2.0, "active_threads": 256.0}
                counts = {name: 6_000_000.0 * (minute + 1) + at for at, name in enumerate(LOG_COUNTS)}
                counts |= {f"prev_{name}": value - 6_000_000.0 for name, value in counts.items()}
                yield "db_log", {**envelope, "source": "db2_log_csv", **log, "prev_ts": before, **counts}


def configured(systems: int, members: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a ceiling per member and a batch per system."""
    ts = f"{BEGIN - timedelta(days=365):%FT%TZ}"
    for number in range(systems):
        envelope = {"ts": ts, "system": f"SYS{number:03}", "source": "site", "agent_id": "bench", "collected_at": ts}
        for member in range(members):
            item = {"section": "log_ceiling", "item": f"DB{number:02}{member}/zhl", "name": "ceiling_mb_s"}
            yield "config", {**envelope, **item, "value": "594"}
        batch = {"section": "batch", "item": "SETTLE", "name": "units_total", "value": "100000000"}
        yield "config", {**envelope, **batch}


def publish(kafka: Kafka, rows: Iterable[tuple[str, dict[str, Any]]]) -> int:
    """Publish rows in frames of one system and instant, as the agent does; return the number of rows."""
    count = 0

    def messages() -> Iterator[tuple[str, dict[str, Any]]]:
        nonlocal count
        names = datasets()
        for _, interval in groupby(rows, key=lambda row: (row[1]["system"], row[1]["ts"])):
            by_dataset: dict[str, list[dict[str, Any]]] = {}
            for dataset, row in interval:
                by_dataset.setdefault(dataset, []).append({**row, "seq": count})
                count += 1
            for dataset, together in by_dataset.items():
                yield names[dataset].topic, frame(dataset, together)

    send(kafka, messages())
    return count

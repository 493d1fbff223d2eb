"""Records of disks as a parser makes them of nmon: rates of a decimal times the interval, drifting around a load."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from counterflow.collectors.agent.envelope import Message
from counterflow.collectors.agent.frames import Framed, Frames
from counterflow.collectors.records import Item, Record, Table


def records(systems: int, disks: int, intervals: int, interval_s: int = 60) -> Iterator[Record]:
    """Yield the disks of all systems, interval by interval; a third of them is idle."""
    chance = random.Random(7)
    every = [
        (f"lpar{s:02}", f"hdisk{d}", chance.random() < 1 / 3, chance.lognormvariate(4, 1), chance.uniform(4, 64))
        for s in range(systems)
        for d in range(disks)
    ]
    drift = [1.0] * len(every)
    begin = datetime(2026, 11, 20, tzinfo=UTC)
    for number in range(intervals):
        ts = f"{begin + timedelta(seconds=interval_s * number):%Y-%m-%dT%H:%M:%SZ}"
        for n, (system, disk, idle, level, kb) in enumerate(every):
            drift[n] = min(4.0, max(0.1, drift[n] * chance.uniform(0.9, 1.11)))
            reads = 0.0 if idle else round(level * drift[n], 1)
            writes = round(reads * 0.4, 1)
            fields = {
                "ts": ts, "interval_s": float(interval_s), "system": system, "source": "nmon",
                "boot_id": f"{system}-1", "disk": disk, "device_type": "disk", "leaf": True,
                "busy_pct": min(100.0, round(reads / 10, 1)),
                "reads": round(reads * interval_s, 1), "writes": round(writes * interval_s, 1),
                "transfers": round((reads + writes) * interval_s, 1),
                "read_kb": round(reads * kb, 1) * interval_s, "written_kb": round(writes * kb, 1) * interval_s,
                "service_ms": round(chance.uniform(0.2, 2), 1) if reads else 0.0,
                "read_service_ms": round(chance.uniform(0.2, 2), 1) if reads else 0.0,
                "write_service_ms": round(chance.uniform(0.2, 2), 1) if reads else 0.0,
                "wait_ms": round(chance.uniform(0, 0.3), 1) if reads else 0.0,
            }  # fmt: skip
            yield Record("disk", fields)


def framed(items: Iterable[Item], agent_id: str = "bench") -> Iterator[Message]:
    """Yield the messages of records and tables, which must be well-formed, as an agent makes them; skip other items."""
    frames: Frames[None] = Frames(agent_id)
    for item in items:
        if isinstance(item, Record | Table):
            yield from _messages(frames.add(item, None, None))
    yield from _messages(frames.drain())


def _messages(found: Iterable[object]) -> Iterator[Message]:
    for one in found:
        assert isinstance(one, Framed), one
        yield one.message

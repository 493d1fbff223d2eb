"""The cost of encoding a record for Kafka: our frames, checked, beside Influx line protocol."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from bench.figure import Figure
from counterflow.collectors.agent.envelope import Message
from counterflow.collectors.agent.frames import Framed, Frames
from counterflow.collectors.records import Item, Record, Table

RECORDS, ROUNDS = 100_000, 5
_TAGS = ("system", "source", "boot_id", "disk", "device_type")


def main() -> None:
    """Encode the same records both ways, in turn."""
    ways: dict[str, Callable[[list[dict[str, Any]]], list[bytes]]] = {
        "ours": lambda records: [message.value for message in framed(Record("disk", record) for record in records)],
        "line protocol": lambda records: list(map(_line, records)),
    }
    least, messages = dict.fromkeys(ways, 1e9), {}
    for _ in range(ROUNDS):
        for name, encode in ways.items():
            records = [
                fields(f"2026-11-20T{n // 72_000:02}:{n // 1200 % 60:02}:00Z", n % 1200, n) for n in range(RECORDS)
            ]
            before = time.process_time()
            messages[name] = encode(records)
            least[name] = min(least[name], time.process_time() - before)
    ours, other = (1e6 * least[name] / RECORDS for name in ways)
    sizes = {name: sum(map(len, found)) / RECORDS for name, found in messages.items()}
    packed = {name: len(zlib.compress(b"\n".join(found), 1)) / RECORDS for name, found in messages.items()}
    size = {name: f"{sizes[name]:.0f} bytes ({packed[name]:.0f} packed by zlib -1)" for name in ways}
    method = (
        f"{RECORDS:,} disk records: of 1,200 disks an instant, as frames: numbered, checked by column, JSON of "
        f"{size['ours']}, CPU time of one process, least of {ROUNDS}. Peer: the same fields as Influx line protocol, "
        f"as Telegraf sends them, put together in Python, unchecked, of {size['line protocol']}."
    )
    Figure("encode a record", round(ours, 2), "us", f"<= {other:.2f}", method, "line protocol", round(other, 2)).emit()
    own, peer = map(round, sizes.values())
    method = "Mean of the same records as JSON in their frames, beside line protocol; neither is compressed."
    Figure("a record in its frame", own, "bytes", f"<= {peer}", method, "line protocol", peer).emit()


def framed(items: Iterable[Item], agent_id: str = "bench") -> Iterator[Message]:
    """Yield the messages of records and tables, which must be well-formed, as an agent makes them; skip other items."""
    frames: Frames[None] = Frames(agent_id)
    for item in items:
        if isinstance(item, Record | Table):
            frames.add(item, None, None)
            yield from _messages(frames.full())
    yield from _messages(frames.drain())


def _messages(found: Iterable[object]) -> Iterator[Message]:
    for one in found:
        assert isinstance(one, Framed), one
        yield one.message


def fields(ts: str, disk: int, snapshot: int) -> dict[str, object]:
    """Return a disk record as a parser makes it."""
    reads, writes = float((disk * 7 + snapshot) % 997), float((disk * 3 + snapshot) % 499)
    return {
        "ts": ts,
        "interval_s": 60.0,
        "system": "aix-bench",
        "source": "nmon",
        "boot_id": "aix-bench/2026-11-20T00:00:00Z",
        "disk": f"hdisk{disk}",
        "device_type": "disk",
        "leaf": True,
        "busy_pct": reads / 10,
        "reads": reads,
        "writes": writes,
        "transfers": reads + writes,
        "read_kb": reads * 8.5,
        "written_kb": writes * 16.25,
        "service_ms": 0.375,
        "wait_ms": 0.125,
    }


def _line(record: dict[str, Any]) -> bytes:
    tags = ",".join(f"{name}={record[name]}" for name in _TAGS)
    values = ",".join(f"{name}={value}" for name, value in record.items() if name not in _TAGS and name != "ts")
    at = int(datetime.fromisoformat(record["ts"]).timestamp() * 1e9)
    return f"disk,{tags} {values} {at}".encode()


if __name__ == "__main__":
    main()

"""Rows published and acknowledged: the agent's work after parsing, beside a producer that only sends bytes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import BinaryIO

from confluent_kafka import Producer

from bench.encode import fields, framed
from bench.figure import Figure
from bench.stack import running
from counterflow.base.kafka import Kafka
from counterflow.collectors.agent.config import Commit, Source
from counterflow.collectors.agent.envelope import Message
from counterflow.collectors.agent.publisher import Publisher
from counterflow.collectors.agent.runner import Runner
from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Item, Position, Table

RECORDS = 1_000_000
DISKS = 1_200
ROUNDS = 3
_PRODUCER = {
    "linger.ms": 20,
    "batch.size": 1_048_576,
    "compression.type": "lz4",
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 65_536,
}


class Parsed:
    """A format whose rows cost next to nothing: 1,200 disks per snapshot, as columns from memory."""

    name = "parsed"

    def recognises(self, head: bytes) -> bool:
        """Return False: the bench names the format."""
        return False

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield the items of `snapshots`."""
        return snapshots()


def snapshots() -> Iterator[Item]:
    """Yield the disks of all snapshots; their figures are those of the first."""
    rows = [fields("", disk, 0) for disk in range(DISKS)]
    columns: dict[str, Sequence[object]] = {name: [row[name] for row in rows] for name in list(rows[0])[5:]}
    columns |= {name: tuple(columns[name]) for name in ("disk", "device_type", "leaf")}
    for snapshot in range(RECORDS // DISKS):
        ts = f"2026-11-20T{snapshot // 60 % 24:02}:{snapshot % 60:02}:00Z"
        yield Table("disk", {**dict(list(rows[0].items())[:5]), "ts": ts}, columns)
        yield Position(0, snapshot, {"number": snapshot})


def main() -> None:
    """Publish through the agent's own loop, then the same bytes by a plain producer."""
    with running("kafka") as (settings, folder):
        kafka = settings.kafka("admin")
        once = [agent(kafka, folder) for _ in range(ROUNDS)]
        plain = peer(kafka)
    count, seconds = once[0][0], statistics.median(one[1] for one in once)
    print(f"wall and CPU s of this process: {[one[1:] for one in once]}")
    method = (
        f"{count:,} disk records from memory through the agent's loop (frames, check by column, JSON, transactions of "
        f"200,000 or 1 s with checkpoints) until the last commit, wall, median of {ROUNDS}, broker on the same cores."
    )
    rate = round(count / seconds)
    peer_text = "idempotent producer, the same messages encoded beforehand, one flush"
    Figure("publish", rate, "records/s", ">= 800000", method, peer_text, round(plain)).emit()


def agent(kafka: Kafka, folder: Path) -> tuple[int, float, float]:
    """Return records, wall seconds and CPU seconds of the agent's loop."""
    formats()["parsed"] = Parsed()
    path = folder / "recording"
    path.write_bytes(b"parsed\n")
    source = Source(name="bench", paths=(path,), format="parsed", follow=False, settle_s=0)
    stop = Event()
    publisher = Publisher(kafka, f"bench-{time.monotonic_ns()}", stop)
    runner = Runner(publisher, "bench", Commit(), stop, take_turns=False)
    runner.begin()
    wall, cpu = time.monotonic(), time.process_time()
    runner.read_whole(source, path, set())
    runner.commit()
    took = time.monotonic() - wall, time.process_time() - cpu
    publisher.close()
    return sum(runner.transaction.records.values()), *took


def peer(kafka: Kafka) -> float:
    """Return records/s of a plain idempotent producer."""
    messages: list[Message] = list(framed(snapshots(), "peer"))
    producer = Producer({**kafka.client, **_PRODUCER, "enable.idempotence": True})
    begin = time.monotonic()
    for topic, key, value in messages:
        while True:
            try:
                producer.produce(topic, value, key)
                break
            except BufferError:
                producer.poll(0.05)
        producer.poll(0)
    if producer.flush(60):
        raise TimeoutError("not all was acknowledged within 60 s")
    return RECORDS // DISKS * DISKS / (time.monotonic() - begin)


if __name__ == "__main__":
    main()

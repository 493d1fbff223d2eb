"""Rows published and acknowledged: the agent's work after parsing, beside a producer that only sends bytes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import BinaryIO

from confluent_kafka import Producer

from bench.figure import Figure
from bench.records import framed, records
from bench.stack import running
from counterflow.base.kafka import Kafka
from counterflow.collectors.agent.config import Commit, Source
from counterflow.collectors.agent.publisher import PRODUCER, Publisher
from counterflow.collectors.agent.runner import Runner
from counterflow.collectors.formats import formats
from counterflow.collectors.records import Context, Item, Position, Table

RECORDS, DISKS, ROUNDS = 1_000_000, 1_200, 3


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
    rows = [record.fields for record in records(1, DISKS, 1)]
    shared = dict(list(rows[0].items())[:5])
    columns: dict[str, Sequence[object]] = {name: [row[name] for row in rows] for name in rows[0] if name not in shared}
    columns |= {name: tuple(columns[name]) for name in ("disk", "device_type", "leaf")}
    for snapshot in range(RECORDS // DISKS):
        ts = f"2026-11-20T{snapshot // 60 % 24:02}:{snapshot % 60:02}:00Z"
        yield Table("disk", {**shared, "ts": ts}, columns)
        yield Position(0, snapshot, {"number": snapshot})


def main() -> None:
    """Publish through the agent's own loop, then the same bytes by a plain producer."""
    with running("kafka") as (settings, folder):
        kafka = settings.kafka("admin")
        once = [agent(kafka, folder) for _ in range(ROUNDS)]
        plain = peer(kafka)
    count, seconds = once[0][0], statistics.median(seconds for _, seconds in once)
    method = (
        f"{count:,} disk records from memory through the agent's loop (frames, check by column, JSON, transactions of "
        f"200,000 or 1 s with checkpoints) until the last commit, wall, median of {ROUNDS}, broker on the same cores."
    )
    peer_text = "idempotent producer, the same messages encoded beforehand, one flush"
    rate, other = round(count / seconds), round(count / plain)
    Figure("publish", rate, "records/s", ">= 800000", method, peer_text, other).emit()


def agent(kafka: Kafka, folder: Path) -> tuple[int, float]:
    """Return records and seconds of the agent's loop."""
    formats()["parsed"] = Parsed()  # type: ignore[assignment]  # of the loop alone, without the check of figures
    path = folder / "recording"
    path.write_bytes(b"parsed\n")
    source = Source(name="bench", paths=(path,), format="parsed", follow=False, settle_s=0)
    stop = Event()
    publisher = Publisher(kafka, f"bench-{time.monotonic_ns()}", stop)
    runner = Runner(publisher, "bench", Commit(), stop, take_turns=False)
    runner.begin()
    began = time.monotonic()
    runner.read_whole(source, path, set())
    runner.commit()
    took = time.monotonic() - began
    publisher.close()
    return sum(runner.transaction.records.values()), took


def peer(kafka: Kafka) -> float:
    """Return the seconds of a plain idempotent producer."""
    messages = list(framed(snapshots(), "peer"))
    producer = Producer({**kafka.client, **PRODUCER, "enable.idempotence": True})
    begin = time.monotonic()
    for topic, key, value in messages:
        producer.produce(topic, value, key)  # all of them fit into its queue
        producer.poll(0)
    if producer.flush(60):
        raise TimeoutError("not all was acknowledged within 60 s")
    return time.monotonic() - begin


if __name__ == "__main__":
    main()

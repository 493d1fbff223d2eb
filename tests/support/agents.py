"""An agent in a process of its own, and what it has published and committed, read back from Kafka."""

from __future__ import annotations

import collections
import contextlib
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import httpx
import orjson
import yaml
from confluent_kafka import Consumer, KafkaException, TopicPartition

from counterflow.collectors.agent.checkpoint import Committed, recall
from counterflow.collectors.records import Item, Record
from counterflow.schemas.definition import datasets
from counterflow.schemas.frame import contract
from counterflow.schemas.frame import rows as of_frame
from counterflow.stack.settings import StackSettings
from tests.support.waiting import PATIENCE_S

Rows = list[dict[str, Any]]
REPOSITORY = Path(__file__).resolve().parents[2]
_ENVELOPE = {"agent_id", "seq", "collected_at", "run"}
_runs = itertools.count(1)


class AgentProcess:
    """A command that runs an agent; its output is in `log`, and it is killed at the end if it still runs."""

    def __init__(self, command: Sequence[str], log: Path, cwd: Path | None = None) -> None:
        self.log = log
        with log.open("wb") as out:
            environment = {**os.environ, "PYTHONFAULTHANDLER": "1"}
            self.process = subprocess.Popen(command, stdout=out, stderr=out, cwd=cwd, env=environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # it writes to its log where each of its threads hangs
            self.process.wait(PATIENCE_S)
        assert self.process.returncode == 0, self.log.read_text()


class Agent(AgentProcess):
    """`counterflow agent run` over sources, under a name; its configuration and its log are in a folder.

    `user` is that of Kafka, `program` what Python runs, `options` are further settings of the configuration.
    """

    def __init__(
        self,
        folder: Path,
        broker: StackSettings,
        name: str,
        *sources: dict[str, Any],
        user: str = "agent",
        program: Sequence[str] = ("-m", "counterflow"),
        **options: Any,
    ) -> None:
        config = {"agent_id": name, "kafka": broker.kafka(user).described, "poll_s": 0.1, "sources": [*sources]}
        self.config = folder / f"{name}.yaml"
        self.config.write_text(yaml.safe_dump(config | options))
        command = [sys.executable, *program, "agent", "run", "--config", str(self.config)]
        super().__init__(command, folder / f"{name}.{next(_runs)}.log", REPOSITORY)


def assert_exactly_once(rows: Rows, items: Iterable[Item], *datasets: str) -> None:
    """Assert that the rows are the records of a plain parse, each once, numbered without a gap.

    They are compared in these datasets; without names in all but those in which an agent reports what it met.
    """
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))

    def counted(found: Iterable[dict[str, Any]]) -> collections.Counter[frozenset[tuple[str, Any]]]:
        return collections.Counter(
            frozenset((name, value) for name, value in row.items() if name not in _ENVELOPE)
            for row in found
            if (row["dataset"] in datasets if datasets else row["dataset"] not in ("quality", "deadletter"))
        )

    plain = [{**item.fields, "dataset": item.dataset} for item in items if isinstance(item, Record)]
    assert counted(rows) == counted(plain)


def committed(broker: StackSettings, name: str) -> Committed:
    """Return what the agent committed; nothing while the broker does not answer."""
    try:
        return recall({**broker.kafka("admin").client}, name)
    except KafkaException:
        return Committed()


def scrape(port: int, wanted: str) -> str | None:
    """Return the agent's metrics, once they contain `wanted`."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    return text if wanted in text else None


def published(broker: StackSettings, agent_id: str, *only: str) -> Rows:
    """Return all committed rows of an agent with their `dataset`, in order of `seq`; what is not JSON is skipped.

    A test that waits for rows of a dataset reads its topic alone, since many tests share a broker.
    """
    settings = {**broker.kafka("admin").client, "group.id": "test", "enable.auto.commit": False}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "enable.partition.eof": True})
    wanted = [d.topic for d in datasets().values() if d.role == "counter" and (not only or d.dataset in only)]
    there = consumer.list_topics(timeout=10).topics
    left = {(topic, p) for topic in wanted for p in there[topic].partitions}
    consumer.assign([TopicPartition(topic, p, 0) for topic, p in left])
    rows: Rows = []
    try:
        while left:
            message = consumer.poll(20)
            assert message is not None, "the end of a topic is not readable: a transaction was left open"
            if message.error():
                left.discard((message.topic() or "", message.partition() or 0))
                continue
            value = message.value() or b""
            if agent_id.encode() not in value:  # of the many that share a broker
                continue
            with contextlib.suppress(orjson.JSONDecodeError):
                frame = orjson.loads(value)
                if isinstance(frame, dict) and frame.get("agent_id") == agent_id:
                    dataset = (message.topic() or "").split(".")[1]
                    assert contract(dataset).rows(frame)
                    rows += [{**row, "dataset": dataset} for row in of_frame(frame, contract(dataset).columns)]
    finally:
        consumer.close()
    return sorted(rows, key=lambda row: row["seq"])

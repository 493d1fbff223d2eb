"""A broker in memory for the agent's own producer: transactions that are committed, aborted, refused and lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
import yaml
from confluent_kafka import KafkaError, KafkaException

from counterflow.base.kafka import Kafka
from counterflow.collectors.agent import checkpoint, publisher
from counterflow.collectors.agent.config import Commit, SpoolFolder, load
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.agent.runner import Runner
from counterflow.schemas.definition import CHECKPOINTS, topics
from counterflow.schemas.frame import contract
from counterflow.schemas.frame import rows as of_frame

KAFKA = Kafka(bootstrap="memory:9092")

Message = tuple[str, bytes | None, bytes | None]


@dataclass
class Broker:
    """What was committed: topic, key and value of each message, in order.

    An open transaction is aborted after 15 s, of which `ahead_s` need not be waited for. While it is `away` it does not
    answer. `lose` is called with the number of each commit that begins, from 1, and returns whether its transaction is
    lost; `kill` with that of each one that is done, and returns whether the agent is killed at this moment.
    """

    ahead_s: float = 0.0
    away: bool = False
    lose: Callable[[int], bool] = lambda number: False
    kill: Callable[[int], bool] = lambda number: False
    messages: list[Message] = field(default_factory=list)
    commits: int = 0

    @classmethod
    def used_by_agents(cls, patched: pytest.MonkeyPatch) -> Broker:
        """Return a broker that all agents of this process use."""
        broker = cls()
        patched.setattr(publisher, "Producer", lambda settings: Producer(broker, settings))
        patched.setattr(checkpoint, "messages", broker.checkpoints)
        return broker

    def now(self) -> float:
        return time.monotonic() + self.ahead_s

    def checkpoints(self, *_: object) -> Iterator[tuple[bytes, bytes | None]]:
        yield from ((key or b"", value) for topic, key, value in self.messages if topic == CHECKPOINTS)

    def committed(self, agent_id: str) -> checkpoint.Committed:
        return checkpoint.recall({}, agent_id)

    def rows(self, agent_id: str) -> list[dict[str, Any]]:
        """Return the rows of an agent with their `dataset`, in order of `seq`."""
        found = []
        for topic, _, value in self.messages:
            if topic != CHECKPOINTS and value is not None and (frame := orjson.loads(value))["agent_id"] == agent_id:
                dataset = topic.split(".")[1]
                assert contract(dataset).rows(frame)
                found += [{**row, "dataset": dataset} for row in of_frame(frame, contract(dataset).columns)]
        return sorted(found, key=lambda row: row["seq"])


class Killed(BaseException):
    """The agent is gone, and whatever it held."""


class Producer:
    """As much of a transactional producer as the agent uses."""

    def __init__(self, broker: Broker, settings: dict[str, Any]) -> None:
        self._broker = broker
        self._most_bytes = settings["message.max.bytes"]
        self._timeout_s = settings["transaction.timeout.ms"] / 1000
        self._open: list[Message] = []
        self._began = 0.0

    def list_topics(self, timeout: float) -> SimpleNamespace:
        self._check_there()
        return SimpleNamespace(topics={topic.name for topic in topics()})

    def init_transactions(self, timeout: float) -> None:
        self._open = []

    def begin_transaction(self) -> None:
        self._began = self._broker.now()

    def produce(self, topic: str, value: bytes | None = None, key: bytes | None = None, partition: int = -1) -> None:
        if len(value or b"") + len(key or b"") > self._most_bytes:
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
        self._open.append((topic, key, value))

    def commit_transaction(self, timeout: float) -> None:
        self._check_there()
        broker = self._broker
        broker.commits += 1
        if broker.now() - self._began > self._timeout_s or broker.lose(broker.commits):
            raise KafkaException(KafkaError(KafkaError.INVALID_TXN_STATE, txn_requires_abort=True))
        broker.messages += self._open
        self._open = []
        if broker.kill(broker.commits):
            raise Killed

    def _check_there(self) -> None:
        if self._broker.away:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT, retriable=True))

    def abort_transaction(self, timeout: float) -> None:
        self._open = []

    def poll(self, timeout: float) -> None:
        pass

    def purge(self) -> None:
        pass


@contextmanager
def running_agent(folder: Path, *sources: Mapping[str, Any], spool: SpoolFolder | None = None) -> Iterator[Metrics]:
    """Run the agent `a` with sources in a thread until the block ends; yield its metrics."""
    config = {"agent_id": "a", "kafka": {"bootstrap": "b"}, "sources": [*sources]}
    (folder / "agent.yaml").write_text(yaml.safe_dump(config))
    stop, systems = Event(), load(folder / "agent.yaml").systems
    runner = Runner(publisher.Publisher(KAFKA, "a", stop), "a", Commit(), stop, systems=systems, spool=spool)
    thread = Thread(target=runner.run, args=([], 0.02))
    thread.start()
    try:
        yield runner.metrics
    finally:
        stop.set()
        thread.join(10)

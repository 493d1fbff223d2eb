"""Fault 6, the broker stopped instead of killed: what it acknowledged while stopping is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Event, Thread

from counterflow.collectors.agent.checkpoint import StreamCheckpoint, StreamId
from counterflow.collectors.agent.publisher import Publisher, Stopped, TransactionLost
from counterflow.schemas.definition import topics
from counterflow.stack import lifecycle, supervision
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.waiting import until

AGENTS, STOPS = 15, 2
AWAY_S = 16.0
"""Longer than a message waits: every agent loses its open transaction, and reads what is committed."""
BACK_S = 90
"""An agent waits 15 to 25 s for the broker to end its open transaction before it begins another."""


class Committing(Thread):
    """An agent that commits one position after another: `acknowledged` is the last, `recalls` counts rereads."""

    def __init__(self, stack: StackSettings, name: str) -> None:
        super().__init__(daemon=True)
        self.acknowledged, self.recalls, self.forgotten = 0, 0, list[tuple[int, int]]()
        self.stop = Event()
        self._place = StreamId("faults", name, "stream")
        self._publisher = Publisher(stack.kafka("agent"), name, self.stop)

    def run(self) -> None:
        try:
            self._publisher.start()
            while not self.stop.is_set():
                try:
                    self._commit(self.acknowledged + 1)
                except TransactionLost as lost:
                    known = self._publisher.restart(lost).streams.get(self._place)
                    committed = known.position["n"] if known else 0
                    if committed < self.acknowledged:
                        self.forgotten.append((self.acknowledged, committed))
                    self.acknowledged, self.recalls = committed, self.recalls + 1
        except Stopped:
            pass
        finally:
            self._publisher.close()

    def _commit(self, n: int) -> None:
        self._publisher.commit([StreamCheckpoint(*self._place, {"n": n})], (), 0)  # no record: the audit misses none
        self.acknowledged = n


def test_what_is_acknowledged_outlives_a_broker_that_is_stopped(kafka: StackSettings) -> None:
    create_topics(kafka, topics())
    agents = [Committing(kafka, f"faults-stopped-{number}") for number in range(AGENTS)]
    for agent in agents:
        agent.start()
    try:
        for _ in range(STOPS):
            _stopped_and_started(kafka, agents)
            assert [agent.forgotten for agent in agents] == [[]] * AGENTS
    finally:
        for agent in agents:
            agent.stop.set()
        for agent in agents:
            agent.join(20)


def _stopped_and_started(kafka: StackSettings, agents: Sequence[Committing]) -> None:
    running = [agent.acknowledged for agent in agents]
    until(lambda: all(agent.acknowledged > n for agent, n in zip(agents, running, strict=True)), within_s=BACK_S)
    supervision.stop(kafka, "kafka")
    stopped = [agent.acknowledged + agent.recalls for agent in agents]
    time.sleep(AWAY_S)
    lifecycle.start(kafka, "kafka")
    until(
        lambda: all(agent.acknowledged + agent.recalls != n for agent, n in zip(agents, stopped, strict=True)),
        within_s=BACK_S,
    )

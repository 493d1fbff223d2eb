"""Transactions: records and the checkpoints that cover them become visible together or not at all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from threading import Event
from typing import Any, TypeVar, cast

import orjson
import structlog
from confluent_kafka import KafkaError, KafkaException, Producer

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.base.kafka_trouble import FENCED, Trouble
from counterflow.collectors.agent.checkpoint import AnyCheckpoint, Committed, Self, key, recall
from counterflow.collectors.agent.envelope import Message
from counterflow.collectors.sources.files import FileId
from counterflow.schemas.definition import CHECKPOINTS, datasets

log = structlog.get_logger()
T = TypeVar("T")

FENCED_EXIT_CODE = 3
PRODUCER = {
    "linger.ms": 100,
    "batch.size": 1_048_576,
    "compression.type": "lz4",
    "queue.buffering.max.messages": 200_000,
    "queue.buffering.max.kbytes": 65_536,
}
"""How librdkafka gathers messages: none is read before the commit, which sends at once those that wait."""
_STOP_WITHIN_S = 5.0
_TAKEOVER_S = 5.0
_AWAY = (
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TIMED_OUT,
    KafkaError._DESTROY_BROKER,
    KafkaError._RESOLVE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.CONCURRENT_TRANSACTIONS,
)


class TransactionLost(Exception):  # noqa: N818 - not an error of the program
    """The open transaction will never be committed; everything since the last commit is to be read again.

    Whatever reads, sends or commits raises it; `Runner.rewind` goes back to the last commit.
    """

    fenced = False

    @classmethod
    def by(cls, error: KafkaException) -> TransactionLost:
        """Return the loss of the transaction behind an error of the broker or librdkafka."""
        lost = cls(error.args[0].str())
        lost.fenced = error.args[0].code() in FENCED
        return lost


class Stopped(Exception):  # noqa: N818
    """The agent was stopped while it waited."""


class Publisher:
    """A transactional producer whose transactional.id is the agent's name.

    It waits for a broker that is away, with back-pressure on the caller: for ever, or for `patience_s`. `stop` ends
    every wait.
    """

    def __init__(self, kafka: Kafka, agent_id: str, stop: Event, patience_s: float | None = None) -> None:
        self._trouble = Trouble(kafka)
        self._client = {**kafka.client, "log_level": 0, "error_cb": self._trouble}
        self._bootstrap = kafka.bootstrap
        self._agent_id = agent_id
        self._stop = stop
        self._patience_s = patience_s
        self._self = Self()
        self._predecessors = {self._self.instance}
        self._producer: Producer | None = None
        self._open = False
        self._sent = 0
        self._acknowledged = 0
        self._losses = 0
        self._stopping_since: float | None = None

    def start(self) -> Committed:
        """Take over the agent's name: fence the agent that had it and return all that is committed.

        Raises
        ------
        CounterflowError : a topic is missing, access is refused, `patience_s` is over, or another agent took the name
            in the same moment.
        Stopped : stopped while waiting for the broker.
        """
        while True:
            try:
                return self._start()
            except TransactionLost as lost:
                self._check_owner(lost)

    def restart(self, lost: TransactionLost) -> Committed:
        """Begin again after a lost transaction, unless another agent has taken over the name.

        Raises
        ------
        CounterflowError : another agent has the name now, exit code 3; or as `start`.
        Stopped : stopped while waiting for the broker.
        """
        self._check_owner(lost)
        committed = self.start()
        if (seq := committed.seq) < self._acknowledged:
            was = self._acknowledged
            log.error("the broker forgot what it had committed, going back to what it has", acknowledged=was, has=seq)
            self._acknowledged = seq
        return committed

    def send(self, message: Message) -> None:
        """Add a message to the transaction; wait while the queue to the broker is full.

        Raises
        ------
        TransactionLost : the transaction cannot be committed any more.
        Stopped : `stop` was set a while ago.
        """
        producer = cast(Producer, self._producer) if self._open else self._begun()
        topic, k, value = message
        try:
            while True:
                try:
                    producer.produce(topic, value, k)
                    break
                except BufferError:
                    producer.poll(0.1)
                    self._stop_in_time()
        except KafkaException as error:
            raise TransactionLost.by(error) from None
        self._sent += 1
        if not self._sent % 64:
            producer.poll(0)
            self._stop_in_time()

    def commit(self, checkpoints: Iterable[AnyCheckpoint], forgotten: Iterable[FileId], seq: int) -> None:
        """Commit what was sent together with the checkpoints that cover it and the last `seq`.

        Raises
        ------
        TransactionLost : it was not committed, or its outcome is unknown; `restart` finds out.
        Stopped : stopped while the broker was away.
        """
        self._commit(checkpoints, forgotten, seq)
        self._acknowledged = seq
        self._losses = 0

    def close(self) -> None:
        """Abort the open transaction, so that no reader waits for it, and drop the producer."""
        if self._producer and self._open:
            try:
                self._producer.abort_transaction(2)
            except KafkaException as error:
                log.warning("the open transaction was not aborted; it ends by itself in 15 s", error=str(error))
        self._drop()

    def _commit(self, checkpoints: Iterable[AnyCheckpoint], forgotten: Iterable[FileId], seq: int) -> None:
        producer = self._begun()
        self._self.seq = seq
        try:
            for checkpoint in checkpoints:
                producer.produce(CHECKPOINTS, orjson.dumps(checkpoint), key(self._agent_id, checkpoint.id), 0)
            for file in forgotten:
                producer.produce(CHECKPOINTS, None, key(self._agent_id, file), 0)
            producer.produce(CHECKPOINTS, orjson.dumps(self._self), key(self._agent_id), 0)
            self._until("committing", lambda: producer.commit_transaction(5))
        except BufferError:
            raise TransactionLost("the queue to the broker is full") from None
        except KafkaException as error:
            raise TransactionLost.by(error) from None
        self._open = False

    def _start(self) -> Committed:
        self._producer = producer = Producer(
            {
                **self._client,
                **PRODUCER,
                "transactional.id": self._agent_id,
                "transaction.timeout.ms": 15_000,
                "message.max.bytes": 4_194_304,
            }
        )
        try:
            self._require(self._until("looking for the topics", lambda: producer.list_topics(timeout=5)))
            self._until("taking over the name", lambda: producer.init_transactions(10))
        except KafkaException as error:
            raise self._refused(error) from None
        committed = self._recall()
        if committed.agent:
            self._predecessors.add(committed.agent.instance)
        self._commit((), (), committed.seq)  # from it the predecessor learns who fenced it
        return committed

    def _check_owner(self, lost: TransactionLost) -> None:
        """Drop a lost transaction, and pause; raise if another agent has taken over the name."""
        self._drop()
        self._losses += 1
        if self._patience_s is not None and self._losses > 3:
            raise CounterflowError(f"the broker at {self._bootstrap} refuses to commit: {lost}")
        trouble = str(self._trouble)
        log.warning("transaction lost, going back to the last commit", error=str(lost), last_error=trouble)
        self._pause(0.1 * 4 ** min(self._losses - 1, 4))
        # A producer whose transaction outlived its time-out is fenced too, and then the name is still ours. An agent
        # that took it over needs a moment to record that.
        until = time.monotonic() + (_TAKEOVER_S if lost.fenced else 0)
        while True:
            other = self._recall().agent
            if other and other.instance not in self._predecessors:
                raise CounterflowError(
                    f"another agent with agent_id `{self._agent_id}` has taken over: "
                    f"process {other.pid} on {other.host}",
                    hint="give each agent an agent_id of its own; stop one of the two",
                    exit_code=FENCED_EXIT_CODE,
                )
            if time.monotonic() >= until:
                return
            self._pause(0.25)

    def _refused(self, error: KafkaException) -> CounterflowError:
        return CounterflowError(
            f"the broker at {self._bootstrap} refuses agent `{self._agent_id}`: {error.args[0].str()}",
            hint="the agent needs WRITE and DESCRIBE on the topics and its transactional.id, READ on the checkpoints",
        )

    def _begun(self) -> Producer:
        producer = cast(Producer, self._producer)
        if not self._open:
            try:
                producer.begin_transaction()
            except KafkaException as error:
                raise TransactionLost.by(error) from None
            self._open = True
        return producer

    def _drop(self) -> None:
        if self._producer:
            self._producer.purge()
        self._producer = None
        self._open = False

    def _recall(self) -> Committed:
        try:
            return self._until("reading the checkpoints", lambda: recall(self._client, self._agent_id, 10))
        except KafkaException as error:
            raise self._refused(error) from None

    def _require(self, there: Any) -> None:
        needed = [CHECKPOINTS, *(d.topic for d in datasets().values() if d.role == "counter")]
        if missing := [name for name in needed if name not in there.topics]:
            raise CounterflowError(
                f"the broker at {self._bootstrap} lacks the topics {', '.join(missing)}",
                hint="`counterflow up` creates them; on a cluster of your own, docs/kubernetes.md has the steps",
            )

    def _until(self, doing: str, call: Callable[[], T]) -> T:
        """Call until it succeeds; wait while the broker is away."""
        began = warned_at = time.monotonic()
        while True:
            try:
                result = call()
                self._trouble.clear()
                if warned_at != began:
                    log.info("the broker answers again", doing=doing, waited_s=round(time.monotonic() - began, 1))
                return result
            except KafkaException as error:
                problem: KafkaError = error.args[0]
                if problem.fatal() or problem.txn_requires_abort():
                    raise
                if not (problem.retriable() or problem.code() in _AWAY):
                    raise
                if self._producer:
                    self._producer.poll(0)  # delivers the cause: a wrong password is reported to `_trouble` only
                what = str(self._trouble) or problem.str()
            waited = time.monotonic() - began
            if self._patience_s is not None and self._trouble.lasting:
                raise CounterflowError(f"Kafka refuses while {doing}: {what}", hint="docs/agent.md#kafka-refuses")
            if self._patience_s is not None and waited > self._patience_s:
                raise CounterflowError(
                    f"the broker at {self._bootstrap} does not answer while {doing}: {what}",
                    hint="`counterflow status` shows whether it is up; COUNTERFLOW_KAFKA_BOOTSTRAP names another",
                )
            if warned_at == began or time.monotonic() - warned_at > 10:
                warned_at = time.monotonic()
                log.warning("waiting for the broker", bootstrap=self._bootstrap, doing=doing, error=what)
            self._pause(0.25)

    def _pause(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise Stopped

    def _stop_in_time(self) -> None:
        if self._stop.is_set():
            now = time.monotonic()
            self._stopping_since = self._stopping_since or now
            if now - self._stopping_since > _STOP_WITHIN_S:
                raise Stopped

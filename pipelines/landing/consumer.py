"""The lander's loop: reads batches, commits their ranges as offset metadata, has them inserted, commits the offsets.

One thread reads and commits while a few others insert. A partition has at most one batch in flight, which preserves
order. A failed batch stays in memory and backs off; its partition is paused, the others continue.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import groupby
from typing import Any, cast

import httpx
import orjson
import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka import Message as KafkaMessage
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # its stub forgets to export one

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.base.kafka_trouble import Trouble
from counterflow.pipelines.landing import metrics
from counterflow.pipelines.landing.batch import Limits, Message
from counterflow.pipelines.landing.partition import Partition, Stored
from counterflow.pipelines.landing.refusals import WINDOW, Outcome, newest, share
from counterflow.pipelines.landing.writer import Abandoned, Landed, ShardAway, Writer

GROUP = "counterflow.lander"

_FETCH = 1_000  # messages per read, at most: frames of up to 1 MiB
_FETCH_S = 0.1
_IDLE_S = 0.5  # the wait for a first message, while there is nothing else to do
_HELD = 160_000_000  # bytes in memory at which reading stops
_SILENT_S = 10.0  # longest time between polls; after max.poll.interval.ms Kafka would reassign the partitions
_INSERTS = 2  # concurrently
_LONGEST_WAIT_S = 10.0
_KAFKA_TIMEOUT_S = 10.0
_STILL_S = 30.0

Key = tuple[str, int]

log = structlog.get_logger()


class Lander:
    """Lands every topic of `tables` until stopped.

    Parameters
    ----------
    kafka : how to reach Kafka.
    instance_id : `group.instance.id`; a newer process with the same id takes over, and the older one is fenced.
    writer : inserts the batches.
    tables : table by topic.
    limits : of a batch.
    most_refused : share of a topic's last rows, 0 to 1, above which no further batch of the topic is landed. So
        many rejects are not single bad rows, and messages are safer in Kafka until the cause is fixed.
    """

    def __init__(
        self,
        kafka: Kafka,
        instance_id: str,
        writer: Writer,
        tables: Mapping[str, str],
        limits: Limits,
        most_refused: float = 0.5,
    ) -> None:
        """Connect without waiting for a broker."""
        self._instance_id = instance_id
        self._writer = writer
        self._tables = tables
        self._limits = limits
        self._most_refused = most_refused
        self._outcomes: dict[str, tuple[Outcome, ...]] = {}
        self._stopped: dict[str, str] = {}
        """Topics with too many rejects, and the first error of the last batch."""
        self._trouble = Trouble(kafka)
        reporting: dict[str, Any] = {"log_level": 0, "error_cb": self._report}
        self._admin = AdminClient({**kafka.client, **reporting})
        self._connected = True
        self._consumer = Consumer({**_settings(kafka, instance_id), "error_cb": self._report, "stats_cb": self._look})
        self._partitions: dict[Key, Partition] = {}
        self._inserts: dict[Key, Future[Landed]] = {}
        self._read_at = time.monotonic()
        self._watched_at = 0.0
        self._asked_at = float("inf")  # not before this lander is in the group

    def run(self, stop: threading.Event, *, until_caught_up: bool = False) -> None:
        """Land until `stop` is set, or all that the topics held at the start has landed; then finish open inserts.

        Raises
        ------
        CounterflowError : Kafka does not answer at the start, refuses, or fenced this process in favour of one with the
            same id; or, at the end, a topic was stopped for too many rejects.
        """
        ends = self._ends() if until_caught_up else None
        self._consumer.subscribe(
            list(self._tables), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        with ThreadPoolExecutor(_INSERTS, thread_name_prefix="insert") as pool:
            try:
                while not stop.is_set() and (ends is None or not self._landed_up_to(ends)):
                    self._read()
                    self._collect()
                    due = self._due()
                    self._commit()
                    self._insert(pool, due)
                    self._pause()
                    self._watch()
                self._settle()
            except KafkaException as error:
                raise self._stopped_by(error.args[0]) from error
            finally:
                self._consumer.close()
        if self._stopped:
            raise CounterflowError(
                "landing stopped, too many messages were rejected: "
                + "; ".join(f"{topic} ({what})" for topic, what in sorted(self._stopped.items())),
                hint="fix the cause (`counterflow migrate`, or the producer) and restart the lander: it resumes behind "
                "the rejected messages, which `counterflow deadletter replay` publishes again",
            )

    def problems(self) -> list[str]:
        """Return the reasons why messages do not land now; called from another thread than `run`."""
        found = [
            f"landing of {topic} is paused, too many messages are rejected: {what}"
            for topic, what in [*self._stopped.items()]
        ]
        found += [
            f"{p.topic} partition {p.partition}: {p.attempts} inserts in a row failed, the last with: {p.problem}"
            for p in [*self._partitions.values()]
            if p.attempts
        ]
        if not self._connected:
            found.append("Kafka does not answer" + f": {self._trouble}" * bool(str(self._trouble)))
        if (still_s := time.monotonic() - self._read_at) > _STILL_S:
            found.append(f"nothing was read for {still_s:.0f} s")
        return found

    def _look(self, statistics: str) -> None:
        """Note whether a broker is connected (librdkafka, STATISTICS.md): a blocked commit cannot be interrupted."""
        brokers = orjson.loads(statistics)["brokers"].values()
        self._connected = any(broker["state"] == "UP" for broker in brokers)
        if self._connected:
            self._trouble.clear()

    def _report(self, error: KafkaError) -> None:
        """Log each cause of trouble once."""
        before = str(self._trouble)
        self._trouble(error)
        if error.fatal() or str(self._trouble) != before:
            log.warning("waiting for Kafka", error=str(self._trouble), fatal=error.fatal())

    def _read(self) -> None:
        """Read available messages; while memory is full, wait for an insert instead."""
        now = time.monotonic()
        if self._full() and now - self._read_at < _SILENT_S:
            wait(self._inserts.values(), _FETCH_S, FIRST_COMPLETED) if self._inserts else time.sleep(_FETCH_S)
            return
        self._read_at = now
        busy = any(partition.held for partition in self._partitions.values())
        read = [] if busy else self._consumer.consume(1, _IDLE_S)
        if busy or read:
            read += self._consumer.consume(_FETCH, _FETCH_S)
        # grouped by methods in C: a Python function would cost more than everything else done to a message here
        for number, of_number in groupby(read, KafkaMessage.partition):
            for topic, run in groupby(of_number, KafkaMessage.topic):
                self._take((topic or "", number or 0), list(run))

    def _take(self, key: Key, messages: list[KafkaMessage]) -> None:
        end = None
        if any(map(KafkaMessage.error, messages)):
            for message in messages:
                error = message.error()
                if error is None:
                    continue
                if error.code() == KafkaError._PARTITION_EOF:
                    end = message.offset()
                elif error.code() in _STOPS or error.fatal():
                    raise KafkaException(error)
                else:
                    log.warning("kafka", topic=message.topic(), error=error.str())
            messages = [message for message in messages if message.error() is None]
        if partition := self._partitions.get(key):
            partition.append(cast("list[Message]", messages), end)

    def _collect(self) -> None:
        """Collect the results of finished inserts."""
        for key, future in list(self._inserts.items()):
            if not future.done():
                continue
            del self._inserts[key]
            partition = self._partitions[key]
            try:
                self._count(partition, future.result())
                partition.done()
            except (ClickHouseError, httpx.TransportError, Abandoned, ShardAway) as error:
                self._postpone(partition, error)

    def _count(self, partition: Partition, landed: Landed) -> None:
        dataset = self._tables[partition.topic]
        refused = sum(refusal.rows for refusal in landed.refused)
        outcomes = self._outcomes.get(partition.topic, ())
        self._outcomes[partition.topic] = newest((Outcome(landed.rows + refused, refused), *outcomes))
        metrics.ROWS.labels(dataset).inc(landed.rows)
        metrics.BYTES.labels(dataset).inc(landed.size)
        metrics.BATCHES.labels(dataset).inc()
        metrics.LAST_SUCCESS.labels(dataset).set_to_current_time()
        for reason, count in Counter(refusal.reason for refusal in landed.refused).items():
            metrics.DEADLETTERS.labels(dataset, reason).inc(count)
            log.warning("refused", **_where(partition), reason=reason, messages=count)
        too_many = share(self._outcomes[partition.topic]) > self._most_refused
        if landed.refused and too_many and partition.topic not in self._stopped:
            first = landed.refused[0]
            self._stop(partition, f"{refused} of the last {landed.rows + refused}; {first.reason}: {first.error[:300]}")

    def _postpone(self, partition: Partition, error: Exception) -> None:
        code = error.code if isinstance(error, ClickHouseError) else type(error).__name__
        wait_s = min(_LONGEST_WAIT_S, 0.1 * 2**partition.attempts) * random.uniform(0.5, 1)  # noqa: S311
        partition.failed(time.monotonic() + wait_s, f"{code}: {error}"[:200])
        metrics.RETRIES.labels(self._tables[partition.topic], code).inc()
        log.warning(
            "insert failed, will be retried",
            **_where(partition),
            attempt=partition.attempts,
            wait_s=round(wait_s, 1),
            code=code,
            error=str(error)[:500],
        )

    def _stop(self, partition: Partition, found: str) -> None:
        """Pause landing of the topic: begin no batch of it any more."""
        self._stopped[partition.topic] = found
        metrics.STOPPED.labels(partition.topic).set(1)
        log.error(
            f"over {self._most_refused:.0%} of the last {WINDOW:,} rows rejected, landing of the topic is paused",
            **_where(partition),
            refused=found,
        )

    def _due(self) -> list[Partition]:
        """Choose the batches to insert next, round-robin by partition."""
        now = time.monotonic()
        due: list[Partition] = []
        for key, partition in self._partitions.items():
            if self._is_stopped(partition):
                continue
            if len(self._inserts) + len(due) < _INSERTS and key not in self._inserts:
                partition.cut(self._limits, now)
                if partition.batch and partition.retry_at <= now:
                    due.append(partition)
        return due

    def _is_stopped(self, partition: Partition) -> bool:
        """Return whether landing of the partition is paused; a batch that was begun is finished."""
        return partition.topic in self._stopped and not partition.begun

    def _commit(self) -> None:
        """Commit, for every partition, the landed offset and the range to insert next."""
        changed = {key: p.wanted for key, p in self._partitions.items() if p.wanted != p.stored}
        if not (changed and self._connected):
            return
        offsets = [TopicPartition(*key, wanted.offset, wanted.metadata) for key, wanted in changed.items()]
        try:
            answer = self._consumer.commit(offsets=offsets, asynchronous=False) or []
        except KafkaException as error:
            if error.args[0].fatal() or error.args[0].code() in _STOPS:
                raise
            log.warning("commit failed, will be retried", error=error.args[0].str())
            return
        for kept in answer:
            if kept.error:
                log.warning("commit failed, will be retried", topic=kept.topic, error=kept.error.str())
            elif partition := self._partitions.get((kept.topic, kept.partition)):
                partition.stored = changed[kept.topic, kept.partition]

    def _insert(self, pool: ThreadPoolExecutor, due: Iterable[Partition]) -> None:
        for partition in due:
            if partition.batch and partition.stored == partition.wanted:
                key = partition.topic, partition.partition
                self._inserts[key] = pool.submit(self._writer.land, partition.batch)
                self._partitions[key] = self._partitions.pop(key)

    def _pause(self) -> None:
        """Pause partitions in back-off, and all of them while memory is full.

        No others: pausing a partition discards the messages that were already fetched for it.
        """
        full = self._full() and time.monotonic() - self._read_at >= _SILENT_S
        for key, partition in self._partitions.items():
            pause = full or partition.attempts > 0 or self._is_stopped(partition)
            if pause != partition.paused:
                (self._consumer.pause if pause else self._consumer.resume)([TopicPartition(*key)])
                partition.paused = pause

    def _full(self) -> bool:
        held = (p.held for p in self._partitions.values() if not self._is_stopped(p))
        return sum(held) > _HELD

    def _watch(self) -> None:
        now = time.monotonic()
        if now - self._watched_at < 1:
            return
        self._watched_at = now
        for key, partition in self._partitions.items():
            _, end = self._consumer.get_watermark_offsets(TopicPartition(*key), cached=True) or (0, 0)
            metrics.LAG.labels(*key).set(max(0, end - partition.landed))

    def _settle(self) -> None:
        """Finish the inserts in flight, without retries or further halving, and commit what they landed."""
        self._writer.abandoned.set()
        wait(self._inserts.values())
        self._writer.abandoned.clear()
        self._collect()
        self._commit()

    def _assigned(self, consumer: Consumer, assigned: list[TopicPartition]) -> None:
        self._asked_at = 0.0
        if not assigned:
            return
        names = TopicCollection(sorted({partition.topic for partition in assigned}))
        ids = {name: str(found.result().topic_id) for name, found in self._admin.describe_topics(names).items()}
        begin = []
        for found in consumer.committed(assigned, timeout=_KAFKA_TIMEOUT_S):
            if found.error:
                raise KafkaException(found.error)
            key = found.topic, found.partition
            oldest, _ = consumer.get_watermark_offsets(TopicPartition(*key), timeout=_KAFKA_TIMEOUT_S) or (0, 0)
            stored = Stored(found.offset, found.metadata or "")
            partition = Partition(found.topic, ids[found.topic], found.partition, stored, max(oldest, found.offset))
            self._partitions[key] = partition
            begin.append(TopicPartition(*key, partition.landed))
            if partition.owed:
                log.info("a batch was in flight, landing it again", **_where(partition), owed=str(partition.owed))
            if 0 <= found.offset < oldest:
                metrics.EXPIRED.labels(self._tables[found.topic]).inc(oldest - found.offset)
                log.error("kafka deleted records before they were landed", **_where(partition), since=found.offset)
        consumer.incremental_assign(begin)
        log.info("assigned", partitions=len(begin))

    def _revoked(self, consumer: Consumer, revoked: list[TopicPartition]) -> None:
        self._settle()
        self._forget(revoked)

    def _lost(self, consumer: Consumer, lost: list[TopicPartition]) -> None:
        """Another consumer has the partitions: wait for the inserts to end, but commit nothing."""
        self._writer.abandoned.set()
        wait(self._inserts.values())
        self._writer.abandoned.clear()
        self._forget(lost)

    def _forget(self, partitions: Sequence[TopicPartition]) -> None:
        for gone in partitions:
            key = gone.topic, gone.partition
            self._inserts.pop(key, None)
            if self._partitions.pop(key, None):
                metrics.LAG.remove(*map(str, key))
        log.info("revoked", partitions=len(partitions))

    def _ends(self) -> dict[Key, int]:
        """Return the current end of every partition, including open transactions."""
        try:
            topics = self._admin.list_topics(timeout=_KAFKA_TIMEOUT_S).topics
            partitions = [
                TopicPartition(name, number)
                for name in self._tables
                if name in topics
                for number in topics[name].partitions
            ]
            latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
            answers = self._admin.list_offsets(dict.fromkeys(partitions, latest))
            return {(p.topic, p.partition): answer.result().offset for p, answer in answers.items()}
        except KafkaException as error:
            self._admin.poll(0)  # delivers the cause to `_report`
            raise self._stopped_by(error.args[0]) from error

    def _landed_up_to(self, ends: Mapping[Key, int]) -> bool:
        elsewhere = []
        for key, end in ends.items():
            partition = self._partitions.get(key)
            if not end or (key[0] in self._stopped and not (partition and partition.begun)):
                continue
            if partition is None:
                elsewhere.append(key)
            elif partition.landed < end or partition.stored != partition.wanted:
                return False
        return not elsewhere or self._landed_elsewhere({key: ends[key] for key in elsewhere})

    def _landed_elsewhere(self, ends: Mapping[Key, int]) -> bool:
        """Return whether the owners of other partitions have committed that these landed; ask once a second."""
        now = time.monotonic()
        if now - self._asked_at < 1:
            return False
        self._asked_at = now
        try:
            found = self._consumer.committed([TopicPartition(*key) for key in ends], timeout=_KAFKA_TIMEOUT_S)
        except KafkaException as error:
            log.warning("kafka", error=error.args[0].str())
            return False
        return all(not one.error and one.offset >= ends[one.topic, one.partition] for one in found)

    def _stopped_by(self, error: KafkaError) -> CounterflowError:
        if error.code() in (KafkaError.FENCED_INSTANCE_ID, KafkaError._FATAL):
            return CounterflowError(
                f"fenced: another lander started with the id {self._instance_id}: {error.str()}",
                hint="give each lander its own --instance-id",
            )
        why = str(self._trouble) or error.str()
        return CounterflowError(f"Kafka: {why}", hint="counterflow status")


_STOPS = {
    KafkaError._FATAL,
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError._AUTHENTICATION,
}


def _settings(kafka: Kafka, instance_id: str) -> dict[str, str | int | bool]:
    return {
        **kafka.client,
        "client.id": instance_id,
        "log_level": 0,  # `error_cb` reports errors
        "group.id": GROUP,
        "group.instance.id": instance_id,
        "session.timeout.ms": 10_000,
        "heartbeat.interval.ms": 1_000,
        "partition.assignment.strategy": "cooperative-sticky",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",  # the start is set on assignment; a reset would lose messages silently
        "topic.metadata.refresh.interval.ms": 10_000,
        "fetch.wait.max.ms": 1_000,
        "statistics.interval.ms": 2_000,
        "queued.max.messages.kbytes": 65_536,
    }


def _where(partition: Partition) -> dict[str, str | int]:
    covered = str(partition.batch.range) if partition.batch else ""
    return {
        "topic": partition.topic,
        "partition": partition.partition,
        "landed": partition.landed,
        "range": covered,
    }

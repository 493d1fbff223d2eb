"""The lander's loop: read, check, insert, commit.

One thread reads messages and collects them by topic while two others insert. Where an insert fails, its topic is
paused and what was read of it is dropped. After a back-off it is read again from the first offset that did not land.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from itertools import groupby
from typing import cast

import httpx
import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Message as KafkaMessage
from confluent_kafka.admin import AdminClient

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.pipelines.landing import metrics
from counterflow.pipelines.landing.batch import Limits, Message
from counterflow.pipelines.landing.broker import Broker
from counterflow.pipelines.landing.caught_up import CaughtUp
from counterflow.pipelines.landing.ends import Ends
from counterflow.pipelines.landing.lane import Key, Lane, Lanes
from counterflow.pipelines.landing.refresher import Refresher
from counterflow.pipelines.landing.refusals import WINDOW, Refusals
from counterflow.pipelines.landing.stillness import END_S, PROBLEM_S, Stillness
from counterflow.pipelines.landing.writer import Abandoned, LandedBatch, ShardAway, Writer
from counterflow.schemas.definition import datasets

_FETCH = 500  # messages per read, at most: frames of up to 1 MiB
_FETCH_S = 0.1
_IDLE_S = 0.5  # the wait for a first message, while there is nothing else to do
_HELD = 64_000_000  # bytes in memory at which reading stops
_INSERTS = 2  # concurrently
_LONGEST_WAIT_S = 10.0
_KAFKA_TIMEOUT_S = 10.0
_STILL_S = 30.0

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
    most_refused : share of a topic's last rows, 0 to 1, above which no further batch of the topic is landed.
    refresh : computes again what sums over landed rows. The lander that has partition 0 of the manifests calls it.
    """

    def __init__(
        self,
        kafka: Kafka,
        instance_id: str,
        writer: Writer,
        tables: Mapping[str, str],
        limits: Limits,
        most_refused: float = 0.5,
        refresh: Callable[[], object] | None = None,
    ) -> None:
        """Connect without waiting for a broker."""
        self._writer = writer
        self._tables = tables
        self._limits = limits
        self._refresh = refresh
        self._refresher = Refresher(refresh) if refresh else None
        self._refusals = Refusals(most_refused)
        self._broker = Broker(kafka, instance_id)
        self._admin = AdminClient(self._broker.client)
        self._consumer = Consumer({**self._broker.consumer, "on_commit": self._committed})
        self._in_group = False
        self._lanes = Lanes(by_partition=writer.sharded)
        self._read_at = time.monotonic()
        self._watched_at = 0.0
        self._stillness = Stillness()
        self._ends = Ends(self._admin)

    def run(self, stop: threading.Event, *, until_caught_up: bool = False) -> None:
        """Land until `stop` is set, or all that the topics held at the start has landed; then finish open inserts.

        Raises
        ------
        CounterflowError : Kafka does not answer at the start, refuses, or fenced this process in favour of one with the
            same id; messages wait and none lands, for no known cause; or, at the end, a topic was stopped for too many
            rejects.
        """
        caught_up = CaughtUp(self._consumer, self._ends_now()) if until_caught_up else None
        self._consumer.subscribe(
            list(self._tables), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )
        with ThreadPoolExecutor(_INSERTS + 1, thread_name_prefix="insert") as pool:
            try:
                while not stop.is_set() and not (caught_up and self._has(caught_up)):
                    self._read()
                    self._finish()
                    self._start(pool)
                    self._watch(pool)
                self._finish_open_inserts()
                if until_caught_up and self._refresh and self._refreshes:
                    self._refresh()
            except KafkaException as error:
                raise self._broker.failure(error.args[0]) from error
            finally:
                self._consumer.close()  # commits what was stored
        if self._refusals.paused:
            raise CounterflowError(
                "landing stopped, too many messages were rejected: "
                + "; ".join(f"{topic} ({what})" for topic, what in sorted(self._refusals.paused.items())),
                hint="fix the cause (`counterflow dev migrate`, or the producer) and restart the lander: it resumes "
                "behind the rejected messages, which `counterflow deadletter replay` publishes again",
            )

    def problems(self) -> list[str]:
        """Return the reasons why messages do not land now; called from another thread than `run`."""
        found = [
            f"landing of {topic} is paused, too many messages are rejected: {what}"
            for topic, what in [*self._refusals.paused.items()]
        ]
        found += [
            f"{lane.topic}: {lane.failures} inserts in a row failed, the last with: {lane.problem}"
            for lane in self._lanes
            if lane.failures
        ]
        if problem := self._broker.problem:
            found.append(problem)
        if (still_s := time.monotonic() - self._read_at) > _STILL_S:
            found.append(f"nothing was read for {still_s:.0f} s")
        if (still_s := self._stillness.longest_s) > PROBLEM_S:
            found.append(f"messages wait in Kafka, and none landed for {still_s:.0f} s")
        return found

    def _committed(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        if error and error.code() != KafkaError._NO_OFFSET:
            log.warning("commit failed, the next one covers it", error=error.str())

    def _read(self) -> None:
        """Read available messages.

        While memory is full, wait for an insert and read a single one: Kafka gives the partitions of a member that
        does not poll to another.
        """
        self._read_at = time.monotonic()
        if self._lanes.size > _HELD:
            wait(self._lanes.inserts, 1.0, FIRST_COMPLETED)
            self._collect(self._consumer.consume(1, 0))
        elif any(lane.messages or lane.insert for lane in self._lanes):
            self._collect(self._consumer.consume(_FETCH, _FETCH_S))
        elif first := self._consumer.consume(1, _IDLE_S):
            self._collect(first)  # before the next call, in which partitions may be revoked
            self._collect(self._consumer.consume(_FETCH, _FETCH_S))

    def _collect(self, read: list[KafkaMessage]) -> None:
        # grouped by methods in C: a Python function would cost more than everything else done to a message here
        for number, of_number in groupby(read, KafkaMessage.partition):
            for topic, run in groupby(of_number, KafkaMessage.topic):
                self._queue((topic or "", number or 0), list(run))

    def _queue(self, key: Key, messages: list[KafkaMessage]) -> None:
        """Add messages of a partition to their lane; while that is paused they are dropped, and read again later."""
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
        if key in self._lanes.landed and not (lane := self._lanes.lane(key)).paused:
            lane.add(key, cast("list[Message]", messages), end)

    def _finish(self) -> None:
        """Collect the results of finished inserts, and commit the offsets of what landed."""
        landed = False
        for lane in self._lanes:
            if not (lane.insert and lane.insert.done()):
                continue
            insert, lane.insert, lane.inserting_size = lane.insert, None, 0
            try:
                self._count(lane, insert.result())
            except (ClickHouseError, httpx.TransportError, Abandoned, ShardAway) as error:
                self._postpone(lane, error)
            else:
                lane.failures = 0
                self._advance(lane.inserting)
                landed = True
        if landed:
            self._consumer.commit(asynchronous=True)

    def _advance(self, offsets: Mapping[Key, int]) -> None:
        if moved := self._lanes.advance(offsets):
            self._consumer.store_offsets(offsets=_at(moved))

    def _count(self, lane: Lane, landed: LandedBatch) -> None:
        dataset = self._tables[lane.topic]
        if self._refresher:
            self._refresher.landed = True
        metrics.ROWS.labels(dataset).inc(landed.rows)
        metrics.BYTES.labels(dataset).inc(landed.size)
        metrics.BATCHES.labels(dataset).inc()
        metrics.LAST_SUCCESS.labels(dataset).set_to_current_time()
        for reason, count in Counter(refusal.reason for refusal in landed.refused).items():
            metrics.DEADLETTERS.labels(dataset, reason).inc(count)
            log.warning("refused", topic=lane.topic, reason=reason, messages=count)
        if self._refusals.count(lane.topic, landed):
            self._pause_topic(lane.topic)

    def _postpone(self, lane: Lane, error: Exception) -> None:
        """Pause a lane until its next try, and forget what was read of it: it is read again."""
        code = error.code if isinstance(error, ClickHouseError) else type(error).__name__
        wait_s = min(_LONGEST_WAIT_S, 0.1 * 2**lane.failures) * random.uniform(0.5, 1)  # noqa: S311
        lane.failures += 1
        lane.problem = f"{code}: {error}"[:200]
        lane.retry_at = time.monotonic() + wait_s
        self._pause(lane)
        metrics.RETRIES.labels(self._tables[lane.topic], code).inc()
        log.warning(
            "insert failed, will be retried",
            topic=lane.topic,
            attempt=lane.failures,
            wait_s=round(wait_s, 1),
            code=code,
            error=str(error)[:500],
        )

    def _pause_topic(self, topic: str) -> None:
        """Begin no batch of the topic any more."""
        for lane in self._lanes:
            if lane.topic == topic:
                self._pause(lane)
        metrics.STOPPED.labels(topic).set(1)
        log.error(
            f"over {self._refusals.most:.0%} of the last {WINDOW:,} rows rejected, landing of the topic is paused",
            topic=topic,
            refused=self._refusals.paused[topic],
        )

    def _pause(self, lane: Lane) -> None:
        lane.paused = True
        lane.forget()
        self._consumer.pause(_at(self._lanes.partitions(lane)))

    def _resume(self, lane: Lane) -> None:
        """Read on behind what landed."""
        partitions = _at(self._lanes.partitions(lane))
        try:
            for partition in partitions:
                self._consumer.seek(partition)
            self._consumer.resume(partitions)
        except KafkaException as error:
            log.warning("not read again yet", topic=lane.topic, error=error.args[0].str())
            lane.retry_at = time.monotonic() + 1
        else:
            lane.paused = False

    def _start(self, pool: ThreadPoolExecutor) -> None:
        """Insert what is due, of the lane that waited longest first; read again what failed a while ago."""
        now = time.monotonic()
        for lane in sorted(self._lanes, key=lambda lane: lane.begun_at):
            if lane.insert or lane.topic in self._refusals.paused:
                continue
            if lane.paused:
                if lane.retry_at <= now:
                    self._resume(lane)
            elif lane.messages:
                whole = len(lane.messages) >= self._limits.messages or lane.size >= self._limits.size
                due = whole or self._lanes.size > _HELD or now - lane.begun_at >= self._limits.pause_s
                if due and len(self._lanes.inserts) < _INSERTS:
                    lane.begun_at = now
                    lane.insert = pool.submit(self._writer.land, lane.topic, lane.next_batch(self._limits))
            elif lane.read:  # the end of partitions, behind markers of transactions
                self._advance(lane.read)
                lane.forget()

    def _watch(self, pool: ThreadPoolExecutor) -> None:
        """Measure lag, end where landing stands still, refresh what sums over rows; each second."""
        now = time.monotonic()
        if now - self._watched_at < 1:
            return
        self._watched_at = now
        landed = self._lanes.landed
        ends = self._ends.known(landed)
        lag = {key: ends[key] - offset for key, offset in landed.items() if key in ends}
        for key, found in lag.items():
            metrics.LAG.labels(*key).set(max(0, found))
        self._stillness.look({key: landed[key] for key, found in lag.items() if found > 0 and not self._explained(key)})
        if (still_s := self._stillness.longest_s) > END_S:
            raise CounterflowError(
                f"messages wait in Kafka, and none landed for {still_s:.0f} s, though Kafka and ClickHouse answer",
                hint="a new lander begins with a new connection; its supervisor starts it",
            )
        if self._refresher and self._refreshes:
            self._refresher.start(pool)

    def _explained(self, key: Key) -> bool:
        """Return whether it is known why a partition waits, so that a new process would wait as well.

        Kafka or ClickHouse does not answer, or landing of the topic is paused for too many rejects.
        """
        lane = self._lanes.lane(key)
        waits_for_clickhouse = bool(lane.insert or lane.failures) or len(self._lanes.inserts) >= _INSERTS
        return not self._broker.answers or waits_for_clickhouse or lane.topic in self._refusals.paused

    @property
    def _refreshes(self) -> bool:
        """Whether this lander is the one of its group that refreshes what sums over rows."""
        return (datasets()["manifest"].topic, 0) in self._lanes.landed

    def _finish_open_inserts(self) -> None:
        """Finish the inserts in flight, without retries or further halving."""
        self._writer.abandoned.set()
        wait(self._lanes.inserts)
        self._writer.abandoned.clear()
        self._finish()

    def _assigned(self, consumer: Consumer, assigned: list[TopicPartition]) -> None:
        """Set offset and pause of each partition: librdkafka keeps a pause across assignments, and may have offsets."""
        self._in_group = True
        if not assigned:
            return
        begin = []
        for found in consumer.committed(assigned, timeout=_KAFKA_TIMEOUT_S):
            if found.error:
                raise KafkaException(found.error)
            key = found.topic, found.partition
            oldest, _ = consumer.get_watermark_offsets(TopicPartition(*key), timeout=_KAFKA_TIMEOUT_S) or (0, 0)
            self._lanes.landed[key] = max(oldest, found.offset)
            begin.append(TopicPartition(*key, self._lanes.landed[key]))
            if 0 <= found.offset < oldest:
                metrics.EXPIRED.labels(self._tables[found.topic]).inc(oldest - found.offset)
                log.error(
                    "kafka deleted records before they were landed",
                    topic=found.topic,
                    partition=found.partition,
                    since=found.offset,
                    landed=oldest,
                )
        consumer.incremental_assign(begin)
        consumer.store_offsets(offsets=begin)  # committed where nothing was: else nobody would miss what Kafka deletes
        consumer.resume(begin)
        if waiting := [at for at in begin if self._lanes.lane((at.topic, at.partition)).paused]:
            consumer.pause(waiting)
        log.info("assigned", partitions=len(begin))

    def _revoked(self, consumer: Consumer, revoked: list[TopicPartition]) -> None:
        self._finish_open_inserts()
        self._forget(revoked)

    def _lost(self, consumer: Consumer, lost: list[TopicPartition]) -> None:
        """Another consumer has the partitions, and lands again what is in flight."""
        self._forget(lost)

    def _forget(self, partitions: Iterable[TopicPartition]) -> None:
        """Drop what was read of partitions that are no longer assigned."""
        gone = {(partition.topic, partition.partition) for partition in partitions}
        for key in gone & self._lanes.landed.keys():
            metrics.LAG.remove(*map(str, key))
        self._lanes.give_up(gone)
        log.info("revoked", partitions=len(gone))

    def _ends_now(self) -> dict[Key, int]:
        try:
            return self._ends.now(self._tables)
        except KafkaException as error:
            self._admin.poll(0)  # delivers the cause
            raise self._broker.failure(error.args[0]) from error

    def _has(self, caught_up: CaughtUp) -> bool:
        return self._in_group and caught_up.reached(self._lanes.landed, self._refusals.paused)


def _at(offsets: Mapping[Key, int]) -> list[TopicPartition]:
    return [TopicPartition(*key, offset) for key, offset in offsets.items()]


_STOPS = {
    KafkaError._FATAL,
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError._AUTHENTICATION,
}

"""The lander's loop: consume, check, insert, commit.

Messages are read ahead while those before them are inserted. Where an insert fails, its topic is paused and what was
read of it is dropped. After a back-off it is read again from the first offset that did not land.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import NamedTuple

import httpx
import structlog
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.pipelines.landing import metrics, progress
from counterflow.pipelines.landing.broker import Broker
from counterflow.pipelines.landing.progress import Stillness
from counterflow.pipelines.landing.reader import Key, Limits, TopicReader
from counterflow.pipelines.landing.rollups import keep_fresh
from counterflow.pipelines.landing.writer import Abandoned, LandedBatch, Writer
from counterflow.schemas.definition import datasets

_FETCH = 500  # messages per read, at most: frames of up to 1 MiB
_FETCH_S = 0.1
_IDLE_S = 0.5  # the wait for a first message
_HELD = 32_000_000  # bytes at which no more is read ahead; as much is inserted meanwhile
_INSERTS = 2  # concurrently
_LONGEST_WAIT_S = 10.0
_STILL_S = 30.0
_ENDS_S = 5.0  # between two requests for the ends of partitions
_REFRESH_S = 60.0  # for which the end of the lander may wait

_WITHOUT_LEADER = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)
"""Refusals of a partition that was created, or whose broker changed, a moment ago."""

log = structlog.get_logger()


@dataclass
class _Failure:
    """Inserts of a topic that failed in a row: the problem of the last, and when the topic is read again."""

    count: int
    problem: str
    retry_at: float


class _Insert(NamedTuple):
    """A batch of a topic that is being inserted, and the offsets behind it."""

    topic: str
    ends: dict[Key, int]
    done: Future[LandedBatch]


class Lander:
    """Lands every topic of `tables` until stopped.

    Parameters
    ----------
    kafka : how to reach Kafka.
    instance_id : `group.instance.id`; a newer process with the same id takes over, and the older one is fenced.
    writer : inserts the batches.
    tables : table by topic.
    limits : of a batch.
    refresh : computes again what sums over landed rows (`rollups.refresh`). The lander that has partition 0 of the
        manifests calls it.
    """

    def __init__(
        self,
        kafka: Kafka,
        instance_id: str,
        writer: Writer,
        tables: Mapping[str, str],
        limits: Limits,
        refresh: Callable[..., object] | None = None,
    ) -> None:
        """Connect without waiting for a broker."""
        self._writer = writer
        self._tables = tables
        self._limits = limits
        self._refresh = refresh
        self._broker = Broker(kafka, instance_id)
        self._admin = AdminClient(self._broker.client)
        self._reader = TopicReader(self._broker, tables)
        self._failures: dict[str, _Failure] = {}
        self._begun_at = self._watched_at = self._ends_at = float("-inf")
        self._ends: dict[Key, int] = {}
        self._stillness = Stillness()

    def run(self, stop: threading.Event, *, until_caught_up: bool = False) -> None:
        """Land until `stop` is set, or all that the topics held at the start has landed; then finish open inserts.

        Raises
        ------
        CounterflowError : Kafka does not answer at the start, refuses, or fenced this process in favour of one with the
            same id; or messages wait and none lands, for no known cause.
        """
        ends = self._ends_now() if until_caught_up else None
        self._reader.join()
        with ThreadPoolExecutor(_INSERTS, thread_name_prefix="insert") as pool, keep_fresh(self._refresh_mine):
            try:
                while not stop.is_set() and not (ends is not None and self._caught_up(ends)):
                    self._consume()
                    self._insert(pool)
                    self._read_again()
                    self._watch()
            except KafkaException as error:
                raise self._broker.failure(error.args[0]) from error
            finally:
                mine = self._refreshes
                self._reader.leave()
        if until_caught_up and self._refresh and mine:
            self._refresh()

    def problems(self) -> list[str]:
        """Return the reasons why messages do not land now; called from another thread than `run`."""
        found = [
            f"{topic}: {failure.count} inserts in a row failed, the last with: {failure.problem}"
            for topic, failure in [*self._failures.items()]
        ]
        if problem := self._broker.problem:
            found.append(problem)
        if (still_s := time.monotonic() - self._reader.read_at) > _STILL_S:
            found.append(f"nothing was read for {still_s:.0f} s")
        if (still_s := self._stillness.longest_s) > progress.PROBLEM_S:
            found.append(f"messages wait in Kafka, and none landed for {still_s} s")
        return found

    def _consume(self) -> None:
        """Read until a batch is due: after a quiet moment at once, else a while after the one before, or when full."""
        due_at = self._begun_at + self._limits.pause_s
        if not self._reader.ahead.messages:
            self._reader.read(1, _IDLE_S)
        while self._reader.ahead.messages and self._reader.ahead.size < _HELD:
            read = self._reader.read(_FETCH, _FETCH_S)
            if read < _FETCH and time.monotonic() >= due_at:
                break

    def _insert(self, pool: ThreadPoolExecutor) -> None:
        """Insert what was read, a few batches at a time, and commit the offsets behind each before the next begins."""
        read = self._reader.take()
        if read.messages:
            self._begun_at = time.monotonic()
        inserts: deque[_Insert] = deque()
        for topic, batch, ends in read.batches(self._limits):
            if len(inserts) == _INSERTS:
                self._finish(inserts.popleft())
            if not batch:
                self._reader.advance(ends)
            elif topic not in self._reader.paused:
                inserts.append(_Insert(topic, ends, pool.submit(self._writer.land, topic, batch)))
        while inserts:
            self._finish(inserts.popleft())

    def _finish(self, insert: _Insert) -> None:
        self._read_ahead(insert.done)
        if insert.topic in self._reader.paused:  # a batch before it failed, and is read again with all that follow
            return
        try:
            landed = insert.done.result()
        except (ClickHouseError, httpx.TransportError, Abandoned) as error:
            self._postpone(insert.topic, error)
        else:
            self._failures.pop(insert.topic, None)
            self._reader.advance(insert.ends)
            self._count(insert.topic, landed)

    def _read_ahead(self, insert: Future[LandedBatch]) -> None:
        """Read until an insert is done."""
        while not insert.done():
            if self._reader.ahead.size < _HELD:
                self._reader.read(_FETCH, _FETCH_S)
            else:
                wait([insert], 1.0)
                self._reader.read(1, 0)  # Kafka gives the partitions of a member that does not poll to another

    def _count(self, topic: str, landed: LandedBatch) -> None:
        dataset = self._tables[topic]
        metrics.ROWS.labels(dataset).inc(landed.rows)
        metrics.BYTES.labels(dataset).inc(landed.size)
        metrics.BATCHES.labels(dataset).inc()
        metrics.LAST_SUCCESS.labels(dataset).set_to_current_time()
        for reason, count in Counter(refusal.reason for refusal in landed.refused).items():
            metrics.DEADLETTERS.labels(dataset, reason).inc(count)
            log.warning("refused", topic=topic, reason=reason, messages=count)

    def _postpone(self, topic: str, error: Exception) -> None:
        """Pause a topic until its next try, and forget what was read of it: it is read again."""
        code = str(error.code) if isinstance(error, ClickHouseError) else type(error).__name__
        count = self._failures[topic].count if topic in self._failures else 0
        wait_s = min(_LONGEST_WAIT_S, 0.1 * 2**count) * random.uniform(0.5, 1)  # noqa: S311
        self._failures[topic] = _Failure(count + 1, f"{code}: {error}"[:200], time.monotonic() + wait_s)
        self._reader.pause(topic)
        metrics.RETRIES.labels(self._tables[topic], code).inc()
        log.warning(
            "insert failed, will be retried",
            topic=topic,
            attempt=count + 1,
            wait_s=round(wait_s, 1),
            code=code,
            error=str(error)[:500],
        )

    def _read_again(self) -> None:
        """Read on behind what landed, where an insert failed a while ago."""
        for topic in self._reader.paused.copy():
            failure = self._failures[topic]
            if failure.retry_at > time.monotonic():
                continue
            try:
                self._reader.resume(topic)
            except KafkaException as error:
                log.warning("not read again yet", topic=topic, error=error.args[0].str())
                failure.retry_at = time.monotonic() + 1
            else:
                if all(name != topic for name, _ in self._reader.landed):  # another lander has its partitions
                    del self._failures[topic]

    def _watch(self) -> None:
        """Measure lag, and end where landing stands still; at most each second."""
        now = time.monotonic()
        if now - self._watched_at < 1:
            return
        self._watched_at = now
        if self._broker.answers and now - self._ends_at >= _ENDS_S:
            self._ends_at = now
            try:
                self._ends = progress.ends(self._admin, self._reader.landed)
            except KafkaException as error:
                log.warning("kafka", error=error.args[0].str())
        lag = {key: self._ends[key] - offset for key, offset in self._reader.landed.items() if key in self._ends}
        for key, found in lag.items():
            metrics.LAG.labels(*key).set(max(0, found))
        # of a failing topic, or while Kafka does not answer, it is known why nothing lands
        unexplained = [key for key in lag if self._broker.answers and key[0] not in self._failures]
        self._stillness.look({key: self._reader.landed[key] for key in unexplained if lag[key] > 0})
        if (still_s := self._stillness.longest_s) > progress.END_S:
            raise CounterflowError(
                f"messages wait in Kafka, and none landed for {still_s} s, though Kafka and ClickHouse answer",
                hint="a new lander begins with a new connection; its supervisor starts it",
            )

    @property
    def _refreshes(self) -> bool:
        """Whether this lander is the one of its group that refreshes what sums over rows."""
        return (datasets()["manifest"].topic, 0) in self._reader.landed

    def _refresh_mine(self) -> None:
        if self._refresh and self._refreshes:
            self._refresh(seconds=_REFRESH_S)

    def _ends_now(self) -> dict[Key, int]:
        give_up = time.monotonic() + progress.PROBLEM_S
        while True:
            try:
                every = progress.partitions(self._admin, self._tables)
                return progress.ends(self._admin, every, committed=False)
            except KafkaException as error:
                if error.args[0].code() in _WITHOUT_LEADER and time.monotonic() < give_up:
                    time.sleep(0.5)
                    continue
                self._admin.poll(0)  # delivers the cause
                raise self._broker.failure(error.args[0]) from error

    def _caught_up(self, ends: Mapping[Key, int]) -> bool:
        """Return whether the landers have committed everything up to these ends."""
        wanted = {key: end for key, end in ends.items() if end}
        if self._reader.ahead.messages or not wanted:
            return not wanted
        try:
            found = self._reader.committed(wanted)
        except KafkaException as error:
            log.warning("kafka", error=error.args[0].str())
            return False
        return all(found.get(key, -1) >= end for key, end in wanted.items())

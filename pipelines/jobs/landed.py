"""Publishes landed rows again, as the input of a rerun.

Of two rows of one key, a job takes the first to arrive, and a table keeps the one that was read last; and tables retain
their rows for longer than topics do. Results that are made of landed rows are those that the audit recomputes. A rerun
reads configuration from its topic, which retains it for ever (docs/decisions/0004-config-topic.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from counterflow.base.clickhouse import ClickHouse, Settings, lines
from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka
from counterflow.base.kafka_trouble import FENCED
from counterflow.base.spans import by_span, literal
from counterflow.pipelines.jobs.render import BESIDE, GRID, LONGEST, OF_ALL_SYSTEMS, Period
from counterflow.pipelines.jobs.written import listed
from counterflow.schemas.definition import RERUNS, Dataset

TRANSACTIONAL_ID = "counterflow.reruns"
_TIMEOUT_S = 30.0
_MOST_ROWS = 1_000
"""Rows of a frame, at most: a frame is then a tenth of what the topic accepts."""
_SETTINGS: Settings = {
    "default_format": "JSONEachRow",
    "date_time_output_format": "iso",
    "output_format_json_quote_64bit_integers": 0,
    "max_execution_time": 60,
}

Options = Mapping[str, str]
"""Options of Flink's connector to Kafka that bound what it reads."""


class Tables(NamedTuple):
    """The ClickHouse that holds landed rows, and the Kafka to which they are published for Flink to read."""

    client: ClickHouse
    kafka: Kafka

    def publish(self, wanted: Iterable[tuple[Dataset, Collection[str]]], period: Period) -> dict[str, Options]:
        """Publish these columns of the rows that the results of a period need, among them those beside its intervals.

        Returns, by dataset, the options with which Flink reads them.

        Raises
        ------
        CounterflowError : the broker does not answer, or another rerun has begun meanwhile.
        ClickHouseError, httpx.TransportError : the server refuses, or does not answer.
        """
        wanted = list(wanted)
        try:
            topic = _Topic(self.kafka)
            begun = _begun(self.client, [dataset for dataset, _ in wanted], period)
            return {
                dataset.dataset: _published(self.client, topic, dataset, columns, period, begun)
                for dataset, columns in wanted
            }
        except KafkaException as error:
            if error.args[0].code() in FENCED:
                why = "another rerun has begun, and this one ends"
                raise CounterflowError(why, hint="repeat this one when the other has ended") from None
            raise CounterflowError(f"Kafka at {self.kafka.bootstrap}: {error.args[0].str()}") from None


class _Topic:
    """The topic of reruns, written in transactions; each process with its transactional id fences the one before."""

    def __init__(self, kafka: Kafka) -> None:
        """Fence the process before; raises the errors of `Tables.publish`."""
        self.producer = Producer(
            {
                **kafka.client,
                "transactional.id": TRANSACTIONAL_ID,
                "transaction.timeout.ms": 300_000,  # a transaction is open for as long as its query takes
                "message.max.bytes": 4_194_304,
                "compression.type": "lz4",
                "linger.ms": 20,
                "log_level": 0,
            }
        )
        found = self.producer.list_topics(RERUNS, timeout=_TIMEOUT_S).topics[RERUNS]
        if found.error is not None:
            raise CounterflowError(
                f"the broker at {kafka.bootstrap} lacks the topic {RERUNS}",
                hint="`counterflow up` creates it; on a cluster of your own, `counterflow topics create`",
            )
        self.partitions = len(found.partitions)
        self.producer.init_transactions(_TIMEOUT_S)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all that is published within, or none of it."""
        self.producer.begin_transaction()
        try:
            yield
            self.producer.commit_transaction(_TIMEOUT_S)
        except KafkaException:  # the broker aborts what its producer cannot
            raise
        except BaseException:
            self.producer.abort_transaction(_TIMEOUT_S)
            raise


@dataclass
class _Written:
    """The offsets between which the messages of a dataset are, by partition."""

    begins: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        """Note the offset of a message once the broker has it; those of a partition arrive in their order."""
        place, offset = message.partition(), message.offset()
        if error is None and place is not None and offset is not None:
            self.begins.setdefault(place, offset)
            self.ends[place] = offset + 1

    def options(self, partitions: int) -> Options:
        """Return the options with which Flink reads these messages, and no others."""
        places = range(partitions)
        return {
            "topic": RERUNS,
            "scan.startup.mode": "specific-offsets",
            "scan.startup.specific-offsets": listed({place: self.begins.get(place, 0) for place in places}),
            "scan.bounded.mode": "specific-offsets",
            "scan.bounded.specific-offsets": listed({place: self.ends.get(place, 0) for place in places}),
        }


def _published(
    client: ClickHouse, topic: _Topic, dataset: Dataset, columns: Collection[str], period: Period, begun: datetime
) -> Options:
    written, turns = _Written(), count()
    statement = select(dataset, columns)
    needed = _parameters(period) | {"param_begun": literal(begun)}
    if dataset.dataset in OF_ALL_SYSTEMS:
        needed["param_systems"] = []

    def publish(begin: datetime, end: datetime) -> None:
        span = {**_SETTINGS, **needed, "param_since": literal(begin), "param_until": literal(end)}
        with topic.transaction(), client.stream(statement, span) as (_, pieces):
            for frame in lines(pieces):
                partition = next(turns) % topic.partitions
                _produce(topic.producer, frame, partition, written)

    for _ in by_span(*_recorded(client, dataset, needed, period), publish):
        pass
    return written.options(topic.partitions)


def _produce(producer: Producer, frame: bytes, partition: int, written: _Written) -> None:
    while True:
        try:
            producer.produce(RERUNS, frame, partition=partition, on_delivery=written)
        except BufferError:
            producer.poll(0.1)
        else:
            producer.poll(0)
            return


def _recorded(client: ClickHouse, dataset: Dataset, needed: Settings, period: Period) -> tuple[datetime, datetime]:
    """Return the time that has needed rows."""
    [found] = client.rows(
        f"SELECT count() AS rows, toUnixTimestamp64Milli(min(ts)) AS first, toUnixTimestamp64Milli(max(ts)) AS last "
        f"FROM counterflow.{dataset.dataset} WHERE {_needed(dataset)}",
        needed,
    )
    if not found["rows"]:
        return period.end, period.end
    first, last = (datetime.fromtimestamp(found[name] / 1000, UTC) for name in ("first", "last"))
    return first, last + timedelta(milliseconds=1)


def _begun(client: ClickHouse, datasets: Iterable[Dataset], period: Period) -> datetime:
    """Return when the first interval of a period began."""
    begins = [
        f"SELECT minOrNull({_begin_ms(dataset)}) AS begin_ms FROM counterflow.{dataset.dataset} WHERE {_WITHIN}"
        for dataset in datasets
    ]
    found = client.rows(" UNION ALL ".join(begins), _parameters(period)) if begins else []
    known = [datetime.fromtimestamp(row["begin_ms"] / 1000, UTC) for row in found if row["begin_ms"] is not None]
    return min(known, default=period.begin)


def _parameters(period: Period) -> dict[str, Any]:
    systems = [] if period.system is None else [period.system]
    return {"param_from": literal(period.begin), "param_to": literal(period.end), "param_systems": systems}


def _begin_ms(dataset: Dataset) -> str:
    """Return the begin of a row's interval, the last of `LONGEST`."""
    ts_ms, length_ms = "toUnixTimestamp64Milli(ts)", "1000 * ifNull(interval_s, 0)"
    if "prev_ts" in dataset.all_columns:
        length_ms = f"greatest({length_ms}, toFloat64({ts_ms} - toUnixTimestamp64Milli(ifNull(prev_ts, ts))))"
    return f"{ts_ms} - least({length_ms}, {LONGEST.total_seconds() * 1000})"


def _needed(dataset: Dataset) -> str:
    """Return the predicate of the rows that a rerun reads: of its period, and those beside intervals of its period."""
    holds = BESIDE.get(dataset.dataset)
    if holds is None:
        return _WITHIN
    before, after = (f"INTERVAL {one // timedelta(seconds=1)} SECOND" for one in (holds + GRID, LONGEST))
    meets = f"{_begin_ms(dataset)} < toUnixTimestamp64Milli({_TO} + INTERVAL {GRID // timedelta(seconds=1)} SECOND)"
    return f"ts >= {{begun:DateTime64(3, 'UTC')}} - {before} AND ts < {_TO} + {after} AND {meets} AND {_OF}"


_TO = "{to:DateTime64(3, 'UTC')}"
_OF = "(empty({systems:Array(String)}) OR has({systems:Array(String)}, system))"
_WITHIN = f"ts >= {{from:DateTime64(3, 'UTC')}} AND ts < {_TO} AND {_OF}"
_SPAN = "ts >= {since:DateTime64(3, 'UTC')} AND ts < {until:DateTime64(3, 'UTC')}"


def select(dataset: Dataset, columns: Collection[str]) -> str:
    """Return the SELECT of these columns of a dataset: a counter's as frames (`schemas.frame`), a result's as rows."""
    names = [f"`{name}`" for name in dataset.all_columns if name in columns]
    rows = f"counterflow.{dataset.dataset} FINAL WHERE {_SPAN} AND {_needed(dataset)}"
    if dataset.role == "result":
        return f"SELECT {', '.join(names)} FROM {rows}"
    own = [name for name in names if name.strip("`") in dataset.columns]
    shared = ", ".join(name for name in names if name not in own)
    # `groupArray` leaves nulls out, but not tuples of nulls
    arrays = ", ".join(f"arrayMap(one -> tupleElement(one, {at}), piece) AS {name}" for at, name in enumerate(own, 1))
    pieces = f"arrayMap(at -> arraySlice(whole, at, {_MOST_ROWS}), range(1, length(whole) + 1, {_MOST_ROWS}))"
    return (
        f"SELECT {shared}, toInt32(length(piece)) AS frame_rows, {arrays} FROM ("
        f"SELECT {shared}, arrayJoin({pieces}) AS piece FROM ("
        f"SELECT {shared}, groupArray(tuple({', '.join(own)})) AS whole FROM {rows} GROUP BY {shared}))"
    )

"""Flink jobs on topics of their own, and what a recomputation in plain Python needs to compare with them."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count, groupby
from operator import itemgetter
from typing import Any

import orjson
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from counterflow.pipelines import jobs, submission
from counterflow.pipelines.rules import Rule
from counterflow.schemas import topics
from counterflow.schemas.definition import datasets
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.frames import frames
from tests.support.json_schema import validator
from tests.support.waiting import PATIENCE_S

Record = dict[str, Any]
Results = dict[str, dict[tuple[str, ...], Record]]

_VERSIONS = count(100)
"""Of topics: each line has its own on the broker that the tests of one process share."""


class Line:
    """Jobs on topics of their own: the published rows, and the results.

    `recompute` returns every expected result, by dataset and key, from all published rows.
    """

    def __init__(
        self,
        flink: StackSettings,
        recompute: Callable[[Mapping[str, Sequence[Record]]], Results],
        names: Sequence[str],
        *,
        parallelism: int = 1,
    ) -> None:
        version = next(_VERSIONS)
        definitions = {name: d.model_copy(update={"version": version}) for name, d in datasets().items()}
        chosen = jobs.chosen(names)
        used = {name for job in chosen for name in (*job.reads, *job.writes)}
        topic = {d.topic for name, d in datasets().items() if name in used}
        create_topics(
            flink,
            [
                t._replace(partitions=min(parallelism, t.partitions), name=f"{t.name[:-2]}v{version}")
                for t in topics()
                if t.name in topic
            ],
        )
        self.cluster = replace(cluster(flink), datasets=definitions)
        self.jobs = [
            job.model_copy(update={"name": f"{job.name}-{version}", "parallelism": parallelism}) for job in chosen
        ]
        self.published: dict[str, list[Record]] = defaultdict(list)
        self._recompute = recompute
        self._written: dict[str, dict[tuple[str, ...], list[Record]]] = defaultdict(lambda: defaultdict(list))
        self._read: dict[tuple[str, int], int] = defaultdict(int)
        """The offset up to which a partition of results was read."""
        self._producer = Producer(
            {**flink.kafka("admin").client, "transactional.id": f"test-{version}", "log_level": 0}
        )
        self._producer.init_transactions(PATIENCE_S)

    def submit(self, changed: Sequence[jobs.Job] | None = None) -> list[submission.Submission]:
        """Submit the line's jobs, or changed versions of them."""
        return submission.submit(self.cluster, self.jobs if changed is None else changed)

    def publish(self, rows: Sequence[tuple[str, Record]], *, commit: bool = True) -> None:
        """Publish rows in one transaction; without `commit` it is aborted, and its rows count for nothing."""
        self._producer.begin_transaction()
        for dataset, together in groupby(rows, itemgetter(0)):
            records = [record for _, record in together]
            topic = self.cluster.datasets[dataset].topic
            if self.cluster.datasets[dataset].role == "counter":
                messages = frames(dataset, records)
            else:
                messages = ({n: value for n, value in record.items() if value is not None} for record in records)
            for message in messages:
                self._producer.produce(topic, orjson.dumps(message), key=message["system"])
            if commit:
                self.published[dataset] += records
        if commit:
            self._producer.commit_transaction(PATIENCE_S)
        else:
            self._producer.flush(30)
            self._producer.abort_transaction(PATIENCE_S)

    def publish_malformed(self, dataset: str, messages: Sequence[Record]) -> None:
        """Publish malformed messages of a dataset, which no job may count."""
        self._producer.begin_transaction()
        for message in messages:
            self._producer.produce(self.cluster.datasets[dataset].topic, orjson.dumps(message), key="malformed")
        self._producer.commit_transaction(PATIENCE_S)

    def expected(self) -> Results:
        return self._recompute(self.published)

    def check(self) -> None:
        """Wait for every result, then compare the last of its versions of most rows, which the tables keep."""
        expected = self.expected()
        for dataset, rows in expected.items():
            end = time.monotonic() + PATIENCE_S
            while not _agree(self.kept(dataset), rows) and time.monotonic() < end:
                time.sleep(1)
        time.sleep(2)  # in case a version comes that must not
        for dataset, rows in expected.items():
            found, schema = self.kept(dataset), validator(self.cluster.datasets[dataset])
            assert found.keys() == rows.keys(), (dataset, found.keys() ^ rows.keys())
            for key, row in rows.items():
                assert schema.is_valid(found[key]), list(schema.iter_errors(found[key]))
                assert agrees(found[key], row), (dataset, key, found[key], row)

    def kept(self, dataset: str) -> dict[tuple[str, ...], Record]:
        """Return the last of the versions of most rows, by key."""
        return {
            key: max(reversed(versions), key=lambda version: version["n"])
            for key, versions in self.versions(dataset).items()
        }

    def versions(self, dataset: str) -> dict[tuple[str, ...], list[Record]]:
        """Return every version of every result by key, in the order written; each is read once."""
        definition, rows = self.cluster.datasets[dataset], self._written[dataset]
        consumer = Consumer(
            {
                **self.cluster.kafka.client,
                "group.id": "counterflow.test",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        try:
            reading = set(consumer.list_topics(definition.topic, timeout=30).topics[definition.topic].partitions)
            consumer.assign([TopicPartition(definition.topic, p, self._read[definition.topic, p]) for p in reading])
            while reading:
                for message in consumer.consume(5000, timeout=0.1):
                    error, partition, offset = message.error(), message.partition(), message.offset()
                    assert partition is not None
                    assert offset is not None
                    if error:
                        assert error.code() == KafkaError._PARTITION_EOF, error
                        reading.discard(partition)
                        self._read[definition.topic, partition] = offset
                    else:
                        self._read[definition.topic, partition] = offset + 1
                        row = orjson.loads(message.value() or b"null")
                        assert row is not None, f"a result of {dataset} was deleted: CONTRIBUTING.md, Add a job"
                        rows[tuple(row[column] for column in definition.key)].append(row)
        finally:
            consumer.close()
        return {key: [*versions] for key, versions in rows.items()}


def _agree(found: dict[tuple[str, ...], Record], expected: dict[tuple[str, ...], Record]) -> bool:
    return found.keys() == expected.keys() and all(agrees(found[key], row) for key, row in expected.items())


def agrees(found: Record, expected: Record) -> bool:
    """Compare the expected columns only: the figures in a verdict's reason and evidence are those of `link_load`."""
    found = {name: value for name, value in found.items() if name in expected}
    expected = {name: value for name, value in expected.items() if value is not None}
    return found.keys() == expected.keys() and all(
        math.isclose(found[name], value, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(value, float)
        else found[name] == value
        for name, value in expected.items()
    )


def verdicts(
    rule: Rule[Any, Any, Any], loads: Iterable[Record], entity: Callable[[Record], tuple[str, ...]]
) -> dict[tuple[str, ...], Record]:
    """Return the verdicts of a rule over the rows of each entity in order, one an interval."""
    entities = defaultdict(list)
    for load in loads:
        entities[entity(load)].append(load)
    results: dict[tuple[str, ...], Record] = {}
    for name, rows in entities.items():
        state, shown, since = rule.start, None, ""
        for row in sorted(rows, key=lambda row: datetime.fromisoformat(row["ts"])):
            state, judged = rule.judge(rule.parameters(), state, rule.interval(row))
            shown, since = judged.state, since if judged.state == shown else row["ts"]
            results[(rule.name, *name, row["ts"])] = {
                "n": row["n"],
                "interval_s": row["interval_s"],
                "state": shown,
                "signal": judged.signal,
                "stale": judged.stale,
                "since": since,
            }
    return results


def seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def stamp(moment: datetime) -> str:
    """Return a time as Flink writes it."""
    return f"{moment:%FT%T}.{moment.microsecond // 1000:03}".rstrip("0").rstrip(".") + "Z"


class Running:
    """Running counts as their collector publishes them: with the sample before."""

    def __init__(self, **counts: float) -> None:
        self.counts = counts
        self.before: datetime | None = None

    def sample(self, ts: datetime, *, restart: bool = False, **steps: float) -> Record:
        earlier = self.counts
        self.counts = {name: (0.0 if restart else value) + round(steps[name]) for name, value in earlier.items()}
        row: Record = dict(self.counts)
        if self.before:
            row |= {f"prev_{name}": value for name, value in earlier.items()} | {"prev_ts": stamp(self.before)}
        self.before = ts
        return row


def known(values: Iterator[float | None] | Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def total(values: Iterator[float | None] | Sequence[float | None]) -> float | None:
    numbers = known(values)
    return math.fsum(numbers) if numbers else None


def over(a: float | None, b: float | None) -> float | None:
    return None if a is None or not b else a / b


def first_of_each(rows: Sequence[Record], *key: str) -> list[Record]:
    found: dict[tuple[Any, ...], Record] = {}
    for row in rows:
        found.setdefault(tuple(row[column] for column in key), row)
    return list(found.values())

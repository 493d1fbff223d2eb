"""Compares a sample of landed frames, row by row, with the tables and with the ledger that the account is made of.

The account of an agent counts the ledger, which no table row can contradict. Here frames are read from Kafka again, and
each of their rows is looked up in its table by its natural key.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import orjson

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.kafka import Kafka
from counterflow.pipelines.audit.under_way import beside_the_lander, positions
from counterflow.pipelines.audit.under_way import messages as read_messages
from counterflow.schemas.definition import Dataset, datasets
from counterflow.schemas.frame import Frame, contract, rows

EACH = 10
"""Consecutive offsets of each partition."""


class Sampled(NamedTuple):
    """The rows of sampled frames of one dataset.

    Each is `stored` under its agent and `seq`, `replaced` in its table by another row of its natural key, `refused`
    into `deadletter`, or `missing`: the ledger has it and the table does not, or the reverse.
    """

    dataset: str
    frames: int
    rows: int
    stored: int
    replaced: int
    refused: int
    missing: int


def landed(kafka: Kafka, topics: Collection[str], chance: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield topic and value of the messages at `EACH` consecutive offsets of each partition, wherever it has landed.

    Markers of transactions take offsets, too.
    """
    with beside_the_lander(kafka) as consumer:
        spans = {}
        for at in positions(consumer, topics):
            end = min(at.committed, at.high)
            begin = chance.randint(at.low, max(at.low, end - EACH))
            spans[at.topic, at.partition] = begin, min(end, begin + EACH)
        yield from read_messages(consumer, spans)


def frames(messages: Iterable[tuple[str, bytes]]) -> dict[str, list[Frame]]:
    """Return the well-formed frames of (topic, message), by dataset; the lander refuses the others whole."""
    names = {dataset.topic: name for name, dataset in datasets().items()}
    found: dict[str, list[Frame]] = defaultdict(list)
    for topic, message in messages:
        with suppress(ValueError):  # not JSON, or malformed
            frame = orjson.loads(message)
            if isinstance(frame, dict) and contract(names[topic]).rows(frame):
                found[names[topic]].append(frame)
    return found


def compare(client: ClickHouse, dataset: str, sample: Sequence[Frame]) -> Sampled:
    """Compare frames of a dataset with its table, and with the ledger."""
    definition = datasets()[dataset]
    found = Counter(verdict for frame in sample for verdict in _verdicts(client, definition, frame))
    return Sampled(dataset, len(sample), found.total(), *(found[name] for name in Sampled._fields[3:]))


def _verdicts(client: ClickHouse, dataset: Dataset, frame: Frame) -> Iterator[str]:
    """Yield where each row of a frame is."""
    entity = dataset.key[:-1]
    agent, first = frame["agent_id"], frame["seq"]
    key = ", ".join(f"`{name}`" for name in entity)
    at = {"param_system": frame["system"], "param_ts": frame["ts"]}
    stored = client.rows(_ROWS.format(key=key, dataset=dataset.dataset), at)
    holders = {tuple(row[name] for name in entity): (row["agent_id"], row["seq"]) for row in stored}
    numbers = {"param_agent": agent, "param_first": first, "param_last": first + frame["frame_rows"] - 1}
    [ledger] = client.rows(_LEDGER, {**numbers, "param_dataset": dataset.dataset})
    entered, refused = set(ledger["entered"]), set(ledger["refused"])
    for row in rows(frame, frozenset(dataset.columns)):
        number, holder = row["seq"], holders.get(tuple(row[name] for name in entity))
        if number in entered and holder:
            yield "stored" if holder == (agent, number) else "replaced"
        else:
            yield "refused" if number in refused and holder != (agent, number) else "missing"


_ROWS = """
SELECT {key}, agent_id, seq
FROM counterflow.{dataset} FINAL
WHERE system = {{system:String}} AND ts = parseDateTime64BestEffort({{ts:String}}, 3, 'UTC')
"""

_LEDGER = """
WITH bitmapSubsetInRange(seqs, {first:UInt64}, {last:UInt64} + 1) AS numbers
SELECT
  bitmapToArray(groupBitmapMergeStateIf(numbers, dataset = {dataset:String})) AS entered,
  bitmapToArray(groupBitmapMergeStateIf(numbers, dataset = 'deadletter')) AS refused
FROM counterflow.ledger
WHERE agent_id = {agent:String}
"""

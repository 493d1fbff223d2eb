"""Publishes rejected messages again once the cause is fixed; each record lands once, however often it is replayed.

A record's identity is its agent and `seq`. A letter is published only if none of its records is in a table, in flight
in Kafka or in a letter before it. The replay checks this as the only producer of its transactional id: any other is
fenced, and its open transaction is aborted. So a killed or concurrent replay duplicates nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from confluent_kafka import Producer

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.kafka import Kafka
from counterflow.pipelines.landing.deadletter import UNKNOWN
from counterflow.pipelines.landing.letters import Letter, mark
from counterflow.pipelines.landing.under_way import beside_the_lander, positions, under_way

TRANSACTIONAL_ID = "counterflow.deadletter"
_BATCH = 1_000
_TIMEOUT_S = 30.0

Record = tuple[str, int]


class Replayed(NamedTuple):
    """Outcome of a letter: published, there already (landed, in flight or in another letter), or refused and why."""

    letter: Letter
    what: Literal["published", "there already", "refused"]
    why: str = ""


def why_not(letter: Letter) -> str | None:
    """Return why a letter cannot be published again, and the way out; None where it can."""
    if letter.stage != "land":
        return (
            f"rejected while reading {letter.origin}, before it became a record; read the file again with: "
            "counterflow publish --again"
        )
    if letter.agent_id == UNKNOWN:
        return (
            "its agent and seq cannot be read, so duplicates would go unnoticed; to recompute the result of a job use: "
            "counterflow jobs rerun"
        )
    return None


def replay(lander: ClickHouse, kafka: Kafka, letters: Sequence[Letter]) -> list[Replayed]:
    """Publish the kept bytes to their original topics, and mark the letters.

    Parameters
    ----------
    lander : client that may SELECT and INSERT.
    kafka : how to reach Kafka.

    Raises
    ------
    KafkaException : the broker does not answer, or another replay has begun; whatever was published is marked, or the
        next replay finds it.
    ClickHouseError, httpx.TransportError : the server refuses, or does not answer.
    """
    refused = [Replayed(letter, "refused", why) for letter in letters if (why := why_not(letter))]
    able = [letter for letter in letters if not why_not(letter)]
    owed = _owed(kafka, able) if able else set()
    refused += [Replayed(letter, "refused", _OWED) for letter in able if letter.id in owed]
    able = [letter for letter in able if letter.id not in owed]
    if not able:
        return refused
    producer = Producer(
        {
            **kafka.client,
            "transactional.id": TRANSACTIONAL_ID,
            "transaction.timeout.ms": 15_000,
            "message.max.bytes": 4_194_304,
            "log_level": 0,
        }
    )
    producer.init_transactions(_TIMEOUT_S)
    there = _there(lander, kafka, able)  # only now: init_transactions fenced every other replay
    done: list[Replayed] = []
    for begin in range(0, len(able), _BATCH):
        some = able[begin : begin + _BATCH]
        new = _unpublished(some, there)
        if new:
            producer.begin_transaction()
            for letter in new:
                producer.produce(letter.place, letter.payload, letter.system)
                producer.poll(0)
            producer.commit_transaction(_TIMEOUT_S)
        for topic in sorted({letter.place for letter in some}):
            mark(lander, [letter.id for letter in some if letter.place == topic], "replayed", topic)
        published = {letter.id for letter in new}
        done += [Replayed(letter, "published" if letter.id in published else "there already") for letter in some]
    return refused + done


_OWED = "the lander has not finished the batch that it was in; replay it again later"


def _owed(kafka: Kafka, letters: Collection[Letter]) -> set[str]:
    """Return the letters of batches that are not finished: when the lander repeats one, it may insert their records."""
    consumer = beside_the_lander(kafka)
    try:
        topics = {letter.place for letter in letters}
        ahead = {f"{at.topic}:{at.partition}": range(at.committed, at.high) for at in positions(consumer, topics)}
    finally:
        consumer.close()
    found = set()
    for letter in letters:
        partition, _, place = letter.origin.rpartition(":")
        if int(place.partition(".")[0]) in ahead.get(partition, ()):
            found.add(letter.id)
    return found


def _unpublished(letters: Iterable[Letter], there: set[Record]) -> list[Letter]:
    """Return the letters without a record in `there` or in another of them, and add their records to it."""
    new = []
    for letter in letters:
        records = _records(letter)
        if there.isdisjoint(records):
            there.update(records)
            new.append(letter)
    return new


def _records(letter: Letter) -> list[Record]:
    return [(letter.agent_id, seq) for seq in range(letter.seq, letter.seq + letter.rows)]


_LANDED = """
SELECT arrayJoin(arrayFilter(
  r -> bitmapHasAny(landed, bitmapBuild(range(r.1, r.1 + r.2))), {letters:Array(Tuple(UInt64, UInt64))}
)).1 AS seq
FROM
(
  SELECT groupBitmapMergeState(seqs) AS landed
  FROM counterflow.ledger
  WHERE agent_id = {agent:String} AND dataset != 'deadletter'
)
"""


def _there(client: ClickHouse, kafka: Kafka, letters: Collection[Letter]) -> set[Record]:
    """Return all records in flight, and the first of each letter with one in a table.

    Kafka is asked first, so that none slips through between.
    """
    by_agent: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for letter in letters:
        by_agent[letter.agent_id].append((letter.seq, letter.rows))
    behind = under_way(kafka, {letter.place for letter in letters})
    there = {(agent_id, seq) for agent_id in by_agent for seq in behind.get(agent_id, ())}
    for agent_id, of_agent in by_agent.items():
        for begin in range(0, len(of_agent), _BATCH):
            some = of_agent[begin : begin + _BATCH]
            rows = client.rows(_LANDED, {"param_agent": agent_id, "param_letters": some})
            there |= {(agent_id, int(row["seq"])) for row in rows}
    return there

"""Publishes rejected messages again once the cause is fixed; each record lands once, however often it is replayed.

A record's identity is its agent and `seq`. It is published only if it is in no table and not in flight in Kafka. The
replay checks this as the only producer of its transactional id: any other is fenced, and its open transaction is
aborted. So a killed or concurrent replay duplicates nothing.
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
from counterflow.pipelines.landing.under_way import under_way

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


def _unpublished(letters: Iterable[Letter], there: set[Record]) -> list[Letter]:
    """Return one letter of each record that is not in `there`, and add the record to it."""
    new = []
    for letter in letters:
        record = letter.agent_id, letter.seq
        if record not in there:
            there.add(record)
            new.append(letter)
    return new


_LANDED = """
SELECT arrayJoin(arrayFilter(s -> bitmapContains(landed, s), {seqs:Array(UInt64)})) AS seq
FROM
(
  SELECT groupBitmapMergeState(seqs) AS landed
  FROM counterflow.ledger
  WHERE agent_id = {agent:String} AND dataset != 'deadletter'
)
"""


def _there(client: ClickHouse, kafka: Kafka, letters: Collection[Letter]) -> set[Record]:
    """Return the letters' records that are in flight or in a table; Kafka first, so that none slips through between."""
    by_agent: dict[str, list[int]] = defaultdict(list)
    for letter in letters:
        by_agent[letter.agent_id].append(letter.seq)
    behind = under_way(kafka, {letter.place for letter in letters})
    there = {(agent_id, seq) for agent_id in by_agent for seq in behind.get(agent_id, ())}
    for agent_id, seqs in by_agent.items():
        for begin in range(0, len(seqs), _BATCH):
            some = seqs[begin : begin + _BATCH]
            rows = client.rows(_LANDED, {"param_agent": agent_id, "param_seqs": some})
            there |= {(agent_id, int(row["seq"])) for row in rows}
    return there

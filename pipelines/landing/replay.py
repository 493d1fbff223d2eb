"""Publishes again what was refused, once its cause is mended; each record lands once however often that is asked.

A record is known by its agent and `seq`. It is published only where it is in no table and not under way in Kafka, and
who asks that has the one producer of its name: another one is fenced off, and what it had not committed is void. So a
replay that was killed, or runs twice, publishes nothing again.
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
    """What became of a letter: published, there already (landed, under way, or another letter's), or refused why."""

    letter: Letter
    what: Literal["published", "there already", "refused"]
    why: str = ""


def why_not(letter: Letter) -> str | None:
    """Say why a letter cannot be published again, and the way out; None where it can."""
    if letter.stage != "land":
        return (
            f"it was refused when {letter.origin} was read, before it was a record; read the file again with: "
            "counterflow publish --again"
        )
    if len(letter.payload) < letter.size:
        return f"only the first {len(letter.payload):,} of its {letter.size:,} bytes were kept"
    if letter.agent_id == UNKNOWN:
        return (
            "its agent and seq cannot be read, so that nothing would tell it from its own repeat; a result of a job is "
            "computed again by: counterflow jobs rerun"
        )
    return None


def replay(lander: ClickHouse, kafka: Kafka, letters: Sequence[Letter]) -> list[Replayed]:
    """Publish the kept bytes to the topics they were refused from, and mark the letters.

    Parameters
    ----------
    lander : client that may SELECT and INSERT.
    kafka : how it is reached.

    Raises
    ------
    KafkaException : the broker does not answer, or another replay has begun; nothing was published that is not marked
        or found by the next replay.
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
    there = _there(lander, kafka, able)  # asked when nobody else can publish any more
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
    """Return the letters of records that are not there, one of each, and note them as there."""
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
    """Return the records of the letters that are under way or in a table; Kafka is asked first."""
    wanted: dict[str, list[int]] = defaultdict(list)
    for letter in letters:
        wanted[letter.agent_id].append(letter.seq)
    behind = under_way(kafka, {letter.place for letter in letters})
    there = {(agent_id, seq) for agent_id in wanted for seq in behind.get(agent_id, ())}
    for agent_id, seqs in wanted.items():
        for begin in range(0, len(seqs), _BATCH):
            some = seqs[begin : begin + _BATCH]
            rows = client.rows(_LANDED, {"param_agent": agent_id, "param_seqs": some})
            there |= {(agent_id, int(row["seq"])) for row in rows}
    return there

"""Publishes rejected messages again once the cause is fixed.

A record that is published twice replaces itself in its table, so a replay can be repeated, and killed at any moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.kafka import Kafka
from counterflow.pipelines.landing.deadletter import UNKNOWN
from counterflow.pipelines.landing.letters import Letter, mark

_BATCH = 1_000
_TIMEOUT_S = 30.0


class Replayed(NamedTuple):
    """Outcome of a letter: published, or refused and why."""

    letter: Letter
    what: Literal["published", "refused"]
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
            "its agent and seq cannot be read, so its record is in no account; to recompute the result of a job use: "
            "counterflow jobs rerun"
        )
    return None


def replay(lander: ClickHouse, kafka: Kafka, letters: Sequence[Letter]) -> list[Replayed]:
    """Publish the kept bytes to their original topics, and mark the letters.

    Parameters
    ----------
    lander : client that may INSERT.
    kafka : how to reach Kafka.

    Raises
    ------
    KafkaException : the broker does not answer, or refuses; what it acknowledged before is marked.
    ClickHouseError, httpx.TransportError : the server refuses, or does not answer.
    """
    done = [Replayed(letter, "refused", why) for letter in letters if (why := why_not(letter))]
    able = [letter for letter in letters if not why_not(letter)]
    producer = Producer(
        {
            **kafka.client,
            "enable.idempotence": True,
            "message.timeout.ms": int(1000 * _TIMEOUT_S),
            "message.max.bytes": 4_194_304,
            "log_level": 0,
        }
    )
    for begin in range(0, len(able), _BATCH):
        some = able[begin : begin + _BATCH]
        _publish(producer, some)
        for topic in sorted({letter.place for letter in some}):
            mark(lander, [letter.id for letter in some if letter.place == topic], "replayed", topic)
        done += [Replayed(letter, "published") for letter in some]
    return done


def _publish(producer: Producer, letters: Sequence[Letter]) -> None:
    """Publish letters, and wait until the broker has acknowledged each."""
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, _: Message) -> None:
        if error:
            failed.append(error)

    for letter in letters:
        producer.produce(letter.place, letter.payload, letter.system, on_delivery=delivered)
        producer.poll(0)
    if producer.flush(_TIMEOUT_S + 1):
        failed.append(KafkaError(KafkaError._TIMED_OUT))
    if failed:
        raise KafkaException(failed[0])

"""A copy of ClickHouse with the place in Kafka up to which it has landed, and the way back.

The two are of one moment, since the lander rests meanwhile: what is landed again after a restore is exactly what the
copy does not have. Rows that came twice would be one row in their table, but counted twice where minutes are rolled up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import tenacity
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from pydantic import BaseModel, TypeAdapter, ValidationError

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.landing.consumer import GROUP
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TIMEOUT_S = 20.0
_LONGEST_S = 24 * 3600.0
_LEFT_S = 30
"""Kafka takes a lander that ended for a member of its group for ten seconds more, and no other's word meanwhile."""


class Landed(BaseModel):
    """The first offset of a topic-partition that is not in the copy."""

    topic: str
    partition: int
    offset: int


_offsets = TypeAdapter(list[Landed])


def backup(settings: StackSettings, name: str) -> Path:
    """Copy the tables, and write beside them what they have of Kafka; returns the folder. Nothing lands meanwhile.

    Raises `CounterflowError` where there is such a copy already, or a server refuses or does not answer.
    """
    folder = _folder(settings, name)
    if folder.exists():
        raise CounterflowError(f"{folder} is there already", hint="take another name, or remove it", exit_code=2)
    with _at_rest(settings), _said(f"its log is in {settings.logs}"):
        landed = [
            Landed(topic=one.topic, partition=one.partition, offset=one.offset)
            for one in _committed(settings, ended=True)
        ]
        with settings.clickhouse("admin", timeout_s=_LONGEST_S) as client:
            client.post(f"BACKUP DATABASE counterflow TO File('{name}')")
        (folder / "landed.json").write_bytes(_offsets.dump_json(landed, indent=2))
    return folder


def restore(settings: StackSettings, name: str) -> int:
    """Put the tables back to what they were, and have landed what came since; returns the offsets of Kafka that are.

    What is there now is dropped. Raises `CounterflowError` where there is no such copy, before anything is dropped, or
    a server refuses or does not answer.
    """
    path = _folder(settings, name) / "landed.json"
    try:
        landed = _offsets.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        what = "is not there" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise CounterflowError(f"{path} {what}", hint="counterflow backup NAME makes one", exit_code=2) from None
    with _at_rest(settings), _said("the tables are dropped: restore another copy, or this one again"):
        with settings.clickhouse("admin", timeout_s=_LONGEST_S) as client:
            client.post("DROP DATABASE IF EXISTS counterflow SYNC")
            client.post(f"RESTORE DATABASE counterflow FROM File('{name}')")
        with settings.clickhouse("migrator") as client:
            migrate(client)
        had = {(one.topic, one.partition): one.offset for one in landed}
        since = {(one.topic, one.partition): one.offset for one in _committed(settings)}
        # of what had no offset when the copy was made, the copy has nothing
        _go_back(settings, {place: had.get(place, 0) for place in {*had, *since}})
    return sum(max(0, offset - had.get(place, 0)) for place, offset in since.items())


def _folder(settings: StackSettings, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise CounterflowError(
            f"{name!r} cannot be a copy's name", hint="letters, digits, `.`, `_` and `-`", exit_code=2
        )
    return settings.clickhouse_home / "backups" / name


@contextmanager
def _at_rest(settings: StackSettings) -> Iterator[None]:
    """Stop the lander, which ends what it is at, and start it again whatever happens."""
    if not supervision.alive(settings):
        raise CounterflowError("the stack does not run", hint="counterflow up", exit_code=2)
    if settings.elsewhere:
        raise CounterflowError(
            f"{' and '.join(settings.elsewhere)} name servers that are not of this stack",
            hint="docs/cluster.md says how to copy those",
            exit_code=2,
        )
    supervision.stop(settings, "lander")
    try:
        yield
    finally:
        lifecycle.start(settings, "lander")


@contextmanager
def _said(hint: str) -> Iterator[None]:
    try:
        yield
    except ClickHouseError as error:
        raise CounterflowError(f"ClickHouse refused: {error}", hint=hint) from None
    except httpx.TransportError as error:
        raise CounterflowError(f"ClickHouse does not answer: {error}", hint=hint) from None
    except KafkaException as error:
        raise CounterflowError(f"Kafka refused: {error.args[0].str()}", hint=hint) from None


def _committed(settings: StackSettings, *, ended: bool = False) -> list[TopicPartition]:
    """Return what Kafka keeps for the lander; `ended` that no insert may be half done."""
    admin = AdminClient({**settings.kafka("admin").client, "log_level": 0})
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)], request_timeout=_TIMEOUT_S)
    kept = [one for one in asked[GROUP].result().topic_partitions or [] if one.offset >= 0]
    if ended and (owed := [one.topic for one in kept if one.metadata]):
        raise CounterflowError(
            f"the lander was ended in the middle of an insert into the table of {owed[0]}", hint="try again"
        )
    return kept


def _go_back(settings: StackSettings, offsets: Mapping[tuple[str, int], int]) -> None:
    """Have the lander begin where the copy ends."""
    admin = AdminClient({**settings.kafka("admin").client, "log_level": 0})
    wanted = ConsumerGroupTopicPartitions(GROUP, [TopicPartition(*place, offset) for place, offset in offsets.items()])

    @tenacity.retry(
        retry=tenacity.retry_if_exception_type(KafkaException),
        stop=tenacity.stop_after_delay(_LEFT_S),
        wait=tenacity.wait_fixed(1),
        reraise=True,
    )
    def alter() -> None:
        answer = admin.alter_consumer_group_offsets([wanted], request_timeout=_TIMEOUT_S)[GROUP].result()
        for one in answer.topic_partitions or []:
            if one.error:
                raise KafkaException(one.error)

    alter()

"""Backs up ClickHouse with the Kafka offsets up to which it has landed, and restores both.

The two are consistent because the lander is stopped meanwhile: after a restore the records that the copy lacks are
landed again. Offsets count within one topic, so each is kept with the topic's id: of a topic that was created since,
everything is landed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path

import httpx
import tenacity
from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient
from pydantic import BaseModel, TypeAdapter, ValidationError

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.landing.broker import GROUP
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle, supervision
from counterflow.stack.install import exclusive
from counterflow.stack.settings import StackSettings

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_TIMEOUT_S = 20.0
_LONGEST_S = 24 * 3600.0
_LEFT_S = 30
"""For ten seconds Kafka keeps a stopped lander in its group, and refuses offsets from anyone else."""


class LandedOffset(BaseModel):
    """The first offset of a topic-partition that is not in the copy; `topic_id` is Kafka's unique id of the topic."""

    topic: str
    topic_id: str
    partition: int
    offset: int


_offsets = TypeAdapter(list[LandedOffset])


def backup(settings: StackSettings, name: str) -> Path:
    """Copy the tables and the Kafka offsets that they cover; return the folder. Landing is paused meanwhile.

    Raises `CounterflowError` where the copy already exists, or a server refuses or does not answer.
    """
    folder = _folder(settings, name)
    if folder.exists():
        raise CounterflowError(f"{folder} already exists", hint="choose another name, or remove it", exit_code=2)
    with _at_rest(settings), _explained(f"its log is in {settings.logs}"):
        committed = _committed(settings)
        ids = _ids(settings, {one.topic for one in committed})
        landed = [
            LandedOffset(topic=one.topic, topic_id=ids[one.topic], partition=one.partition, offset=one.offset)
            for one in committed
            if one.topic in ids
        ]
        with settings.clickhouse("admin", timeout_s=_LONGEST_S) as client:
            client.post(f"BACKUP DATABASE counterflow TO File('{name}')")
        (folder / "landed.json").write_bytes(_offsets.dump_json(landed, indent=2))
    return folder


def restore(settings: StackSettings, name: str) -> int:
    """Restore the tables, and rewind the lander to the end of the copy; return the number of offsets to land again.

    The current tables are dropped. Raises `CounterflowError` where the copy does not exist, before anything is dropped,
    or where a server refuses or does not answer.
    """
    landed = offsets(settings, name)
    with _at_rest(settings), _explained("the tables are dropped: restore another copy, or this one again"):
        with settings.clickhouse("admin", timeout_s=_LONGEST_S) as client:
            client.post("DROP DATABASE IF EXISTS counterflow SYNC")
            client.post(f"RESTORE DATABASE counterflow FROM File('{name}')")
        with settings.clickhouse("migrator") as client:
            migrate(client)
        since = {(one.topic, one.partition): one.offset for one in _committed(settings)}
        ids = _ids(settings, {one.topic for one in landed})
        # the copy has no rows of a topic that did not exist then, nor of a partition that had no offset
        had = {(one.topic, one.partition): one.offset for one in landed if one.topic_id == ids.get(one.topic)}
        _go_back(settings, {place: had.get(place, 0) for place in {*had, *since}})
    return sum(max(0, offset - had.get(place, 0)) for place, offset in since.items())


def offsets(settings: StackSettings, name: str) -> list[LandedOffset]:
    """Return the offset up to which each partition had landed when the copy `name` was made.

    Raises `CounterflowError` where there is no such copy, or it cannot be read.
    """
    path = _folder(settings, name) / "landed.json"
    try:
        return _offsets.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        what = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise CounterflowError(f"{path} {what}", hint="counterflow backup create NAME makes one", exit_code=2) from None


def _folder(settings: StackSettings, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise CounterflowError(
            f"{name!r} is not a valid name of a copy", hint="use letters, digits, `.`, `_` and `-`", exit_code=2
        )
    return settings.clickhouse_home / "backups" / name


@contextmanager
def _at_rest(settings: StackSettings) -> Iterator[None]:
    """Stop the lander, which finishes its inserts, and start it again whatever happens; `up` and `down` wait."""
    if settings.elsewhere:
        raise CounterflowError(
            f"{' and '.join(settings.elsewhere)} point to servers outside this stack",
            hint="docs/cluster.md describes how to copy those",
            exit_code=2,
        )
    with exclusive(settings.home / ".lock"):
        if not supervision.alive(settings):
            raise CounterflowError("the stack is not running", hint="counterflow up", exit_code=2)
        supervision.stop(settings, "lander")
        try:
            yield
        finally:
            lifecycle.start(settings, "lander")


@contextmanager
def _explained(hint: str) -> Iterator[None]:
    try:
        yield
    except ClickHouseError as error:
        raise CounterflowError(f"ClickHouse refused: {error}", hint=hint) from None
    except httpx.TransportError as error:
        raise CounterflowError(f"ClickHouse does not answer: {error}", hint=hint) from None
    except KafkaException as error:
        raise CounterflowError(f"Kafka refused: {error.args[0].str()}", hint=hint) from None


def _committed(settings: StackSettings) -> list[TopicPartition]:
    admin = AdminClient({**settings.kafka("admin").client, "log_level": 0})
    groups = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(GROUP)], request_timeout=_TIMEOUT_S)
    return [one for one in groups[GROUP].result().topic_partitions or [] if one.offset >= 0]


def _ids(settings: StackSettings, topics: Set[str]) -> dict[str, str]:
    """Return Kafka's unique id of each of the topics that exist."""
    admin = AdminClient({**settings.kafka("admin").client, "log_level": 0})
    there = topics & admin.list_topics(timeout=_TIMEOUT_S).topics.keys()
    if not there:
        return {}
    found = admin.describe_topics(TopicCollection(sorted(there)), request_timeout=_TIMEOUT_S)
    return {name: str(about.result().topic_id) for name, about in found.items()}


def _go_back(settings: StackSettings, offsets: Mapping[tuple[str, int], int]) -> None:
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

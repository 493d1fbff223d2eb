"""The checkpoints that the agent commits with its records, and how they are read back.

Topic `counterflow.checkpoints` (compacted, one partition) holds for each agent one record of itself (key `agent_id`),
one per file (key `agent_id/device:inode`, followed by `!/` and its name for a member of a packed file) and one per
stream of a system (`agent_id/stream/source/system/stream`). They are the agent's only memory: it needs no local disk.
"""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from pydantic import TypeAdapter, ValidationError

from counterflow.base.errors import CounterflowError
from counterflow.collectors.records import Position
from counterflow.collectors.sources.files import FileId
from counterflow.collectors.sources.wrapped import WITHIN
from counterflow.schemas.definition import CHECKPOINTS

LONGEST_BYTES = 3 << 20
"""Bytes of a checkpoint, at most: the topic accepts 4 MiB, with the names of files and streams."""


@dataclass(slots=True)
class Self:
    """The agent itself: the last committed `seq`, and the process that wrote it."""

    seq: int = 0
    host: str = field(default_factory=socket.gethostname)
    pid: int = field(default_factory=os.getpid)
    instance: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass(slots=True)
class Checkpoint:
    """How far one file is published.

    `head_bytes` and `fingerprint` confirm that the file is still the one that was read. `format` is None where no
    format recognised it. `is_read`: something of the file was published, from itself or with a file beside it. `size`
    is the size at which the file was read to its end as complete, None where it was not. `read_at` is in seconds since
    1970.
    """

    source: str
    path: str
    device: int
    inode: int
    head_bytes: int
    fingerprint: str
    format: str | None
    position: Position
    is_read: bool
    size: int | None
    read_at: float
    member: str = ""

    @property
    def id(self) -> FileId:
        return FileId(self.device, self.inode, self.member)


class StreamId(NamedTuple):
    """The identity of a stream of answers within an agent; a source that is pointed at another system begins anew."""

    source: str
    system: str
    stream: str


@dataclass(slots=True)
class StreamCheckpoint:
    """How far one stream of answers of a system is published, and the state that its format keeps for the next."""

    source: str
    system: str
    stream: str
    position: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> StreamId:
        return StreamId(self.source, self.system, self.stream)


AnyCheckpoint = Checkpoint | StreamCheckpoint


@dataclass(slots=True)
class Committed:
    agent: Self | None = None
    files: dict[FileId, Checkpoint] = field(default_factory=dict)
    streams: dict[StreamId, StreamCheckpoint] = field(default_factory=dict)

    @property
    def seq(self) -> int:
        """Number of the last committed record, 0 before the first."""
        return self.agent.seq if self.agent else 0

    def add(self, checkpoint: AnyCheckpoint) -> None:
        if isinstance(checkpoint, Checkpoint):
            self.files[checkpoint.id] = checkpoint
        else:
            self.streams[checkpoint.id] = checkpoint


_SELF = TypeAdapter(Self)
_CHECKPOINT = TypeAdapter(Checkpoint)
_STREAM = TypeAdapter(StreamCheckpoint)


def key(agent_id: str, of: FileId | StreamId | None = None) -> bytes:
    """Return the Kafka key of an agent, or of one of its files or streams."""
    match of:
        case None:
            return agent_id.encode()
        case FileId(device, inode, member):
            return f"{agent_id}/{device}:{inode}{member}".encode()
        case StreamId(source, system, stream):
            return f"{agent_id}/stream/{source}/{system}/{stream}".encode()


def check(value: AnyCheckpoint | Position) -> None:
    """Check that a checkpoint, or one with this position, can be written.

    Raises
    ------
    ValueError : its state is no JSON, or longer than `LONGEST_BYTES`.
    """
    try:
        size = len(orjson.dumps(value))
        if not isinstance(value, Position):
            key("", value.id)
    except (TypeError, UnicodeEncodeError) as error:
        raise ValueError(f"its state cannot be kept: {error}") from None
    if size > LONGEST_BYTES:
        raise ValueError(f"its state cannot be kept: {size:,} bytes, a checkpoint has at most {LONGEST_BYTES:,}")


def recall(client: dict[str, Any], agent_id: str, timeout_s: float = 60) -> Committed:
    """Return what `agent_id` has committed, up to the present end of the topic.

    `client` holds the connection settings of librdkafka.

    Raises
    ------
    KafkaException : the broker does not answer, or the end is not readable within `timeout_s`.
    CounterflowError : a checkpoint was written by a version that is not understood.
    """
    found = Committed()
    own = key(agent_id)
    for k, value in messages(client, f"counterflow-agent-{agent_id}", timeout_s):
        if k == own or k.startswith(own + b"/"):
            _add(found, own, k, value)
    return found


def committed(client: dict[str, Any], timeout_s: float = 60) -> dict[str, int]:
    """Return the last `seq` that each agent has committed, by `agent_id`; raises as `recall`."""
    agents: dict[str, Committed] = {}
    for k, value in messages(client, "counterflow-agent", timeout_s):
        if b"/" not in k:
            _add(agents.setdefault(k.decode(), Committed()), k, k, value)
    return {agent_id: found.seq for agent_id, found in agents.items() if found.agent}


def messages(client: dict[str, Any], group: str, timeout_s: float) -> Iterator[tuple[bytes, bytes | None]]:
    """Yield every key and value up to the present end of the topic.

    Raises
    ------
    KafkaException : the broker does not answer, or the topic cannot be read to that end.
    """
    end = _end(client, timeout_s)
    if end == 0:
        return
    consumer = Consumer(
        {
            **client,
            "group.id": group,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 50,
        }
    )
    try:
        consumer.assign([TopicPartition(CHECKPOINTS, 0, 0)])
        while (message := consumer.poll(timeout_s)) is not None:
            error = message.error()
            if error and error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            # The readable part may end earlier for a moment, at the open transaction of another agent; and where other
            # agents write without a pause, it never ends.
            if (message.offset() or 0) >= end:
                return
            if not error:
                yield message.key() or b"", message.value()
    finally:
        consumer.close()
    raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"{CHECKPOINTS} was not readable to its end ({end})"))


def _end(client: dict[str, Any], timeout_s: float) -> int:
    consumer = Consumer({**client, "group.id": "counterflow-agent", "isolation.level": "read_uncommitted"})
    try:
        end: int = consumer.get_watermark_offsets(TopicPartition(CHECKPOINTS, 0), timeout_s)[1]
        return end
    finally:
        consumer.close()


def _add(found: Committed, own: bytes, k: bytes, value: bytes | None) -> None:
    try:
        if k == own:
            found.agent = _SELF.validate_json(value) if value else None
        elif value:
            is_stream = k[len(own) + 1 :].startswith(b"stream/")
            found.add((_STREAM if is_stream else _CHECKPOINT).validate_json(value))
        else:
            device, _, rest = k[len(own) + 1 :].decode().partition(":")
            inode, within, member = rest.partition(WITHIN)
            found.files.pop(FileId(int(device), int(inode), within + member), None)
    except (ValidationError, ValueError) as error:
        raise CounterflowError(
            f"the checkpoint `{k.decode(errors='replace')}` in {CHECKPOINTS} is not understood: {error}",
            hint="run the version of counterflow that wrote it, or use another agent_id, which reads everything anew",
        ) from None

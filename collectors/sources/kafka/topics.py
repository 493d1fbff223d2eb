"""New messages of topics: their lines as they came, in order of their offsets, with the offset that they reach."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from confluent_kafka import Message

from counterflow.collectors.sources.kafka.session import KafkaSession, Partition
from counterflow.collectors.sources.polling.batch import Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError

INTERVAL_S = 0.5
"""Time between two looks for new messages, once there is none."""
WAIT_S = 0.1
"""How long a message is awaited: those that come meanwhile are published together."""
REFRESH_S = 60.0
"""Time between two looks for new topics and partitions."""
MOST_MESSAGES, MOST_BYTES = 2000, 4 << 20
"""Limits of a batch; its last message may exceed that of bytes."""


class Lines:
    """The messages of one partition since the batch before, each a line or several."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.size = 0
        self._lines: list[bytes] = []
        self._from: int | None = None
        self._next = 0
        self._began = time.monotonic()

    def add(self, message: Message) -> None:
        """Take a message; one without a value holds no line."""
        offset, value = message.offset() or 0, message.value() or b""
        if self._from is None:
            self._from = offset
        self._next = offset + 1
        if value:
            self._lines.append(value.removesuffix(b"\n"))
            self.size += len(value)

    def batch(self, cluster: str) -> Batch:
        """Return the batch of the messages taken; its origin names the offset of line 1."""
        batch = self.stream.reached(self._began, offset=self._next, cluster=cluster)
        batch.origin = f"{self.stream.name} from offset {self._from}"
        batch.body = b"".join(line + b"\n" for line in self._lines)
        return batch


class Topics:
    """The topics of one source, read behind the committed positions; from their beginning where there is none."""

    interval_s = INTERVAL_S

    def __init__(self, topics: Sequence[str], committed: dict[str, Cursor]) -> None:
        """`committed` has the positions by stream."""
        self._topics = topics
        self._committed = committed
        self._streams: dict[Partition, Stream] = {}
        self._missing = {topic: Stream(topic, topic, topic, committed.get(topic)) for topic in topics}
        self._assigned: tuple[int, list[Partition]] = (0, [])
        self._refresh_at = 0.0

    def read(self, session: KafkaSession) -> Iterator[Batch]:
        """Yield batches of new messages, until no more come."""
        while True:
            yield from self._assign(session)
            found: dict[Partition, Lines] = {}
            n = size = 0
            while n < MOST_MESSAGES and size < MOST_BYTES and (message := session.poll(WAIT_S)) is not None:
                place, error = Partition(message.topic() or "", message.partition() or 0), message.error()
                if place not in self._streams:  # of no partition, or of one that was read before
                    if error:
                        session.close()
                        raise SessionError(ErrorKind.LOST, error.str())
                    continue
                if error:
                    yield from self._streams[place].troubled(
                        SessionError(ErrorKind.FAILED, f"{place.text}: {error.str()}")
                    )
                    self._refresh_at = 0.0
                    continue
                lines = found.setdefault(place, Lines(self._streams[place]))
                lines.add(message)
                n, size = n + 1, size + len(message.value() or b"")
            for lines in found.values():
                yield lines.batch(session.cluster)
            if n == 0:
                return

    def _assign(self, session: KafkaSession) -> Iterator[Batch]:
        """Assign every partition, each from where its stream stands; report what is missing."""
        if session.number == self._assigned[0] and time.monotonic() < self._refresh_at:
            return
        there = session.partitions(self._topics)
        places = [place for topic in self._topics for place in there[topic]]
        for topic in self._topics:
            if not there[topic]:
                text = f"the cluster has no topic {topic}, or none that this user may describe"
                yield from self._missing[topic].troubled(SessionError(ErrorKind.FAILED, text))
        if (session.number, places) != self._assigned or self._refresh_at == 0.0:
            offsets = {}
            for place in places:
                stream = self._streams.get(place)
                if stream is None:
                    stream = Stream(place.text, place.topic, place.text, self._committed.get(place.text))
                    self._streams[place] = stream
                offsets[place], trouble = self._begin(session, place, stream.position)
                if trouble:
                    yield from stream.troubled(SessionError(ErrorKind.FAILED, f"{place.text}: {trouble}"))
            session.assign(offsets)
        self._assigned = (session.number, places)
        self._refresh_at = time.monotonic() + REFRESH_S

    def _begin(self, session: KafkaSession, place: Partition, position: Cursor) -> tuple[int, str | None]:
        """Return the offset at which a partition is read on, and the trouble to report."""
        held = session.range(place)
        offset = position.get("offset")
        if offset is None:
            return held.begin, None
        if position.get("cluster") != session.cluster:
            return held.begin, f"another cluster than before ({session.cluster}), read from its beginning"
        if offset > held.end:
            return held.begin, f"ends at offset {held.end} before {offset}, made anew: read from its beginning"
        if offset < held.begin:
            lost = held.begin - offset
            return held.begin, f"offsets {offset} to {held.begin - 1} were deleted before they were read ({lost})"
        return int(offset), None

"""The thread that queries one system: its clock, its defects, and what it keeps when it ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from counterflow.collectors.sources.polling import reader as polling
from counterflow.collectors.sources.polling.batch import Batch, Stream
from counterflow.collectors.sources.polling.reader import Reader
from counterflow.collectors.sources.polling.waiting import IN_MEMORY_BYTES, Spool
from tests.support.waiting import until


class Session:
    """A connection that opens at the first attempt."""

    number = 0

    def open(self) -> None:
        self.number = 1

    def close(self) -> None:
        pass

    def text(self, error: BaseException) -> str:
        return str(error)


class Task:
    """A query that is due ten times a second."""

    interval_s = 0.1

    def __init__(self) -> None:
        self.stream = Stream("host", "t", "o", None)

    def read(self, session: Session) -> Iterator[Batch]:
        yield self.stream.reached(time.monotonic(), ("A",), [(1,)])


class Started:
    """A reader that runs within `with`, and the events that it reported."""

    def __init__(self, task: Task, waiting: Spool | None = None) -> None:
        self.events: list[str] = []
        waiting = waiting or Spool(None, IN_MEMORY_BYTES, {})
        self.reader: Reader[Any] = Reader("x", Session(), [task], self.events.append, waiting)

    def __enter__(self) -> Started:
        self.reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.stop()
        self.reader.join(5)

    def numbers(self, count: int) -> list[int]:
        """Return the numbers of the next batches."""
        return [until(self.reader.waiting.next_batch).position["n"] for _ in range(count)]


def test_a_clock_that_is_set_back_stops_no_query(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock:
        ahead_s = 600.0
        monotonic = staticmethod(time.monotonic)

        def time(self) -> float:
            return time.time() + self.ahead_s

    clock = Clock()
    monkeypatch.setattr(polling, "time", clock)
    with Started(Task()) as started:
        assert started.numbers(3) == [1, 2, 3]
        clock.ahead_s = 0.0
        assert started.numbers(8) == [4, 5, 6, 7, 8, 9, 10, 11]


def test_a_defect_outside_of_a_query_is_reported_and_the_thread_goes_on() -> None:
    class Broken(Spool):
        broken = True

        def put(self, batch: Batch) -> bool:
            if self.broken:
                raise ZeroDivisionError
            return super().put(batch)

    waiting = Broken(None, 10**6, {})
    with Started(Task(), waiting) as started:
        until(lambda: started.events.count("broken") > 1)
        waiting.broken = False
        assert until(started.reader.waiting.next_batch)
    assert started.events[0] == "connected"

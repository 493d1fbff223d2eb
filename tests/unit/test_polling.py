"""The thread that queries one system: its clock, its defects, and what it keeps of what waits, on disk or in memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.files import unicode
from counterflow.collectors.sources.polling import reader as polling
from counterflow.collectors.sources.polling.batch import Batch, Stream
from counterflow.collectors.sources.polling.reader import PollingThread
from counterflow.collectors.sources.polling.waiting import IN_MEMORY_BYTES, Spool, decode, encode
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
        self.reader: PollingThread[Any] = PollingThread("x", Session(), [task], self.events.append, waiting)

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


ROWS = [(1, 2.5, None, "x", True)]


def batch(stream: str, n: int, rows: object = ROWS) -> Batch:
    return Batch(stream, stream, stream, stream, {"n": n, "at": f"{stream} {n}"}, ("a",), rows)  # type: ignore[arg-type]


def taken(spool: Spool) -> list[tuple[str, int]]:
    return [(one.stream, one.position["n"]) for one in iter(spool.next_batch, None)]


@given(
    st.text(),
    st.lists(st.tuples(st.none() | st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()), max_size=5),
    st.binary(),
    st.none() | st.datetimes(timezones=st.just(UTC)),
)
def test_what_was_put_comes_back_as_it_was(
    stream: str, rows: list[tuple[object, ...]], body: bytes, sampled_at: datetime | None
) -> None:
    given = replace(batch(stream, 1, rows), body=body, sampled_at=sampled_at, named={"a": "b"})
    spool = Spool(None, 10**9, {})
    assert spool.put(given)
    assert (spool.next_batch(), spool.next_batch()) == (given, None)


def test_a_value_that_json_does_not_have_is_what_an_export_of_it_holds() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5)  # noqa: DTZ001 - as a database has it
    values = (Decimal("2.50"), Decimal("7"), b"\x00\xaf", at, at.date(), at.time())
    found = decode(encode(batch("S", 1, [values]))).rows
    assert found == [(2.5, 7, "00AF", "2026-01-02T03:04:05", "2026-01-02", "03:04:05")]


@given(st.binary(max_size=200) | st.sampled_from([b"{}", b"[]", b"null", encode(batch("S", 1))[:-9]]))
def test_what_is_no_batch_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        decode(content)


def test_a_value_that_no_column_has_is_reported_in_place_of_its_rows(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", 10**6, {})
    assert spool.put(batch("S", 1, [(1, object())]))
    found = spool.next_batch()
    assert found is not None
    assert found.trouble == "the spool cannot keep a value of type object"
    assert (found.rows, found.position["n"]) == ([], 1)


@given(st.lists(st.sampled_from(["A", "B", "\ud800"]), max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_the_next_agent_continues_after_what_is_committed(
    tmp_path_factory: pytest.TempPathFactory, streams: list[str], took: int, committed: int
) -> None:
    path = tmp_path_factory.mktemp("spool") / "s"
    spool = Spool(path, 10**6, {})
    order = [(stream, streams[: at + 1].count(stream)) for at, stream in enumerate(streams)]
    for name in order:
        assert spool.put(batch(*name))
    assert [(one.stream, one.position["n"]) for _ in range(took) if (one := spool.next_batch())] == order[:took]
    done, left = order[: min(took, committed)], order[min(took, committed) :]
    known = {unicode(stream): {"n": n} for stream, n in done}
    again = Spool(path, 10**6, known)  # the first was killed before it deleted them
    assert taken(again) == left
    assert {stream: position["n"] for stream, position in again.positions.items()} == {
        unicode(stream): n for stream, n in order
    }
    for name in left:
        again.done(batch(*name))
    assert taken(Spool(path, 10**6, {})) == []


def test_what_is_not_committed_is_offered_again_in_order_and_what_came_since_behind_it() -> None:
    spool = Spool(None, 10**6, {})
    for name in [("A", 1), ("B", 1), ("A", 2)]:
        spool.put(batch(*name))
    assert len(taken(spool)) == 3
    spool.put(batch("B", 2))
    spool.take_back({"A": 1})
    assert taken(spool) == [("B", 1), ("A", 2), ("B", 2)]


def test_it_is_bounded_and_takes_more_once_some_are_taken(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", 1000, {})
    n = 1
    while spool.put(batch("A", n)):
        n += 1
    assert len(encode(batch("A", 1))) * (n - 1) in range(1000, 1500)
    assert taken(spool) == [("A", one) for one in range(1, n)]
    assert spool.put(batch("A", n))


def test_a_batch_that_is_not_readable_is_queried_again_with_all_of_its_stream_behind_it(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "s", 10**6, {"A": {"n": 7}})
    for name in [("A", 8), ("B", 1), ("A", 9), ("B", 2), ("A", 10)]:
        spool.put(batch(*name))
    with sqlite3.connect(tmp_path / "s") as database:
        database.execute("UPDATE batch SET content = substr(content, 1, 20) WHERE number = 3")
    again = Spool(tmp_path / "s", 10**6, {"A": {"n": 7}})
    assert {stream: position["n"] for stream, position in again.positions.items()} == {"A": 8, "B": 2}
    assert taken(again) == [("A", 8), ("B", 1), ("B", 2)]
    assert again.put(batch("A", 9))
    assert taken(again) == [("A", 9)]


def test_a_disk_that_takes_nothing_is_reported_and_stops_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spool = Spool(tmp_path / "s", 10**6, {})
    assert spool.put(batch("A", 1))
    with sqlite3.connect(tmp_path / "s") as database:
        database.execute("CREATE TRIGGER full BEFORE INSERT ON batch BEGIN SELECT raise(FAIL, 'disk is full'); END")
        database.execute("CREATE TRIGGER kept BEFORE DELETE ON batch BEGIN SELECT raise(FAIL, 'read-only'); END")
    assert not spool.put(batch("A", 2))
    assert "disk is full" in "".join(capsys.readouterr())
    first = spool.next_batch()
    assert first
    spool.done(first)
    with sqlite3.connect(tmp_path / "s") as database:
        database.execute("DROP TRIGGER kept")
    assert taken(Spool(tmp_path / "s", 10**6, {"A": {"n": 1}})) == []


def test_a_spool_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"no database" * 1000)
    with pytest.raises(CounterflowError, match=f"{tmp_path}/file/in/s cannot be used as a spool: Not a directory"):
        Spool(tmp_path / "file" / "in" / "s", 10**6, {})
    with pytest.raises(CounterflowError, match="cannot be used as a spool: file is not a database"):
        Spool(tmp_path / "file", 10**6, {})

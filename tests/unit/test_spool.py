"""What waits on disk to be committed: in order, bounded, and there again after the agent was killed."""

from __future__ import annotations

import errno
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.polling.batch import Batch
from counterflow.collectors.sources.polling.spooled import decode, encode
from counterflow.collectors.sources.polling.waiting import Spool

ROWS = ((1, Decimal("2.50"), None, "x", b"\x00", datetime(2026, 1, 1, tzinfo=UTC)),)


def batch(stream: str, n: int, rows: object = ROWS) -> Batch:
    return Batch(stream, stream, stream, stream, {"n": n, "at": f"{stream} {n}"}, ("a",), rows)  # type: ignore[arg-type]


def taken(spool: Spool) -> list[tuple[str, int]]:
    found = iter(spool.next_batch, None)
    return [(one.stream, one.position["n"]) for one in found]


@pytest.mark.parametrize("stream", ["NRG_INFO", "Q320000000/QAPMDISK", "../up", "%20 and Ünicode"])
def test_what_was_put_comes_back_as_it_was(tmp_path: Path, stream: str) -> None:
    spool = Spool(tmp_path / "s", 10**6, {})
    assert spool.put(batch(stream, 1))
    assert [path.parent for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "s"]
    assert spool.next_batch() == batch(stream, 1, list(ROWS))
    assert spool.next_batch() is None


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.dates(),
    st.times(),
)


@given(st.lists(st.tuples(values, values), max_size=5), st.binary(), st.none() | st.datetimes(timezones=st.just(UTC)))
def test_every_value_of_a_driver_comes_back_with_its_type(
    rows: list[tuple[object, object]], body: bytes, sampled_at: datetime | None
) -> None:
    given = replace(batch("S", 1, rows), body=body, sampled_at=sampled_at, named={"a": "b"})
    found = decode(encode(given))
    assert found == given
    assert [[type(value) for value in row] for row in found.rows] == [[type(value) for value in row] for row in rows]


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


@given(
    st.lists(st.sampled_from("ABC"), max_size=20),
    st.integers(0, 20),
    st.integers(0, 20),
)
def test_the_next_agent_continues_after_what_is_committed(
    tmp_path_factory: pytest.TempPathFactory, streams: list[str], took: int, committed: int
) -> None:
    folder = tmp_path_factory.mktemp("spool")
    spool = Spool(folder, 10**6, {})
    order = [(stream, streams[: at + 1].count(stream)) for at, stream in enumerate(streams)]
    for name in order:
        assert spool.put(batch(*name))
    assert taken_some(spool, took) == order[:took]
    done, left = order[: min(took, committed)], order[min(took, committed) :]
    positions = {stream: {"n": n} for stream, n in done}
    again = Spool(folder, 10**6, positions)  # it was killed before it removed what is committed
    assert taken(again) == left
    assert {stream: position["n"] for stream, position in again.positions.items()} == dict(order)
    for name in left:
        again.done(batch(*name))
    assert list(folder.iterdir()) == []


def taken_some(spool: Spool, count: int) -> list[tuple[str, int]]:
    found = (spool.next_batch() for _ in range(count))
    return [(one.stream, one.position["n"]) for one in found if one]


def test_it_is_bounded_and_takes_more_once_some_are_committed(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 1000, {})
    n = 1
    while spool.put(batch("A", n)):
        n += 1
    assert 1000 <= sum(path.stat().st_size for path in tmp_path.iterdir()) < 2000
    assert not spool.put(batch("A", n))
    first = spool.next_batch()
    assert first
    for one in range(1, n):
        spool.done(batch("A", one))
    assert list(tmp_path.iterdir()) == []
    again = Spool(tmp_path, 1000, {"A": {"n": n - 1}})
    assert again.put(batch("A", n))


def test_a_torn_batch_is_queried_again_with_all_of_its_stream_behind_it(tmp_path: Path) -> None:
    spool = Spool(tmp_path, 10**6, {"A": {"n": 7}})
    for name in [("A", 8), ("B", 1), ("A", 9), ("B", 2), ("A", 10)]:
        spool.put(batch(*name))
    files = sorted(tmp_path.iterdir())
    files[2].write_bytes(files[2].read_bytes()[:20])
    (tmp_path / "000000000006 11 A new").write_bytes(b"half")
    again = Spool(tmp_path, 10**6, {"A": {"n": 7}})
    assert {stream: position["n"] for stream, position in again.positions.items()} == {"A": 8, "B": 2}
    assert taken(again) == [("A", 8), ("B", 1), ("B", 2)]
    assert len(list(tmp_path.iterdir())) == 3
    assert again.put(batch("A", 9))
    assert taken(again) == [("A", 9)]


def test_a_disk_that_turned_read_only_is_reported_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path, 10**6, {})
    assert spool.put(batch("A", 1))

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patched:
        for name in ("write_bytes", "replace", "unlink"):
            patched.setattr(Path, name, read_only)
        assert not spool.put(batch("A", 2))
        first = spool.next_batch()
        assert first
        spool.done(first)
    assert taken(Spool(tmp_path, 10**6, {"A": {"n": 1}})) == []
    assert list(tmp_path.iterdir()) == []


def test_a_stream_whose_name_ends_as_that_of_a_torn_file_is_kept(tmp_path: Path) -> None:
    assert Spool(tmp_path, 10**6, {}).put(batch("web.new", 1))
    assert taken(Spool(tmp_path, 10**6, {})) == [("web.new", 1)]


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in (".nfs000000000012", "notes.txt", "lost+found"):
        (tmp_path / name).touch()
    assert Spool(tmp_path, 10**6, {}).put(batch("A", 1))
    assert taken(Spool(tmp_path, 10**6, {})) == [("A", 1)]
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CounterflowError, match=f"{tmp_path}/file/s cannot be used as a spool: Not a directory"):
        Spool(tmp_path / "file" / "s", 10**6, {})

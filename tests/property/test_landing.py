"""The rules of landing, without servers: refused rows are found, and whatever fails or is repeated changes nothing."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from copy import copy
from typing import Any
from unittest.mock import patch

import httpx
import orjson
import pytest
from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

from counterflow.base.clickhouse import ClickHouseError
from counterflow.pipelines.landing import deadletter
from counterflow.pipelines.landing import writer as landing_writer
from counterflow.pipelines.landing.deadletter import Refusal
from counterflow.pipelines.landing.reader import Collected, Limits, fill
from counterflow.pipelines.landing.writer import Abandoned, Writer, one_row, rows_of_frame, sift
from counterflow.schemas import frame
from counterflow.schemas.definition import datasets
from tests.support.json_schema import validator


def message(offset: int, value: bytes | None, timestamp: int = 1_763_632_800_123) -> Message:
    return Message(topic="t", partition=0, offset=offset, value=value, timestamp=(1, timestamp))


DISK = frame.contract("disk")
chances = st.integers(0, 2**32).map(random.Random)
offsets = st.lists(st.integers(0, 300), min_size=1, max_size=120, unique=True).map(sorted)


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=50), st.integers(1, 20), st.integers(1, 200))
def test_a_batch_is_filled_to_its_limits(values: list[bytes], rows: int, size: int) -> None:
    messages = [message(n, value) for n, value in enumerate(values)]
    count = fill(messages, Limits(rows, size))
    assert 1 <= count <= rows
    assert count == 1 or sum(map(len, values[:count])) <= size
    assert count == len(values) or count == rows or sum(map(len, values[: count + 1])) > size


@given(offsets, st.integers(1, 20), st.integers(0, 3))
def test_batches_have_each_message_once_and_end_where_reading_ended(found: list[int], most: int, markers: int) -> None:
    """The end of a partition is reported with its last messages, behind markers of transactions."""
    read, end = Collected(), found[-1] + 1 + markers
    read.end_at(("t", 0), end)
    for offset in found:
        read.add("t", [message(offset, b"{}")])
    batches = list(read.batches(Limits(most)))
    assert [m.offset() for _, batch, _ in batches for m in batch] == found
    assert all(1 <= len(batch) <= most for _, batch, _ in batches)
    *before, last = [ends["t", 0] for _, _, ends in batches]
    assert before == [batch[-1].offset() + 1 for _, batch, _ in batches[:-1]]
    assert last == end
    read.drop("t")
    assert (read.size, list(read.batches(Limits(most)))) == (0, [])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "no_value"),
        (b"", "no_value"),
        (b'[{"a":1},{"a":2}]', "not_an_object"),
        (b"7", "not_an_object"),
        (b'{"a":1}\n{"a":2}', "not_json"),
        (b'{"a":NaN}', "not_json"),
        (b'\xef\xbb\xbf{"a":1}', "not_json"),
    ],
)
def test_what_is_not_one_object_is_refused(value: bytes | None, reason: str) -> None:
    good = message(2, b'{"a":\n1}')
    readable, rows, refused = sift([message(1, value), good], one_row)
    assert (readable, rows) == ([good], 1)
    assert [(refusal.reason, refusal.message.offset()) for refusal in refused] == [(reason, 1)]
    assert [refusal.reason for refusal in sift([message(1, value)], rows_of_frame(DISK)).refused] == [reason]


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=4), st.binary(max_size=3), st.data())
def test_one_object_is_what_a_full_parser_takes_for_one(
    found: dict[str, object], noise: bytes, data: st.DataObject
) -> None:
    value = orjson.dumps(found)
    begin, end = sorted(data.draw(st.tuples(*[st.integers(0, len(value))] * 2)))
    damaged = value[:begin] + noise + value[end:]
    try:
        one_object = isinstance(orjson.loads(damaged), dict)
    except orjson.JSONDecodeError:
        one_object = False
    readable, _, refused = sift([message(1, damaged)], one_row)
    assert (len(readable), len(refused)) == ((1, 0) if one_object else (0, 1))


def test_deep_nesting_does_not_crash() -> None:
    deep = b'{"a":' + b"[" * 100_000
    readable, _, refused = sift([message(1, deep), message(2, b'{"a":1}')], one_row)
    assert [kept.offset() for kept in readable] == [2]
    assert [(refusal.reason, refusal.message.offset()) for refusal in refused] == [("not_json", 1)]


ENVELOPE = {
    "ts": "2026-11-20T09:59:45Z",
    "interval_s": 15,
    "system": "lpar7",
    "source": "nmon",
    "agent_id": "agent-7",
    "seq": 4711,
    "collected_at": "2026-11-20T09:59:46.5Z",
    "run": "baseline",
}


def buried(value: bytes | None, timestamp: int = 1_763_632_800_123) -> dict[str, object]:
    refused = message(5, value, timestamp)
    row = deadletter.row(Refusal(refused, "not_json", "expected one JSON object"))
    assert list(validator(datasets()["deadletter"]).iter_errors(row)) == []
    return row


def test_a_dead_letter_keeps_the_identity_of_its_record() -> None:
    payload = orjson.dumps({**ENVELOPE, "reads": "many"})
    row = buried(payload)
    assert row.items() >= ENVELOPE.items()
    assert (row["stage"], row["origin"], row["payload_bytes"]) == ("land", "t:0:5", len(payload))


@pytest.mark.parametrize("value", [None, b"\xff\x00", b"[1]", b'{"agent_id":"a"}', b'{"agent_id":"a","seq":-1}'])
def test_a_dead_letter_without_identity_is_of_an_unknown_system(value: bytes | None) -> None:
    row = buried(value)
    assert (row["system"], row["source"], row["agent_id"], row["seq"]) == ("unknown", "unknown", "unknown", 0)
    assert row["ts"] == row["collected_at"] == "2025-11-20T10:00:00.123Z"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        # ClickHouse reads no integer from `7.0`, which JSON Schema takes for one; a length in seconds may be whole
        ({"seq": 7.0, "interval_s": 15.0}, {"agent_id": "unknown", "seq": 0, "interval_s": 15.0}),
        ({"ts": "2026-02-30T00:00:00Z"}, {"ts": "2025-11-20T10:00:00.123Z", "collected_at": ENVELOPE["collected_at"]}),
    ],
)
def test_a_dead_letter_does_not_carry_what_the_table_refuses(given: dict[str, Any], kept: dict[str, Any]) -> None:
    assert buried(orjson.dumps(ENVELOPE | given)).items() >= kept.items()


@pytest.mark.parametrize(
    ("timestamp", "nearest"),
    [(-1, "2000-01-01T00:00:00.000Z"), (0, "2000-01-01T00:00:00.000Z"), (2**62, "2299-12-31T23:59:59.000Z")],
)
def test_a_dead_letter_without_any_time_has_the_nearest_that_the_table_accepts(timestamp: int, nearest: str) -> None:
    """Never that of landing: the same message has the same natural key whenever it is refused."""
    assert buried(b"x", timestamp)["ts"] == nearest


@pytest.mark.parametrize(("count", "kept"), [(7, 7), (0, None), (10**9, None), (True, None), ("7", None)])
def test_a_dead_letter_of_a_frame_stands_for_its_rows(count: object, kept: int | None) -> None:
    assert buried(orjson.dumps({**ENVELOPE, "frame_rows": count})).get("payload_rows") == kept
    assert "payload_rows" not in buried(orjson.dumps({"agent_id": "a", "frame_rows": 7}))  # whose rows is unknown


class Server:
    """A stand-in for ClickHouse: refuses rows whose `reads` are text, keeps one row of a natural key, fails at random.

    While it is `strict` it also refuses negative `reads`, by a constraint. It fails before the insert, as silence, or
    after it, as an error: the sender cannot know which. It fails at most twenty times, since the search for broken rows
    starts over after each failure and would otherwise hardly ever end.
    """

    def __init__(self, chance: random.Random, failures: float) -> None:
        self.chance, self.failures, self.left = chance, failures, 20
        self.strict = False
        self.tables: dict[str, dict[object, dict[str, Any]]] = {"disk": {}, "deadletter": {}}

    def post(self, sql: str, body: Sequence[bytes], settings: dict[str, object]) -> bytes:
        table = sql.split()[2].removeprefix("counterflow.")
        if self._fails():
            raise httpx.ReadTimeout("before")
        rows = [orjson.loads(line) for line in b"".join(body).splitlines()]
        if table == "disk":
            rows = [row for found in rows for row in frame.rows(found, DISK.columns)]
            if any(isinstance(row["reads"], str) for row in rows):
                raise ClickHouseError(27, 400, "Code: 27. DB::Exception: no (CANNOT_PARSE_INPUT_ASSERTION_FAILED)")
            if self.strict and any(row["reads"] < 0 for row in rows):
                raise ClickHouseError(469, 500, "Code: 469. no (VIOLATED_CONSTRAINT)")
        key = datasets()[table].key
        self.tables[table] |= {tuple(row[name] for name in key): row for row in rows}
        if self._fails():
            raise ClickHouseError(0, 502, "after")
        return b""

    def _fails(self) -> bool:
        fails = self.left > 0 and self.chance.random() < self.failures
        self.left -= fails
        return fails


def a_frame(seq: int, poison: Sequence[bool]) -> bytes:
    """Return a frame of this many rows, some of which cannot be inserted."""
    count = len(poison)
    columns = {"disk": [f"d{seq + n}" for n in range(count)], "device_type": ["disk"] * count, "leaf": [True] * count}
    columns["reads"] = ["many" if bad else 1 for bad in poison]
    return orjson.dumps({**ENVELOPE, "seq": seq, "frame_rows": count, **columns})


@given(offsets, st.data(), chances)
def test_every_row_lands_once_or_is_a_dead_letter_once(
    found: list[int], data: st.DataObject, chance: random.Random
) -> None:
    sizes = {offset: chance.choice((1, 1, 2, 5, 9)) for offset in found}
    unreadable = data.draw(st.sets(st.sampled_from(found)))
    poison = {offset: [chance.random() < 0.1 for _ in range(size)] for offset, size in sizes.items()}
    messages = [message(o, b"?" if o in unreadable else a_frame(100 * o, poison[o])) for o in found]
    server = Server(chance, 0.1)
    writer = Writer(server, {"t": "disk"})  # type: ignore[arg-type]
    while True:
        try:
            landed = writer.land("t", messages)
            break
        except (httpx.TransportError, ClickHouseError):
            continue
    good, letters = [], []
    for offset in found:
        if offset in unreadable:
            letters.append(f"t:0:{offset}")
            continue
        for place, bad in enumerate(poison[offset]):
            rows = f".{place + 1}-{place + 1}" if len(poison[offset]) > 1 else ""
            letters.append(f"t:0:{offset}{rows}") if bad else good.append(100 * offset + place)
    assert sorted(int(str(row["seq"])) for row in server.tables["disk"].values()) == good
    assert sorted(str(row["origin"]) for row in server.tables["deadletter"].values()) == sorted(letters)
    assert (landed.rows, len(landed.refused)) == (len(good), len(letters))


@given(chances)
def test_whatever_is_refused_when_a_batch_is_repeated_each_row_lands_once_or_is_a_dead_letter(
    chance: random.Random,
) -> None:
    """Between two tries the lander may be upgraded and the tables migrated, or either may go back."""
    values = []
    for n in range(chance.randint(1, 12)):
        found = orjson.loads(a_frame(100 * n, [chance.random() < 0.1 for _ in range(chance.choice((1, 1, 2, 5)))]))
        found["reads"] = [-1 if value == 1 and chance.random() < 0.2 else value for value in found["reads"]]
        values.append({**found, "column_of_tomorrow": found["leaf"]} if chance.random() < 0.3 else found)
    newer = copy(DISK)
    newer.columns |= {"column_of_tomorrow"}
    server = Server(chance, 0.3)
    while True:
        server.strict = chance.random() < 0.5
        with patch.object(landing_writer, "contract", return_value=chance.choice((DISK, newer))):
            writer = Writer(server, {"t": "disk"})  # type: ignore[arg-type]
        try:
            writer.land("t", [message(n, orjson.dumps(value)) for n, value in enumerate(values)])
            break
        except (httpx.TransportError, ClickHouseError):
            continue
    landed = [int(str(row["seq"])) for row in server.tables["disk"].values()]
    assert len(landed) == len({*landed})
    letters = server.tables["deadletter"].values()
    kept = {seq for row in letters for seq in seqs(row["seq"], row["payload_rows"])}
    assert {*landed} | kept == {seq for value in values for seq in seqs(value["seq"], value["frame_rows"])}


def seqs(first: Any, count: Any) -> range:
    return range(first, first + count)


def test_a_long_search_can_be_given_up() -> None:
    class Stopping(Server):
        def post(self, sql: str, body: Sequence[bytes], settings: dict[str, object]) -> bytes:
            abandoned.set()
            return super().post(sql, body, settings)

    abandoned = threading.Event()
    server = Stopping(random.Random(1), 0)
    writer = Writer(server, {"t": "disk"}, abandoned)  # type: ignore[arg-type]
    assert writer.land("t", [message(0, a_frame(0, [False]))]).rows == 1
    for messages in ([message(n, a_frame(n, [n == 1])) for n in range(4)], [message(0, a_frame(0, [False, True]))]):
        abandoned.clear()
        with pytest.raises(Abandoned):
            writer.land("t", messages)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        *((code, "") for code in (60, 159, 241, 252, 395, 497, 516)),
        (469, "violated at row 1: while pushing to view x.v. (VIOLATED_CONSTRAINT)"),
    ],
)
def test_an_error_of_the_server_or_of_a_view_blames_no_row(code: int, text: str) -> None:
    class Refusing:
        def post(self, sql: str, body: bytes, settings: object) -> bytes:
            raise ClickHouseError(code, 500, f"Code: {code}. {text}")

    with pytest.raises(ClickHouseError):
        Writer(Refusing(), {"t": "disk"}).land("t", [message(0, a_frame(0, [False]))])  # type: ignore[arg-type]

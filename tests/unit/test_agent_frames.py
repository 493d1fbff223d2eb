"""What a format yields becomes numbered, checked frames, or a quality record and a dead letter."""

from __future__ import annotations

import base64
import itertools
from functools import cache
from typing import Any

import jsonschema_rs
import orjson
import pytest

from counterflow.collectors.agent.envelope import Origin, invalid, refused
from counterflow.collectors.agent.frames import Broken, Framed, Frames
from counterflow.collectors.records import Reason, Record, Reject, Table
from counterflow.schemas.definition import datasets
from counterflow.schemas.frame import MOST_ROWS, Malformed, contract, piece, rows
from tests.support.json_schema import message_schema, validator

ORIGIN = Origin("/in/a.nmon", "nmon", None, "base")


def disk(**fields: Any) -> dict[str, Any]:
    row = {"ts": "2026-11-20T10:00:00Z", "interval_s": 1.0, "system": "lpar1", "source": "nmon"}
    return {**row, "disk": "sda", "device_type": "disk", "leaf": True, **fields}


@cache
def message_validator(dataset: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(message_schema(datasets()[dataset]), validate_formats=True)


def framed(
    *records: Record | Table, run: str | None = None, seq: int = 0
) -> tuple[list[dict[str, Any]], list[Broken[int]]]:
    """Return the frames of records and tables, which are numbered by their places, and the broken records."""
    frames: Frames[int] = Frames("agent-1")
    frames.clear(seq)
    frames.collected_at = "2026-11-20T10:00:02.125Z"
    found = [one for number, record in enumerate(records) for one in frames.add(record, run, number)]
    found += frames.drain()
    messages = [one for one in found if isinstance(one, Framed)]
    bodies = [orjson.loads(one.message.value) for one in messages]
    for one, body in zip(messages, bodies, strict=True):
        assert (one.message.topic, one.message.key) == (datasets()[one.dataset].topic, body["system"].encode())
        assert contract(one.dataset).rows(body) == one.rows
        message_validator(one.dataset).validate(body)
        for row in itertools.islice(rows(body, contract(one.dataset).columns), 100):
            validator(datasets()[one.dataset]).validate(row)
    return bodies, [one for one in found if isinstance(one, Broken)]


def test_rows_of_one_instant_share_a_frame_and_are_numbered_over_all_datasets() -> None:
    pool = {"ts": "2026-11-20T10:00:00Z", "system": "lpar1", "source": "nmon", "pool": "memory"}
    sda, sdb = Record("disk", disk(reads=2.0)), Record("disk", disk(disk="sdb", writes=1))
    (first, second), broken = framed(sda, Record("pool", pool), sdb, run="base", seq=41)
    assert not broken
    assert first == {
        "ts": "2026-11-20T10:00:00Z", "interval_s": 1.0, "system": "lpar1", "source": "nmon",
        "agent_id": "agent-1", "collected_at": "2026-11-20T10:00:02.125Z", "run": "base", "seq": 42, "frame_rows": 2,
        "disk": ["sda", "sdb"], "device_type": ["disk", "disk"], "leaf": [True, True],
        "reads": [2.0, None], "writes": [None, 1],
    }  # fmt: skip
    assert (second["seq"], second["frame_rows"], second["pool"]) == (44, 1, ["memory"])
    assert [row["seq"] for row in rows(first, contract("disk").columns)] == [42, 43]


def test_rows_of_other_instants_intervals_or_runs_of_the_recorder_have_frames_of_their_own() -> None:
    others = [{}, {"ts": "2026-11-20T10:00:01Z"}, {"interval_s": 2.0}, {"boot_id": "b"}, {"system": "lpar2"}]
    found, _ = framed(*(Record("disk", disk(**other)) for other in others))
    assert [frame["frame_rows"] for frame in found] == [1] * len(others)


def test_a_row_that_repeats_an_entity_goes_into_a_frame_behind() -> None:
    found, _ = framed(*(Record("disk", disk(disk=name, reads=n)) for n, name in enumerate(("a", "b", "a", "a"))))
    assert [(frame["disk"], frame["reads"], frame["seq"]) for frame in found] == [
        (["a", "b"], [0, 1], 1), (["a"], [2], 3), (["a"], [3], 4),
    ]  # fmt: skip


def test_what_waits_is_bounded_in_groups_and_in_rows() -> None:
    frames: Frames[None] = Frames("agent-1")
    found: list[Framed[None] | Broken[None]] = []
    added = 0
    for number in range(200):
        for name in range(1 if number < 100 else 1_000):
            ts = f"2026-11-20T{number // 60:02}:{number % 60:02}:00Z"
            found += frames.add(Record("disk", disk(ts=ts, disk=f"d{name}")), None, None)
            added += 1
        assert added - sum(one.rows for one in found if isinstance(one, Framed)) <= 30_000
        assert number + 1 - len(found) <= 64
    found += frames.drain()
    assert [one.rows for one in found if isinstance(one, Framed)] == [1] * 100 + [
        1_000
    ] * 100  # the oldest first, whole


@pytest.mark.parametrize("order", [1, -1])
def test_a_large_interval_is_cut_by_entity_whatever_the_order_of_its_rows(order: int) -> None:
    names = [f"hdisk{number:05}" for number in range(2 * MOST_ROWS + 1)][::order]
    found, _ = framed(*(Record("disk", disk(disk=name)) for name in names))
    assert [(frame["part"], frame["parts"]) for frame in found] == [(1, 3), (2, 3), (3, 3)]
    assert [frame["seq"] for frame in found] == [1, 3334, 6668]
    assert [name for frame in found for name in frame["disk"]] == sorted(names)


def test_an_interval_of_long_rows_is_cut_by_bytes() -> None:
    text = "x" * 300_000
    found, broken = framed(*(Record("disk", disk(disk=f"{number}{text}")) for number in range(8)))
    assert not broken
    assert {frame["parts"] for frame in found} == {3}
    assert [frame["frame_rows"] for frame in found] == [2, 3, 3]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        (disk(reads="2"), "reads: "),
        (disk(bussy=1.0), "bussy"),
        (disk(disk="\udcff"), "surrogates"),
        (disk(reads=2**70), "64-bit"),
        (disk(disk="x" * 2**20), "longest message"),
    ],
)
def test_a_row_that_breaks_its_schema_is_refused_and_the_frame_goes_on_without_it(
    fields: dict[str, Any], why: str
) -> None:
    good = [Record("disk", disk(disk="sdb")), Record("disk", disk(disk="sdc"))]
    found, (broken,) = framed(good[0], Record("disk", fields), good[1])
    assert why in broken.why
    assert broken.place == 1
    assert broken.record.fields == {name: value for name, value in fields.items() if value is not None}
    assert [name for frame in found for name in frame["disk"]] == ["sdb", "sdc"]
    assert found[-1]["seq"] + found[-1]["frame_rows"] - 1 == 2  # it is not numbered
    place = Reject(Reason.SCHEMA, "", "none", line=7, byte_offset=99)
    published = {record.dataset: publishable(record) for record in invalid(broken.record, broken.why, place, ORIGIN)}
    assert published["quality"]["reason"] == published["deadletter"]["reason"] == "schema"
    assert published["deadletter"]["stage"] == "validate"
    assert published["deadletter"]["origin"].rpartition(".")[0] == "/in/a.nmon:7"
    assert b'"disk"' in base64.b64decode(published["deadletter"]["payload_base64"])


def table(**columns: Any) -> Table:
    """Return the columns of disks, at the instant of `disk`."""
    shared = {name: value for name, value in disk().items() if name not in ("disk", "device_type", "leaf")}
    count = len(columns["disk"])
    return Table("disk", shared, {"device_type": ("disk",) * count, "leaf": (True,) * count, **columns})


NAMES = tuple(f"hdisk{number:05}" for number in range(2 * MOST_ROWS + 1))


@pytest.mark.parametrize(
    "columns",
    [
        {"disk": ("a", "b"), "reads": [1.0, None], "writes": [None, None]},
        {"disk": ["a", "b", "a", "a"], "reads": [0, 1, 2, 3]},
        {"disk": NAMES[::-1], "reads": [*range(len(NAMES))]},
        {"disk": ["a", "b", "c"], "reads": [1.0, float("nan"), 2.0]},
        {"disk": ["a", "b", "c"], "reads": [1e308, 1e308, 1e308]},
        {"disk": ["a", "b", "c"], "reads": [1.0, True, 2.0]},
        {"disk": ["a", "b"], "reads": [2**70, 1]},
        {"disk": ("a", "\udcff")},
        {"disk": ("a", "b", "c"), "device_type": ("disk", "tape", "disk")},
        {"disk": ("a", "b", "c"), "leaf": (True, None, False)},
        {"disk": ("a", "b"), "bussy": [1.0, None]},
        {"disk": ("a", None), "reads": [1.0, 2.0]},
        {"disk": (None, None), "reads": [1.0, 2.0]},
    ],
)
def test_a_table_gives_what_its_rows_give_singly(columns: dict[str, Any]) -> None:
    whole = table(**columns)
    (found, broken), (singly, broken_singly) = framed(whole), framed(*whole.records())
    assert found == singly
    assert [(one.record, one.why) for one in broken] == [(one.record, one.why) for one in broken_singly]
    assert {one.place for one in broken} <= {0}


def test_a_table_does_not_wait_and_rows_of_its_instant_have_a_frame_of_their_own() -> None:
    frames: Frames[int] = Frames("agent-1")
    numbered = []
    for number, item in enumerate((Record("disk", disk(disk="c")), table(disk=("a", "b")), table(disk=("d",)))):
        found = frames.add(item, None, number)
        numbered += [(orjson.loads(one.message.value), one.place) for one in found if isinstance(one, Framed)]
    assert [(frame["disk"], frame["seq"], place) for frame, place in numbered] == [(["a", "b"], 1, 1), (["d"], 3, 2)]
    (last,) = frames.drain()
    assert isinstance(last, Framed)
    assert (orjson.loads(last.message.value)["disk"], last.place, frames.seq) == (["c"], 0, 4)


def test_columns_of_unequal_length_are_no_table() -> None:
    with pytest.raises(ValueError, match="not equally long"):
        table(disk=("a", "b"), reads=[1.0])


def test_rows_without_a_system_or_of_what_agents_do_not_publish_are_refused() -> None:
    for dataset, fields, why in (
        ("disk", disk(system=None), "system: "),
        ("disk", disk(system=["lpar1"]), "a member of the envelope is no scalar"),
        ("nothing", disk(), "no dataset `nothing` is published by agents"),
        ("verdict", disk(), "no dataset `verdict` is published by agents"),
    ):
        _, (broken,) = framed(Record(dataset, fields))
        assert why in broken.why


SHAPED = {"agent_id": "a", "seq": 1, "system": "s", "source": "x", "ts": "t", "collected_at": "t"}


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ({"disk": ["a"]}, "frame_rows"),
        ({"disk": ["a"], "frame_rows": 0}, "frame_rows"),
        ({"disk": ["a"], "frame_rows": 1_000_000}, "frame_rows"),
        ({"disk": ["a"], "frame_rows": True}, "frame_rows"),
        ({"disk": ["a", "b"], "frame_rows": 1}, "unequal_columns"),
        ({"disk": "a", "frame_rows": 1}, "not_an_array"),
        ({"frame_rows": 1}, "missing_column"),
        ({"disk": ["a", None], "frame_rows": 2}, "missing_column"),
        ({"disk": ["a", "a"], "frame_rows": 2}, "repeated_entity"),
        ({"disk": ["a", ["b"]], "frame_rows": 2}, "not_a_scalar"),
        ({"disk": ["a"], "frame_rows": 1, "colour": ["red"]}, "unknown_column"),
        ({"disk": ["a"], "frame_rows": 1, "system": ["s"]}, "not_a_scalar"),
        *(({"disk": ["a"], "frame_rows": 1, name: None}, "missing_column") for name in SHAPED),
        *(({"disk": ["a"], "frame_rows": 1, "seq": seq}, "seq") for seq in (7.0, "7", True)),
    ],
)
def test_a_malformed_frame_is_refused_for_its_reason(frame: dict[str, Any], reason: str) -> None:
    count = frame.get("frame_rows", 1)
    count = count if count == 2 else 1
    others = {"device_type": ["disk"] * count, "leaf": [True] * count}
    with pytest.raises(Malformed) as raised:
        contract("disk").rows({**SHAPED, **others, **frame})
    assert raised.value.reason == reason


def test_a_piece_of_a_frame_is_a_frame_whose_rows_keep_their_numbers() -> None:
    (frame,), _ = framed(*(Record("disk", disk(disk=name, reads=n)) for n, name in enumerate("abcde")), seq=10)
    columns = contract("disk").columns
    cut = piece(frame, 2, 4, columns)
    assert contract("disk").rows(cut) == 2
    assert list(rows(cut, columns)) == list(rows(frame, columns))[2:4]


def test_a_reject_is_a_quality_record_and_its_bytes_a_dead_letter() -> None:
    reject = Reject(Reason.FIELD_COUNT, "9 fields, 8 expected", "none", 12, 345, "DISKREAD", "T0001", raw=b"x" * 70_000)
    quality, dead = (publishable(record) for record in refused(reject, ORIGIN))
    expected = {"file": "/in/a.nmon", "line": 12, "byte_offset": 345, "section": "DISKREAD", "snapshot": "T0001"}
    assert expected.items() <= quality.items()
    assert (quality["reason"], quality["kept"], quality["system"]) == ("field_count", "none", "unknown")
    assert quality["ts"] == quality["collected_at"]
    assert (dead["stage"], dead["origin"], dead["payload_bytes"]) == ("parse", "/in/a.nmon:12", 70_000)
    assert len(base64.b64decode(dead["payload_base64"])) == 65_536


def test_what_was_only_noted_leaves_no_dead_letter() -> None:
    reject = Reject(Reason.CLOCK_CHANGE, "one hour back", "all", 3, ts="2026-11-20T10:00:00Z", system="lpar1")
    (record,) = refused(reject, ORIGIN)
    row = publishable(record)
    assert (row["dataset"], row["ts"], row["system"]) == ("quality", "2026-11-20T10:00:00Z", "lpar1")


def publishable(record: Record) -> dict[str, Any]:
    """Return the row as its frame has it."""
    (frame,), _ = framed(record)
    (row,) = rows(frame, contract(record.dataset).columns)
    return {**row, "dataset": record.dataset}

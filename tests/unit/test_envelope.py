"""What a format yields becomes a numbered, checked message, or a quality record and a dead letter."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from counterflow.collectors.agent.envelope import Envelope, Origin, Refused, invalid, refused
from counterflow.collectors.records import Reason, Record, Reject
from counterflow.schemas.definition import datasets
from counterflow.schemas.json_schema import validator

ORIGIN = Origin("/in/a.nmon", "nmon", None, "base")


def disk(**fields: Any) -> dict[str, Any]:
    row = {"ts": "2026-11-20T10:00:00Z", "interval_s": 1.0, "system": "lpar1", "source": "nmon"}
    return {**row, "disk": "sda", "device_type": "disk", "leaf": True, **fields}


def test_records_are_numbered_over_all_datasets_and_stamped() -> None:
    envelope = Envelope("agent-1")
    envelope.seq = 41
    envelope.collected_at = "2026-11-20T10:00:02.125Z"
    first = envelope.encode("disk", disk(reads=2.0), "base")
    pool = {"ts": "2026-11-20T10:00:00Z", "system": "lpar1", "source": "nmon", "pool": "memory"}
    second = envelope.encode("pool", pool, None)
    assert (first.topic, first.key) == ("counterflow.disk.v1", b"lpar1")
    assert orjson.loads(first.value) == disk(
        reads=2.0, agent_id="agent-1", seq=42, collected_at="2026-11-20T10:00:02.125Z", run="base"
    )
    assert orjson.loads(second.value)["seq"] == 43
    assert "run" not in orjson.loads(second.value)


@pytest.mark.parametrize(
    ("dataset", "fields", "why"),
    [
        ("disk", disk(reads="2"), "reads: "),
        ("disk", disk(reads=float("nan")), "reads: "),
        ("disk", disk(bussy=1.0), "bussy"),
        ("disk", disk(system=None), "system: "),
        ("disk", disk(disk="\udcff"), "surrogates"),
        ("disk", disk(reads=2**70), "64-bit"),
        ("disk", disk(disk="x" * 2**20), "longest message"),
        ("nothing", disk(), "no dataset `nothing`"),
        ("verdict", disk(), "no dataset `verdict`"),
    ],
)
def test_what_breaks_its_schema_is_refused_and_not_numbered(dataset: str, fields: dict[str, Any], why: str) -> None:
    envelope = Envelope("agent-1")
    with pytest.raises(Refused, match=why) as raised:
        envelope.encode(dataset, fields, None)
    assert envelope.seq == 0
    place = Reject(Reason.SCHEMA, "", "none", line=7, byte_offset=99)
    told = list(invalid(Record(dataset, fields), str(raised.value), place, ORIGIN))
    rows = {record.dataset: publishable(envelope, record) for record in told}
    assert rows["quality"]["reason"] == rows["deadletter"]["reason"] == "schema"
    assert rows["deadletter"]["stage"] == "validate"
    assert rows["deadletter"]["origin"] == "/in/a.nmon:7"
    kept = base64.b64decode(rows["deadletter"]["payload_base64"])
    assert b'"seq"' not in kept
    assert b'"disk"' in kept


def test_a_reject_is_a_quality_record_and_its_bytes_a_dead_letter() -> None:
    envelope = Envelope("agent-1")
    reject = Reject(Reason.FIELD_COUNT, "9 fields, 8 expected", "none", 12, 345, "DISKREAD", "T0001", raw=b"x" * 70_000)
    quality, dead = (publishable(envelope, record) for record in refused(reject, ORIGIN))
    expected = {"file": "/in/a.nmon", "line": 12, "byte_offset": 345, "section": "DISKREAD", "snapshot": "T0001"}
    assert expected.items() <= quality.items()
    assert (quality["reason"], quality["kept"], quality["system"]) == ("field_count", "none", "unknown")
    assert quality["ts"] == quality["collected_at"]
    assert (dead["stage"], dead["origin"], dead["payload_bytes"]) == ("parse", "/in/a.nmon:12", 70_000)
    assert len(base64.b64decode(dead["payload_base64"])) == 65_536


def test_what_was_only_noted_leaves_no_dead_letter() -> None:
    reject = Reject(Reason.CLOCK_CHANGE, "one hour back", "all", 3, ts="2026-11-20T10:00:00Z", system="lpar1")
    (record,) = refused(reject, ORIGIN)
    row = publishable(Envelope("agent-1"), record)
    assert (row["dataset"], row["ts"], row["system"]) == ("quality", "2026-11-20T10:00:00Z", "lpar1")


def publishable(envelope: Envelope, record: Record) -> dict[str, Any]:
    """The row as Kafka gets it."""
    row = orjson.loads(envelope.encode(record.dataset, record.fields, None).value)
    validator(datasets()[record.dataset]).validate(row)
    return {**row, "dataset": record.dataset}

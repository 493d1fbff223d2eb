"""From what a format yields to what Kafka carries: envelope added, schema checked, encoded. Pure but for the clock.

What cannot be published as it is becomes a `quality` record, with its bytes in a `deadletter` record beside it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson

from counterflow.collectors.records import Fields, Reason, Record, Reject
from counterflow.collectors.sources.files import unicode
from counterflow.schemas.definition import datasets
from counterflow.schemas.json_schema import validator

KEPT_BYTES = 65_536
LONGEST_BYTES = 2**20


class Message(NamedTuple):
    """What is produced."""

    topic: str
    key: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class Origin:
    """Where items come from: the file as text, its format, and its configuration."""

    file: str
    format: str = "agent"
    system: str | None = None
    run: str | None = None


class Refused(Exception):  # noqa: N818 - not an error of the program
    """A record breaks its dataset's definition; the text gives the reason."""


def utc_now() -> str:
    """Return the time as records carry it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


class Envelope:
    """Numbers, stamps, checks and encodes the records of one agent.

    `seq` is that of the last record; `collected_at` is set by whoever knows when bytes were read.
    """

    def __init__(self, agent_id: str) -> None:
        """Compile the schemas of what agents publish."""
        self.agent_id = agent_id
        self.seq = 0
        self.collected_at = utc_now()
        counters = [d for d in datasets().values() if d.role == "counter"]
        self._validators = {d.dataset: validator(d) for d in counters}
        self._checks: dict[str, tuple[str, Callable[[Any], bool]]] = {
            d.dataset: (d.topic, self._validators[d.dataset].is_valid) for d in counters
        }
        self._keys: dict[str, bytes] = {}

    def encode(self, dataset: str, fields: Fields, run: str | None) -> Message:
        """Return the message of a record and give it the next `seq`; `fields` is completed.

        Raises
        ------
        Refused : the record breaks its schema; it is not numbered.
        """
        fields["agent_id"] = self.agent_id
        fields["seq"] = self.seq + 1
        fields["collected_at"] = self.collected_at
        if run is not None:
            fields["run"] = run
        if "ts" not in fields:
            fields["ts"] = self.collected_at
        try:
            topic, is_valid = self._checks[dataset]
        except KeyError:
            raise Refused(f"no dataset `{dataset}` is published by agents") from None
        if not is_valid(fields):
            raise Refused(self._why(dataset, fields))
        try:
            value = orjson.dumps(fields)
        except orjson.JSONEncodeError as error:  # text that is not Unicode
            raise Refused(str(error)) from None
        if len(value) > LONGEST_BYTES:
            raise Refused(f"{len(value)} bytes; the longest message is {LONGEST_BYTES}")
        system = fields["system"]
        key = self._keys.get(system)
        if key is None:
            key = self._keys[system] = system.encode()
        self.seq += 1
        return Message(topic, key, value)

    def _why(self, dataset: str, fields: Fields) -> str:
        errors = self._validators[dataset].iter_errors(fields)
        return "; ".join(f"{'.'.join(map(str, e.instance_path)) or 'record'}: {e.message}" for e in errors)[:4096]


def refused(reject: Reject, origin: Origin) -> Iterator[Record]:
    """Yield the records that report a reject of a format and keep its bytes."""
    place = _envelope(reject.ts, reject.system, origin)
    yield _quality(place, reject, origin)
    if reject.raw:
        yield _deadletter(place, "parse", reject.reason, reject.detail, reject, origin)


def invalid(record: Record, why: str, place: Reject, origin: Origin) -> Iterator[Record]:
    """Yield the records that report that `record` breaks its schema, and keep it; `place` is where its file stood."""
    fields = {k: v for k, v in record.fields.items() if k not in ("agent_id", "seq", "collected_at", "run")}
    place.raw = json.dumps(fields, default=repr).encode()
    place.detail = f"a record of `{record.dataset}` breaks its schema: {why}"
    system = record.fields.get("system")
    stamps = _envelope(None, system if isinstance(system, str) else None, origin)
    yield _quality(stamps, place, origin)
    yield _deadletter(stamps, "validate", Reason.SCHEMA, place.detail, place, origin)


def _envelope(ts: str | None, system: str | None, origin: Origin) -> Fields:
    found = {"system": unicode(system or origin.system or "unknown"), "source": origin.format}
    return {**found, "ts": ts} if ts else found


def _quality(place: Fields, reject: Reject, origin: Origin) -> Record:
    fields = {
        **place,
        "file": origin.file,
        "line": reject.line,
        "byte_offset": reject.byte_offset,
        "reason": reject.reason.value,
        "kept": reject.kept,
        "detail": unicode(reject.detail),
    }
    optional = {"section": reject.section, "snapshot": reject.snapshot}
    fields |= {name: unicode(value) for name, value in optional.items() if value is not None}
    return Record("quality", fields)


def _deadletter(place: Fields, stage: str, reason: Reason, error: str, at: Reject, origin: Origin) -> Record:
    fields = {
        **place,
        "stage": stage,
        "origin": f"{origin.file}:{at.line}",
        "byte_offset": at.byte_offset,
        "reason": reason.value,
        "error": unicode(error),
        "payload_base64": base64.b64encode(at.raw[:KEPT_BYTES]).decode(),
        "payload_bytes": len(at.raw),
    }
    return Record("deadletter", fields)

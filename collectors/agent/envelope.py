"""The envelope of an agent's records: their origin, and the records that report refused input.

Input that cannot be published as it is becomes a `quality` record, with its bytes in a `deadletter` record beside it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from counterflow.collectors.records import Fields, Reason, Record, Reject
from counterflow.collectors.sources.files import unicode

KEPT_BYTES = 65_536


class Message(NamedTuple):
    """A Kafka message to be produced."""

    topic: str
    key: bytes
    value: bytes


@dataclass(frozen=True, slots=True)
class Origin:
    """Where items come from: the file as text, its format, and the configured system and run."""

    file: str
    format: str = "agent"
    system: str | None = None
    run: str | None = None


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def refused(reject: Reject, origin: Origin) -> Iterator[Record]:
    """Yield the records that report a reject of a format and keep its bytes."""
    place = _envelope(reject.ts, reject.system, origin)
    yield _quality(place, reject, origin)
    if reject.raw:
        yield _deadletter(place, "parse", reject.reason, reject.detail, reject, origin)


def invalid(record: Record, why: str, place: Reject, origin: Origin) -> Iterator[Record]:
    """Yield the records that report that `record` breaks its schema, and keep it; `place` is where its file stood.

    Many records are of one place, so a digest tells them apart.
    """
    fields = {k: v for k, v in record.fields.items() if k not in ("agent_id", "seq", "collected_at", "run")}
    place.raw = json.dumps(fields, default=repr).encode()
    digest = hashlib.blake2b(place.raw, digest_size=6).hexdigest()
    place.detail = f"a record of `{record.dataset}` ({digest}) breaks its schema: {why}"
    system = record.fields.get("system")
    stamps = _envelope(None, system if isinstance(system, str) else None, origin)
    yield _quality(stamps, place, origin)
    yield _deadletter(stamps, "validate", Reason.SCHEMA, place.detail, place, origin, f".{digest}")


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


def _deadletter(
    place: Fields, stage: str, reason: Reason, error: str, at: Reject, origin: Origin, behind: str = ""
) -> Record:
    fields = {
        **place,
        "stage": stage,
        "origin": f"{origin.file}:{at.line}{behind}",
        "byte_offset": at.byte_offset,
        "reason": reason.value,
        "error": unicode(error),
        "payload_base64": base64.b64encode(at.raw[:KEPT_BYTES]).decode(),
        "payload_bytes": len(at.raw),
    }
    return Record("deadletter", fields)

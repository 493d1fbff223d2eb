"""What `bundle` packs: files as text, what formats read from them, and whether two readings have the same figures."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from counterflow.base.errors import why
from counterflow.collectors.advice import advice
from counterflow.collectors.reading import Faults, contained, name_within
from counterflow.collectors.records import Context, Record, Reject, Single, singly
from counterflow.collectors.sources.wrapped import contents
from counterflow.collectors.text.codepages import codec_of

_MOST_BYTES = 256 << 20


class BundledFile(NamedTuple):
    """A file, or a member of a packed one: its name, its text and the codecs of its lines, or the one of all.

    `fault` is why it was not unpacked as a whole.
    """

    name: str
    text: str
    codecs: tuple[str, ...]
    fault: str | None = None

    @property
    def content(self) -> bytes:
        """The bytes of the text, each line in its own codec."""
        if len(self.codecs) == 1:
            return self.text.encode(self.codecs[0])
        lines = zip(self.text.split("\n"), self.codecs, strict=True)
        return b"\n".join(line.encode(codec) for line, codec in lines)


class Refused(NamedTuple):
    """A file that cannot be packed, and the reason."""

    name: str
    why: str


def why_unread(items: Sequence[Single]) -> str | None:
    """Return why a file has no readable measurement, so that its names are not known; None where it has one."""
    faults = Faults()
    for item in items:
        if isinstance(item, Reject):
            faults.add(item)
    line, reason = faults.why({item.dataset for item in items if isinstance(item, Record)}) or (0, None)
    return f"line {line}: {reason}" if line else reason


def readable(path: Path) -> Iterator[BundledFile | Refused]:
    """Yield the file, or each within it."""
    try:
        with path.open("rb") as raw:
            for member, stream, fault in contents(raw):
                name = name_within(path, member)
                if stream is None:
                    yield Refused(name, fault.detail if fault else "it cannot be unpacked")
                    continue
                with stream:
                    stream.seek(0)
                    found = _text(name, stream.read(_MOST_BYTES + 1))
                yield (
                    found._replace(fault=fault.detail)
                    if fault is not None and isinstance(found, BundledFile)
                    else found
                )
    except OSError as error:
        yield Refused(str(path), why(error))


def _text(name: str, content: bytes) -> BundledFile | Refused:
    head = content[:65_536]
    if len(content) > _MOST_BYTES:
        return Refused(name, f"it has more than {_MOST_BYTES >> 20} MiB: send an hour of it")
    if b"\0" in head or sum(byte >= 0x80 for byte in head) > len(head) / 4:
        return Refused(name, f"it is not text, so its names cannot be found: {advice(head)}")
    try:
        return BundledFile(name, content.decode(), ("utf-8",))
    except UnicodeDecodeError:
        lines = content.split(b"\n")
        codecs = tuple(map(codec_of, lines))
        return BundledFile(name, "\n".join(map(bytes.decode, lines, codecs)), codecs)


def read_items(
    file: BundledFile, zone: ZoneInfo, system: str | None, date_order: str | None, at: datetime | None
) -> Iterator[Single]:
    """Yield what the format of a file yields, each record alone."""
    context = Context(file.name, zone, system, date_order=date_order, at=at)
    yield from singly(contained(io.BytesIO(file.content), context).items)


def figures_of(items: Sequence[Single]) -> list[tuple[Any, ...]]:
    """Return what replaced names must not change: datasets, times and numbers of records, and reasons of rejects."""
    found: list[tuple[Any, ...]] = []
    for item in items:
        if isinstance(item, Record):
            numbers = tuple(value for value in item.fields.values() if not isinstance(value, str))
            found.append((item.dataset, item.fields.get("ts"), *numbers))
        elif isinstance(item, Reject):
            found.append((f"anomaly {item.reason.value}", item.ts, item.line))
    return found


def first_difference(before: list[tuple[Any, ...]], after: list[tuple[Any, ...]]) -> str:
    """Return the first of two readings' figures that differs, in words."""
    for number, (old, new) in enumerate(zip(before, after, strict=False), 1):
        if old != new:
            place = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
            return f"{old[0]} {old[1]} (item {number}) had {old[place:][:1]}, now {new[0]} {new[place:][:1]}"
    return f"{len(before):,} items were read, now {len(after):,}"

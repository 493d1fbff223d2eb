"""The site's own file: ceilings, ports, prices, runs and batches in YAML, each with the time from which it holds.

It is read as a whole. The time is part of a row's key, so a file that was changed and is published again adds rows and
repeats those that did not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from typing import BinaryIO

from counterflow.collectors.formats.site.entries import (
    LISTS,
    PATHS,
    Ceiling,
    Change,
    Entry,
    Place,
    Price,
    Setting,
    number,
)
from counterflow.collectors.formats.site.reading import LONGEST_BYTES, Reading, read
from counterflow.collectors.records import Context, Item, Position, Record
from counterflow.collectors.text.stamps import iso

SOURCE = "site"

_SITE = re.compile(rb"^(?:\xef\xbb\xbf)?site[ \t]*:", re.MULTILINE)
_LIST = re.compile(rf"^({'|'.join(LISTS)})[ \t]*:".encode(), re.MULTILINE)


def recognises(head: bytes) -> bool:
    """Return whether `site` and one of the lists are keys at the top of `head`."""
    return bool(_SITE.search(head) and _LIST.search(head))


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield every mistake and every row of the file; a file that has grown since `position` is read anew."""
    stream.seek(0)
    data, size, lines = b"", 0, 0
    while block := stream.read(LONGEST_BYTES):
        data += block[: LONGEST_BYTES + 1 - len(data)]  # one byte above the limit shows that there is more
        size, lines = size + len(block), lines + block.count(b"\n")
    if not context.complete or (position and position.byte_offset == size):
        return
    reading = read(data, size)
    settings = list(_settings(reading, context.system or reading.site))
    yield from reading.rejects
    for setting in settings:
        fields = {**setting._asdict(), "ts": iso(setting.ts), "source": SOURCE}
        yield Record("config", fields)
    yield Position(size, lines)


def _settings(reading: Reading, site: str | None) -> Iterator[Setting]:
    """Yield the settings that become rows; an entry without its counterpart is refused."""
    entries = [written.entry for written in reading.entries]
    places = [entry for entry in entries if isinstance(entry, Place)]
    yield from _ceilings(entries, places)
    used = {(name, place.cec, place.storage) for place in places for name in place.subsystems}
    for entry, node in reading.entries:
        if isinstance(entry, Ceiling) and (entry.subsystem, entry.cec, entry.storage) not in used:
            what = f"{entry.subsystem} with cec `{entry.cec}` and storage `{entry.storage}`"
            reading.refuse(f"log_ceilings: no entry of `systems` has {what}", node, section="log_ceilings")
        elif isinstance(entry, Price) and not site:
            reading.refuse("prices: kept under the name of the site; give `site: NAME`", node, section="prices")
        else:
            yield from entry.settings(site or "")


def _ceilings(entries: list[Entry], places: list[Place]) -> Iterator[Setting]:
    """Yield the ceiling that holds for a log at every time that is written down for a path, in order of time.

    It is that of the machine and storage then in use. Times without a change are included: a lookup of the newest row
    before a time is then right even if another edition of the file had something else for that time. A machine or
    storage without a ceiling of its own has none, whatever the one before it had.
    """
    for system, subsystem in dict.fromkeys((p.system, name) for p in places for name in p.subsystems):
        own = sorted((p for p in places if p.system == system and subsystem in p.subsystems), key=attrgetter("since"))
        begun = [e for e in entries if isinstance(e, Change) and system in e.systems]
        for path in PATHS:
            of_path = (e for e in entries if isinstance(e, Ceiling) and (e.subsystem, e.path) == (subsystem, path))
            measured = sorted(of_path, key=attrgetter("since"))
            for since in sorted({e.since for e in (*own, *measured, *begun) if e.since >= own[0].since}):
                used = next(p for p in reversed(own) if p.since <= since)
                found = (
                    c.ceiling_mb_s
                    for c in reversed(measured)
                    if c.since <= since and (c.cec, c.storage) == (used.cec, used.storage)
                )
                known = next(found, None)
                values = {
                    "ceiling_mb_s": "" if known is None else number(known),
                    "cec": used.cec,
                    "storage": used.storage,
                }
                for name, value in values.items():
                    yield Setting(system, "log_ceiling", f"{subsystem}/{path}", name, since, value)

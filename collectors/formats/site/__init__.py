"""The site's own file: ceilings, ports, prices, runs and batches in YAML, each with the time from which it holds.

It is read as a whole. The time is part of a row's key, so a file that was changed and is published again adds rows and
repeats those that did not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from counterflow.collectors.formats.site.ceilings import resolve
from counterflow.collectors.formats.site.entries import LISTS, Ceiling, Change, Place, Price, Setting, number, utc
from counterflow.collectors.formats.site.reading import LONGEST_BYTES, Reading, read
from counterflow.collectors.records import Context, Item, Position, Record

_SITE = re.compile(rb"^(?:\xef\xbb\xbf)?site[ \t]*:", re.MULTILINE)
_LIST = re.compile(rf"^({'|'.join(LISTS)})[ \t]*:".encode(), re.MULTILINE)


class Site:
    """The configuration of a site; see README.md."""

    name = "site"

    def recognises(self, head: bytes) -> bool:
        """Return whether `site` and one of the lists are keys at the top of `head`."""
        return bool(_SITE.search(head) and _LIST.search(head))

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
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
            fields = {**setting._asdict(), "ts": utc(setting.ts), "source": self.name}
            yield Record("config", fields)
        yield Position(size, lines)


def _settings(reading: Reading, site: str | None) -> Iterator[Setting]:
    """Yield the settings that become rows; an entry without its counterpart is refused."""
    places = [w.entry for w in reading.entries if isinstance(w.entry, Place)]
    ceilings = [w.entry for w in reading.entries if isinstance(w.entry, Ceiling)]
    changes = [w.entry for w in reading.entries if isinstance(w.entry, Change)]
    for held in resolve(places, ceilings, changes):
        item = f"{held.subsystem}/{held.path}"
        ceiling = "" if held.ceiling_mb_s is None else number(held.ceiling_mb_s)
        for name, value in (("ceiling_mb_s", ceiling), ("cec", held.cec), ("storage", held.storage)):
            yield Setting(held.system, "log_ceiling", item, name, held.since, value)
    used = {(name, place.cec, place.storage) for place in places for name in place.subsystems}
    for entry, node in reading.entries:
        if isinstance(entry, Ceiling) and (entry.subsystem, entry.cec, entry.storage) not in used:
            what = f"{entry.subsystem} with cec `{entry.cec}` and storage `{entry.storage}`"
            reading.refuse(f"log_ceilings: no entry of `systems` has {what}", node, section="log_ceilings")
        elif isinstance(entry, Price) and not site:
            reading.refuse("prices: kept under the name of the site; give `site: NAME`", node, section="prices")
        else:
            yield from entry.settings(site or "")


FORMAT = Site()

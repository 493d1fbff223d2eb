"""The options that files need, found from the beginnings of the files before anything of them is published."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path
from typing import BinaryIO, NamedTuple

from counterflow.collectors.formats import recognise
from counterflow.collectors.plausible import Plausible
from counterflow.collectors.reading import HEAD_BYTES, OPTION, read_with
from counterflow.collectors.records import Context, Record, Reject, singly
from counterflow.collectors.sources.wrapped import contents, wrapping
from counterflow.collectors.text.lines import read_head
from counterflow.collectors.text.stamps import AssumedZone

LOOKED_AT = 8
"""Files of one format that are examined: the files of a folder have one shape."""
MAX_WRAPPED = 16 << 20
"""A larger compressed or packed file is not unpacked."""
MAX_WHOLE = 64 << 20
"""A larger file is not read to its end, for the order of its dates or the first time of a document."""

ZONE_ASSUMED = "times are local and nothing names their zone: read as UTC; --zone names it, as Europe/Berlin"
_ITEMS = 2_000


class Need(NamedTuple):
    """An option that files of a format need: the number of files, an example, and the reason."""

    option: str
    format: str
    files: int
    example: Path
    why: str

    def __str__(self) -> str:
        more = self.files - 1
        others = f" and {more:,} more file{'s' if more > 1 else ''}" if more else ""
        return f"{self.example}{others} ({self.format}): {self.why}"


def needed(
    paths: Iterable[Path],
    zone: tzinfo,
    system: str | None,
    date_order: str | None,
    at: datetime | None = None,
) -> list[Need]:
    """Return the options that the files need, one entry per option and format; `--zone` where `zone` is assumed.

    Files that cannot be read, or that no format recognises, need nothing: the reader reports them.
    """
    files: dict[str, int] = defaultdict(int)
    found: dict[tuple[str, str], tuple[Path, str]] = {}
    for path in paths:
        try:
            with path.open("rb") as raw:
                form = recognise(read_head(raw, HEAD_BYTES))
                if form is not None and files[form.name] >= LOOKED_AT:
                    files[form.name] += 1
                    continue
                for form, content in _contents(raw):
                    files[form.name] += 1
                    context = Context(str(path), zone, system, date_order=date_order, at=at)
                    for option, why in _lacks(form, content, context):
                        found.setdefault((option, form.name), (path, why))
        except OSError:
            continue
    return [Need(option, form, files[form], *what) for (option, form), what in sorted(found.items())]


def _contents(raw: BinaryIO) -> Iterator[tuple[Plausible, BinaryIO]]:
    if wrapping(read_head(raw, HEAD_BYTES)) is not None and raw.seek(0, io.SEEK_END) > MAX_WRAPPED:
        return
    with closing(contents(raw)) as members:
        for member in members:
            if member.stream is None:
                continue
            with member.stream as stream:
                if (form := recognise(read_head(stream, HEAD_BYTES))) is not None:
                    yield form, stream


def _lacks(form: Plausible, content: BinaryIO, context: Context) -> Iterator[tuple[str, str]]:
    """Yield each option that a file needs, and the reason."""
    assumed = AssumedZone.unused(context.zone)
    head = read_head(content, HEAD_BYTES)
    ts, refused = _beginning(form, head, context)
    # a document has no record before its end
    is_open = "--date-order" in refused if refused else assumed is not None and ts is None
    if is_open and len(head) == HEAD_BYTES and content.seek(0, io.SEEK_END) <= MAX_WHOLE:
        head = read_head(content, MAX_WHOLE)
        ts, refused = _beginning(form, head, context)
    if refused and (option := OPTION.search(refused)):
        yield option[0], refused
    if assumed and assumed.used and ts is not None:
        yield "--zone", ZONE_ASSUMED


def _beginning(form: Plausible, head: bytes, context: Context) -> tuple[str | None, str | None]:
    """Return the time of the first record, and the first reject that an option would have avoided."""
    ts = refused = None
    for number, item in enumerate(singly(read_with(form, io.BytesIO(head), context))):
        if isinstance(item, Record):
            ts = ts or item.fields.get("ts")
        elif isinstance(item, Reject) and item.kept == "none" and OPTION.search(item.detail):
            refused = refused or item.detail
        if ts or refused or number > _ITEMS:
            break
    return ts, refused

"""A file on disk read with the format that recognises it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path

from counterflow.collectors.formats import recognise
from counterflow.collectors.records import Context, Item, Reason, Reject

HEAD_BYTES = 65_536


def read_file(path: Path, zone: tzinfo, system: str | None = None) -> Iterator[Item]:
    """Yield what the whole file at `path` holds; local times are of `zone`, `system` overrides the name inside.

    A file that no format recognises yields one `Reject` with its first bytes.

    Raises
    ------
    OSError : the file cannot be opened or read.
    """
    with path.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
        stream.seek(0)
        form = recognise(head)
        if form is None:
            yield unrecognised(head)
            return
        yield from form.parse(stream, Context(str(path), zone, system))


def unrecognised(head: bytes) -> Reject:
    """Return the reject of a file that begins with `head` and that no format knows."""
    if not head:
        return Reject(Reason.EMPTY_FILE, "the file is empty", "none")
    return Reject(Reason.NOT_THIS_FORMAT, "no format recognises the beginning of this file", "none", raw=head)

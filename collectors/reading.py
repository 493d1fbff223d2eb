"""A file on disk read with the format that recognises it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import tzinfo
from pathlib import Path

from counterflow.collectors.advice import advice
from counterflow.collectors.formats import recognise
from counterflow.collectors.records import Context, Item, Neighbour, Reason, Reject

HEAD_BYTES = 65_536


def read_file(path: Path, zone: tzinfo, system: str | None = None, date_order: str | None = None) -> Iterator[Item]:
    """Yield what the whole file at `path` holds; local times are of `zone`, `system` overrides the name inside.

    `date_order` is the order of ambiguous dates (see `Context`).

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
        context = Context(str(path), zone, system, date_order=date_order, beside=beside(path))
        yield from form.parse(stream, context)


def beside(
    path: Path, read_alone: Callable[[Path], bool] = lambda path: False
) -> Callable[[str, str], Neighbour | None]:
    """Return what opens the file whose name has `other` where that of `path` has `own`, in the same letter case.

    It returns None where there is no such file or it cannot be read. `read_alone` returns whether a file was read
    without its neighbour.
    """

    def neighbour(own: str, other: str) -> Neighbour | None:
        found = re.search(re.escape(own), path.name, re.IGNORECASE)
        if found is None:
            return None
        name = other.lower() if found[0].islower() else other
        file = path.with_name(path.name[: found.start()] + name + path.name[found.end() :])
        try:
            return Neighbour(file.open("rb"), read_alone(file))
        except OSError:
            return None

    return neighbour


def unrecognised(head: bytes) -> Reject:
    """Return the reject of a file that begins with `head` and that no format knows."""
    if not head:
        return Reject(Reason.EMPTY_FILE, "the file is empty", "none")
    return Reject(Reason.NOT_THIS_FORMAT, f"not read, this is {advice(head)}", "none", raw=head)

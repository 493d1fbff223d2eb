"""A file on disk read with the format that recognises it."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator, Set
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from counterflow.collectors.formats import recognise
from counterflow.collectors.plausible import Plausible
from counterflow.collectors.records import Context, Item, Neighbour, Position, Reason, Reject, Unfinished
from counterflow.collectors.sources.files import unicode
from counterflow.collectors.sources.wrapped import WITHIN, contents
from counterflow.collectors.text.lines import read_head

HEAD_BYTES = 65_536
OPTION = re.compile(r"--(?:system|date-order|at)\b")
"""An option that a reject names as its remedy."""
_LOSING = (Reason.STAMP_INVALID, Reason.STAMP_MISSING, Reason.CUT_FILE)
"""Where a file with such a reject gives settings alone, its measurements are lost."""


class Contained(NamedTuple):
    """One file within another, or the file itself: its name, the format that recognises it (or None), its items."""

    name: str
    format: str | None
    items: Iterator[Item]


@dataclass(slots=True)
class Faults:
    """The rejects of a file that explain why it gave no figures.

    `first` is the first of all, `avoidable` the first that an option would have avoided, `lost` the first that lost
    figures.
    """

    first: Reject | None = None
    avoidable: Reject | None = None
    lost: Reject | None = None

    def add(self, reject: Reject) -> None:
        """Keep a reject where it explains more than those before it."""
        self.first = self.first or reject
        if self.avoidable is None and reject.kept == "none" and OPTION.search(reject.detail):
            self.avoidable = reject
        self.lost = self.lost or (reject if reject.reason in _LOSING else None)

    def why(self, datasets: Set[str]) -> tuple[int, str] | None:
        """Return the line and the reason where a file that gave these datasets gave no figures, None where it did."""
        if datasets - {"config"} or (datasets and not self.lost):
            return None
        reject = self.lost if datasets else self.avoidable or self.first
        return (0, "no record found") if reject is None else (reject.line, reject.detail)


def read_each(
    path: Path,
    zone: tzinfo,
    system: str | None = None,
    date_order: str | None = None,
    at: datetime | None = None,
    name: str | None = None,
) -> Iterator[Contained]:
    """Yield each file within the one at `path`; `name` is what it is called, by default its path.

    The other parameters are those of a `Context`. A file that no format recognises yields one `Reject` with its first
    bytes, and so does an archive without files. The caller reads all items of one file before it takes the next.

    Raises
    ------
    OSError : the file cannot be opened or read, or its format failed.
    """
    with path.open("rb") as raw:
        empty = True
        for member, stream, fault in contents(raw):
            empty = False
            file = unicode(name_within(name or path, member))
            context = Context(file, zone, system, date_order=date_order, at=at, beside=beside(path, member))
            faults = [fault] if fault else []
            if stream is None:
                yield Contained(file, None, iter(faults))
                continue
            with stream:
                found = contained(stream, context)
                yield found._replace(items=chain(faults, found.items))
        if empty:
            reject = Reject(Reason.EMPTY_FILE, "an archive without files", "none")
            yield Contained(unicode(name or str(path)), None, iter((reject,)))


def contained(stream: BinaryIO, context: Context) -> Contained:
    """Return the content of a file with the format that recognises it; without one, its items are a reject."""
    head = read_head(stream, HEAD_BYTES)
    stream.seek(0)
    form = recognise(head)
    items = iter((unrecognised(head),)) if form is None else read_with(form, stream, context)
    return Contained(context.file, form.name if form else None, items)


def read_with(
    form: Plausible,
    stream: BinaryIO,
    context: Context,
    position: Position | None = None,
    check: Callable[[Position], None] = lambda position: None,
) -> Iterator[Item]:
    """Yield the items of a file behind a position; `check` raises for one that cannot be kept.

    Raises
    ------
    OSError : the file cannot be read, or its format failed, which stops this file only.
    """
    try:
        for item in form.parse(stream, context, position):
            if type(item) is Position:
                check(item)
            yield item
    except OSError as error:
        error.filename = error.filename or context.file
        raise
    except Unfinished:
        raise
    except Exception as error:
        raise OSError(errno.EILSEQ, f"the format {form.name} failed: {error!r}", context.file) from error


def name_within(path: Path | str, member: str) -> str:
    """Return the name of a member of the file at `path`; content that was compressed on its own has the file's name."""
    return f"{path}{WITHIN}{member}" if member else str(path)


def beside(
    path: Path, member: str = "", read_alone: Callable[[Path], bool] = lambda path: False
) -> Callable[[str, str], Neighbour | None]:
    """Return a function that opens the file whose name has `other` where that of `path`, or its `member`, has `own`.

    The letter case of `own` applies to `other`. The function returns None where there is no such file or it cannot be
    read; the neighbour of a member is another member. `read_alone` returns whether a file was read without its
    neighbour.

    Two records of one job with different columns would have one key; a join in Flink would keep a day of jobs in state.
    """
    folder, slash, name = member.rpartition("/") if member else ("", "", path.name)

    def neighbour(own: str, other: str) -> Neighbour | None:
        named = _other(name, own, other)
        if named is None:
            return None
        file = path if member else path.with_name(named)
        try:
            stream = _content(file, f"{folder}{slash}{named}" if member else "")
            return None if stream is None else Neighbour(stream, not member and read_alone(file))
        except OSError:
            return None

    return neighbour


def _content(path: Path, member: str) -> BinaryIO | None:
    """Return one member of a wrapped file, without a name its only content, or the file itself."""
    with path.open("rb") as raw, closing(contents(raw, member.__eq__)) as found:
        for content in found:
            if content.stream is not None and content.member == member:
                return path.open("rb") if content.stream is raw else content.stream
            if content.stream is not None:
                content.stream.close()
    return None


def _other(name: str, own: str, other: str) -> str | None:
    """Return a name with `other` in place of `own`, in the same letter case; None where `own` is not in it."""
    found = re.search(re.escape(own), name, re.IGNORECASE)
    if found is None:
        return None
    return name[: found.start()] + (other.lower() if found[0].islower() else other) + name[found.end() :]


def unrecognised(head: bytes) -> Reject:
    """Return the reject of a file that begins with `head` and that no format recognises."""
    from counterflow.collectors.advice import advice  # its marks take as long as a small file

    if not head:
        return Reject(Reason.EMPTY_FILE, "the file is empty", "none")
    return Reject(Reason.NOT_THIS_FORMAT, f"not read, this is {advice(head)}", "none", raw=head)

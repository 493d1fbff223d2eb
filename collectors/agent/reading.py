"""One reading of one file: parsed from the committed position, and covered by checkpoints on the way."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from zoneinfo import ZoneInfo

import structlog

from counterflow.collectors.agent.checkpoint import Checkpoint
from counterflow.collectors.agent.config import Source
from counterflow.collectors.agent.envelope import Origin
from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.reading import HEAD_BYTES, beside, unrecognised
from counterflow.collectors.records import Context, Format, Item, Position
from counterflow.collectors.sources.files import FileId, fingerprint, unicode, window

log = structlog.get_logger()


@dataclass(slots=True)
class Reading:
    """An open file and how far it is read.

    `known` is its checkpoint, None where it is read from its beginning; `format` is None where no format knows it.
    `position` is the last one that the format yielded, `counted` the one up to which bytes were counted. `covered`:
    nothing was sent behind `position`.
    """

    source: Source
    path: Path
    fd: int
    stat: os.stat_result
    known: Checkpoint | None
    format: Format | None
    position: Position
    counted: Position
    covered: bool = True

    @classmethod
    def begin(cls, source: Source, path: Path, fd: int, stat: os.stat_result, known: Checkpoint | None) -> Reading:
        """Return the reading of an open file behind its checkpoint; one without a format is read anew."""
        known = known if known and known.format else None
        position = known.position if known else Position(0, 0)
        return cls(source, path, fd, stat, known, _format(source, fd, known), position, position)

    @property
    def id(self) -> FileId:
        """Identity of the file."""
        return FileId.of(self.stat)

    @property
    def origin(self) -> Origin:
        """Where the items come from."""
        name = self.format.name if self.format else "agent"
        return Origin(unicode(str(self.path)), name, self.source.system, self.source.run)

    def items(self, complete: bool, read_alone: Callable[[Path], bool]) -> Iterator[Item]:
        """Yield what the format finds behind the known position; `read_alone` is of the files beside this one.

        Raises
        ------
        OSError : the file cannot be read, or the format failed.
        """
        if self.format is None:
            return iter((unrecognised(os.pread(self.fd, HEAD_BYTES, 0)),))
        source = self.source
        context = Context(
            unicode(str(self.path)),
            ZoneInfo(source.zone),
            source.system,
            complete,
            date_order=source.date_order,
            columns=source.columns,
            beside=beside(self.path, read_alone),
        )
        stream = window(self.fd, self.stat.st_size)
        return _parse(self.format, stream, context, self.known.position if self.known else None)

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """Return the checkpoint at `position`; `size` is that of the file where it was read to its end."""
        head = min(HEAD_BYTES, self.stat.st_size)  # a short file may be edited anywhere without a change of its size
        return Checkpoint(
            source=self.source.name,
            path=unicode(str(self.path)),
            device=self.stat.st_dev,
            inode=self.stat.st_ino,
            head_bytes=head,
            fingerprint=fingerprint(self.fd, head, self.position.byte_offset),
            format=self.format.name if self.format else None,
            position=self.position,
            size=size,
            read_at=time.time(),
        )

    def uncounted_bytes(self) -> int:
        """Return the bytes up to `position` that were not counted yet, and count them."""
        before, self.counted = self.counted, self.position
        return max(0, self.position.byte_offset - before.byte_offset)


def resumable(items: Iterator[Item]) -> Iterator[Item]:
    """Hold items back until the `Position` that covers them: those after the last one come again next time."""
    held: list[Item] = []
    for item in items:
        held.append(item)
        if type(item) is Position:
            yield from held
            held.clear()


def _format(source: Source, fd: int, known: Checkpoint | None) -> Format | None:
    if known and known.format:
        return formats().get(known.format)
    if source.format:
        return formats()[source.format]
    return recognise(os.pread(fd, HEAD_BYTES, 0))


def _parse(form: Format, stream: BinaryIO, context: Context, position: Position | None) -> Iterator[Item]:
    """Parse; a format that fails stops this file only, as one that cannot be read does."""
    try:
        yield from form.parse(stream, context, position)
    except OSError as error:
        raise OSError(error.errno, error.strerror, context.file) from error
    except Exception as error:
        log.exception("the format failed", file=context.file, format=form.name)
        raise OSError(errno.EILSEQ, f"the format {form.name} failed: {error!r}", context.file) from error

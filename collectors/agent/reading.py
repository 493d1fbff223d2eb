"""One reading of one file: parsed from the committed position, and covered by checkpoints on the way."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from counterflow.collectors.agent.checkpoint import Checkpoint, check
from counterflow.collectors.agent.config import Source
from counterflow.collectors.agent.envelope import Origin
from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.plausible import Plausible
from counterflow.collectors.reading import HEAD_BYTES, beside, name_within, read_with, unrecognised
from counterflow.collectors.records import Context, Item, Position
from counterflow.collectors.sources.files import FileId, fingerprint, unicode, window
from counterflow.collectors.sources.wrapped import WITHIN


@dataclass(slots=True)
class FileReading:
    """An open file, or a member of a packed one, and how far it is read.

    `path` is that of the file; `fd` and `size` are those of the content: for a member, of its unpacked bytes. `known`
    is the checkpoint, None where the content is read from its beginning; `format` is None where no format recognises
    it. `position` is the last one that the format yielded, `counted` the one up to which bytes were counted. `covered`:
    nothing was sent behind `position`. `is_read` is as in the checkpoint, `why_not` the detail of the first reject.
    """

    source: Source
    path: Path
    id: FileId
    fd: int
    size: int
    known: Checkpoint | None
    format: Plausible | None
    position: Position
    counted: Position
    covered: bool = True
    is_read: bool = False
    why_not: str | None = None

    @classmethod
    def begin(
        cls, source: Source, path: Path, file: FileId, fd: int, size: int, known: Checkpoint | None
    ) -> FileReading:
        """Return the reading of an open file behind its checkpoint; without a format it is read anew."""
        known = known if known and known.format else None
        position = known.position if known else Position(0, 0)
        is_read = known is not None and known.is_read
        return cls(source, path, file, fd, size, known, _format(source, fd, known), position, position, True, is_read)

    @property
    def member(self) -> str:
        """Name of the member within its file; empty where the file is not packed or holds only one."""
        return self.id.member.removeprefix(WITHIN)

    @property
    def origin(self) -> Origin:
        name = self.format.name if self.format else "agent"
        return Origin(unicode(name_within(self.path, self.member)), name, self.source.system, self.source.run)

    def items(self, complete: bool, read_alone: Callable[[Path], bool]) -> Iterator[Item]:
        """Yield the items behind the known position; `read_alone` returns whether a file was read without this one.

        Raises
        ------
        OSError : the file cannot be read, or the format failed: it raised, or its position is one that no checkpoint
            can keep.
        """
        if self.format is None:
            return iter((unrecognised(os.pread(self.fd, HEAD_BYTES, 0)),))
        source = self.source
        context = Context(
            self.origin.file,
            ZoneInfo(source.zone),
            source.system,
            complete,
            date_order=source.date_order,
            at=source.at,
            columns=source.columns,
            beside=beside(self.path, self.member, read_alone),
        )
        stream = window(self.fd, self.size)
        return read_with(self.format, stream, context, self.known.position if self.known else None, check)

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """Return the checkpoint at `position`; `size` is that of the file where it was read to its end."""
        head = min(HEAD_BYTES, self.size)  # a short file may be edited anywhere without a change of its size
        return Checkpoint(
            source=self.source.name,
            path=self.origin.file,
            device=self.id.device,
            inode=self.id.inode,
            member=self.id.member,
            head_bytes=head,
            fingerprint=fingerprint(self.fd, head, self.position.byte_offset),
            format=self.format.name if self.format else None,
            position=self.position,
            is_read=self.is_read,
            size=size,
            read_at=time.time(),
        )

    def uncounted_bytes(self) -> int:
        """Return how many bytes up to `position` were not counted yet, and count them."""
        before, self.counted = self.counted, self.position
        return max(0, self.position.byte_offset - before.byte_offset)


def _format(source: Source, fd: int, known: Checkpoint | None) -> Plausible | None:
    if known and known.format:
        return formats().get(known.format)
    if source.format:
        return formats()[source.format]
    return recognise(os.pread(fd, HEAD_BYTES, 0))

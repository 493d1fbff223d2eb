"""Reads and sends what is new in a file, once the file is confirmed to be the one that was read before.

No file is held open between two commits: every reading begins at the committed position, so continuing, rewinding after
a lost transaction and restarting after a crash are one and the same.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event
from typing import BinaryIO, cast

import structlog

from counterflow.collectors.agent.checkpoint import Checkpoint, Committed
from counterflow.collectors.agent.config import Source
from counterflow.collectors.agent.envelope import utc_now
from counterflow.collectors.agent.publisher import Stopped
from counterflow.collectors.agent.reading import FileReading
from counterflow.collectors.agent.transaction import Transaction
from counterflow.collectors.agent.watched import Seen, Watched
from counterflow.collectors.formats.ibmi_tables import read_alone
from counterflow.collectors.reading import HEAD_BYTES, name_within, unrecognised
from counterflow.collectors.records import Position, Reason, Record, Reject, Table, resumable
from counterflow.collectors.sources.files import FileId, ends_at_line_end, fingerprint, unicode
from counterflow.collectors.sources.wrapped import WITHIN, Content, contents, wrapping

log = structlog.get_logger()

RETRY_S = 60.0
"""Time after which a file whose reading failed half-way is tried again."""
CUT_TAIL_FACTOR = 10
"""A quiet file that ends within a line has this many times `settle_s` to finish the line."""
LARGE_BYTES = 256 << 10
"""A packed file of this size may take longer to unpack than a transaction may stay open."""

Progress = Callable[[Path, int, int], None]
"""Called with a file, its committed bytes and its size."""


class Files:
    """Reads files into a transaction.

    `take_turns`: a long file is left at each commit, so that others have their turn; `again`: files that an earlier
    process published are read anew; `commit` is called when the transaction is due.
    """

    def __init__(
        self,
        transaction: Transaction,
        commit: Callable[[], None],
        stop: Event,
        *,
        take_turns: bool,
        again: bool,
        progress: Progress | None,
    ) -> None:
        """`recover` takes over what is committed."""
        self.watched = Watched()
        self.skipped: set[Path] = set()
        self.unfinished = False
        self._transaction = transaction
        self._commit = commit
        self._stop = stop
        self._take_turns = take_turns
        self._again = again
        self._progress = progress
        self._moved: dict[tuple[int, str], FileId] = {}

    def recover(self, committed: Committed) -> None:
        """Resume behind what is committed."""
        self._moved = {(c.inode, c.path): file for file, c in committed.files.items()}
        self.watched.rewind()

    def read(self, source: Source, path: Path, stat: os.stat_result) -> None:
        """Read what is new in a file, if anything; set `unfinished` where the file is left to give others a turn.

        Raises
        ------
        OSError : the file cannot be read.
        TransactionLost : the broker lost what was sent.
        """
        file, size = FileId.of(stat), stat.st_size
        seen = self.watched.look(source, path, stat)
        complete = seen.quiet_s >= source.settle_s
        if not complete and not source.follow:
            seen.head = seen.head or _head(path, size)
            return  # it may still be arriving
        known = self.known(file, path)
        is_read = seen.verified and known and known.size == size
        waits = time.monotonic() < seen.retry_at or (not complete and seen.read_to == size)
        if is_read or waits:
            self._transaction.still_fails(path)
            return
        with path.open("rb", buffering=0) as raw:
            fd = raw.fileno()
            if FileId.of(os.fstat(fd)) != file:
                return  # replaced just now; the next round finds the new file
            known = self._unchanged(known, fd, size, path)
            seen.verified = True
            if known is None:
                seen.head = seen.head or _head(path, size)
            if known and self._is_done(known, path, fd, size):
                return
            if complete and source.follow and seen.quiet_s < CUT_TAIL_FACTOR * source.settle_s:
                complete = ends_at_line_end(fd, size)
            if not complete and seen.read_to == size:
                self._transaction.still_fails(path)
                return
            seen.read_to = size
            try:
                kind = wrapping(os.pread(fd, HEAD_BYTES, 0))
                if kind is None:
                    self._publish(FileReading.begin(source, path, file, fd, size, known), seen, complete)
                elif complete:
                    self._publish_members(source, path, raw, file, seen, kind)
            except OSError as error:
                seen.retry_at = time.monotonic() + RETRY_S
                error.filename = error.filename or str(path)
                raise
            self._transaction.failures.pop(unicode(str(path)), None)

    def is_still(self, file: FileId, seen: Seen, here: Path) -> bool:
        """Return whether the file at `here`, with the inode of one that left its path, is that one and no other."""
        try:
            stat = here.stat()
            if (stat.st_size, stat.st_mtime_ns) == (seen.size, seen.mtime_ns):
                return True
            count, expected = seen.head or (0, "")
            at = 0
            if seen.head is None and (known := self.known(file, seen.path)):
                count, expected, at = known.head_bytes, known.fingerprint, known.position.byte_offset
            with here.open("rb", buffering=0) as raw:
                return 0 < count <= stat.st_size >= at and fingerprint(raw.fileno(), count, at) == expected
        except PermissionError:
            return True  # nobody knows; reading it reports this
        except OSError:
            return False

    def known(self, file: FileId, path: Path) -> Checkpoint | None:
        """Return the checkpoint of a file; device numbers may change when a machine starts, path and inode stay."""
        files = self._transaction.committed.files
        if known := files.get(file):
            return known
        moved = self._moved.get((file.inode, unicode(str(path))))
        return files.get(moved) if moved else None

    def _unchanged(self, known: Checkpoint | None, fd: int, size: int, path: Path) -> Checkpoint | None:
        """Return the checkpoint if the file is still the one that was read, else None."""
        if known is None:
            return None
        # a second back-fill may name the system, zone or order of dates without which the first yielded nothing
        yielded_nothing = not self._take_turns and known.size is not None and not known.is_read
        if (self._again or yielded_nothing) and known.id not in self._transaction.files:
            return None
        at = known.position.byte_offset
        if at <= size and fingerprint(fd, known.head_bytes, at) == known.fingerprint:
            return known
        log.info("the file was written anew, reading it from its beginning", file=str(path), source=known.source)
        return None

    def _is_done(self, known: Checkpoint, path: Path, fd: int, size: int) -> bool:
        """Return whether nothing is left to read, and note why."""
        if known.size != size and (known.format is not None or (known.size or 0) < HEAD_BYTES):
            return False
        if known.format is None:
            self._transaction.failed_before(str(path), unrecognised(os.pread(fd, HEAD_BYTES, 0)).detail)
        elif known.id not in self._transaction.files and not known.member:
            self.skipped.add(path)
        return True

    def _read_alone(self, path: Path) -> bool:
        """Return whether a file was read, or is being read, without its neighbour."""
        file = FileId.of(path.stat())
        known = self._transaction.open.checkpoints.get(file) or self.known(file, path)
        return known is not None and read_alone(known.position)

    def _publish(self, reading: FileReading, seen: Seen, complete: bool) -> None:
        """Send the rest of a file; commit on the way, and leave the last part to the commit of the round."""
        if reading.format is None and not complete:
            return
        if reading.known is None:
            origin = reading.origin
            log.info("reading", source=reading.source.name, file=origin.file, format=origin.format)
        size = reading.size
        try:
            if not self._send(reading, complete):
                self.unfinished, seen.read_to = True, -1
                return
        except OSError:
            self._cover(reading)
            raise
        if complete and not reading.covered:
            reading.position = Position(size, reading.position.line, reading.position.state)
        if complete and not reading.is_read and (reading.format is None or not self._take_turns):
            why = reading.why_not or "no record found"
            self._transaction.not_published(reading.source, reading.origin.file, why)
        if complete or reading.position is not reading.counted or reading.known is None:
            self._cover(reading, size if complete else None)
        if self._progress and not reading.id.member:
            self._progress(reading.path, size, size)

    def _publish_members(self, source: Source, path: Path, raw: BinaryIO, file: FileId, seen: Seen, kind: str) -> None:
        """Publish the members of a compressed or packed file, each with a checkpoint of its own, the file's last.

        Members that a stopped process has published are unpacked and skipped.
        """
        all_read = True
        members = contents(raw)
        while (found := self._unpacked(members, seen.size)) is not None:
            member, content, fault = found
            within = file._replace(member=WITHIN + member)
            with content or TemporaryFile() as stream:
                stream.flush()
                fd = stream.fileno()
                size = os.fstat(fd).st_size
                name = Path(name_within(path, member))
                known = self._unchanged(self.known(within, name), fd, size, name)
                if known and self._is_done(known, name, fd, size):
                    all_read &= known.is_read
                    continue
                reading = FileReading.begin(source, path, within, fd, size, known)
                if fault is not None:
                    reading.why_not = fault.detail
                    self._transaction.reject(fault, source, reading.origin)
                if content is None:
                    self._transaction.not_published(source, reading.origin.file, reading.why_not or "")
                    self._cover(reading, size)
                else:
                    self._publish(reading, seen, complete=True)
                all_read &= reading.is_read
        whole = FileReading.begin(source, path, file, raw.fileno(), seen.size, None)
        whole.is_read = all_read
        self._transaction.open.checkpoints[file] = replace(whole.checkpoint(seen.size), format=kind)
        if self._progress:
            self._progress(path, seen.size, seen.size)

    def _unpacked(self, members: Iterator[Content], packed_bytes: int) -> Content | None:
        """Return the next member of a packed file, None behind the last.

        What was sent is covered here. It is committed before a member that may take longer to unpack than a transaction
        may stay open: the broker would abort it, at every attempt.
        """
        if self._transaction.is_due or packed_bytes >= LARGE_BYTES:
            self._commit()
        if self._stop.is_set():
            raise Stopped
        return next(members, None)

    def _send(self, reading: FileReading, complete: bool) -> bool:
        """Send items up to the end; return False where the file is left to give others a turn.

        Items wait for the position that covers them: where reading fails, nothing behind the last one was sent.
        """
        transaction, source, origin = self._transaction, reading.source, reading.origin
        transaction.frames.collected_at = utc_now()
        for item in resumable(reading.items(complete, self._read_alone), complete):
            if type(item) is Record or type(item) is Table:
                reading.covered, reading.is_read = False, True
                transaction.send(item, source, origin, reading.position)
            elif type(item) is Reject:
                reading.covered = False
                reading.why_not = reading.why_not or item.detail
                reading.is_read |= item.reason is Reason.READ_WITH_ANOTHER
                transaction.reject(item, source, origin)
            else:
                reading.position, reading.covered = cast(Position, item), True
                # a sorted file stays at offset 0 and would be indexed anew at every turn
                if transaction.is_due and self._commit_at(reading) and reading.position.byte_offset:
                    return False
                transaction.frames.collected_at = utc_now()
        return True

    def _commit_at(self, reading: FileReading) -> bool:
        """Commit at a position; return whether files take turns."""
        self._cover(reading)
        self._commit()
        if self._progress and not reading.id.member:
            self._progress(reading.path, reading.position.byte_offset, reading.size)
        if self._stop.is_set():
            raise Stopped
        return self._take_turns and not reading.id.member  # a packed file would be unpacked anew at every turn

    def _cover(self, reading: FileReading, size: int | None = None) -> None:
        sent = self._transaction.open
        sent.read_bytes[reading.source.name] += reading.uncounted_bytes()
        sent.checkpoints[reading.id] = reading.checkpoint(size)


def _head(path: Path, size: int) -> tuple[int, str] | None:
    """Return the number of first bytes of a file and their fingerprint; None where it cannot be read."""
    count = min(HEAD_BYTES, size)
    try:
        with path.open("rb", buffering=0) as raw:
            return count, fingerprint(raw.fileno(), count, 0)
    except OSError:
        return None

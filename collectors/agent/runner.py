"""The agent's loop: look at every file and system of every source, publish what is new, commit where it may be resumed.

One file is read at a time and no reading is held open between two commits: every reading begins at the committed
position, so going on, going back after a lost transaction and starting after a crash are one and the same. Systems
answer in threads of their own; their answers are published between the files.
"""

from __future__ import annotations

import copy
import errno
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import BinaryIO, cast
from zoneinfo import ZoneInfo

import structlog

from counterflow.collectors.agent.checkpoint import AnyCheckpoint, Checkpoint, Memory, StreamCheckpoint, StreamId
from counterflow.collectors.agent.config import Commit, Source, SpoolFolder, System
from counterflow.collectors.agent.envelope import Envelope, Origin, Refused, invalid, refused, utc_now
from counterflow.collectors.agent.live import Live, format_name, read, stream_id
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.agent.publisher import Lost, Publisher, Stopped
from counterflow.collectors.formats import formats, recognise
from counterflow.collectors.formats.ibmi_tables import read_alone
from counterflow.collectors.reading import HEAD_BYTES, beside, unrecognised
from counterflow.collectors.records import Context, Format, Item, Position, Reason, Record, Reject
from counterflow.collectors.sources.asking.batch import Batch
from counterflow.collectors.sources.files import (
    FileId,
    ends_at_line_end,
    find,
    fingerprint,
    inodes,
    unicode,
    window,
)

log = structlog.get_logger()

FORGET_S = 7 * 86_400
"""A file that is gone is remembered for so long: a file system may be away for a while."""
RETRY_S = 60.0
"""A file in which reading failed half-way is tried again after so long."""
SILENT_S = 30.0
"""After so long without a commit, or a look at every file, something is wrong."""
CUT_TAIL_FACTOR = 10
"""A file that is quiet but ends within a line gets so many times `settle_s` to finish the line."""

Progress = Callable[[Path, int, int], None]
"""Called with a file, the bytes of it that are committed and its size."""


@dataclass(slots=True)
class Seen:
    """What this process saw of a file: when it changed last, and how far it was read without being complete."""

    source: Source
    path: Path
    size: int = -1
    mtime_ns: int = 0
    changed_at: float = 0.0
    verified: bool = False
    read_to: int = -1
    retry_at: float = 0.0
    careful: bool = False


@dataclass(slots=True)
class Tally:
    """What the open transaction holds; it counts once it is committed."""

    checkpoints: dict[FileId, Checkpoint] = field(default_factory=dict)
    streams: dict[StreamId, StreamCheckpoint] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    forgotten: list[FileId] = field(default_factory=list)
    records: Counter[tuple[str, str]] = field(default_factory=Counter)
    rejects: Counter[tuple[str, str]] = field(default_factory=Counter)
    read_bytes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)
    n: int = 0
    began: float = 0.0


class Runner:
    """Reads sources and publishes them; `take_turns` says that a long file lets the others have their turn."""

    def __init__(
        self,
        publisher: Publisher,
        agent_id: str,
        commit: Commit,
        stop: Event,
        *,
        take_turns: bool = True,
        again: bool = False,
        progress: Progress | None = None,
        systems: Sequence[System] = (),
        spool: SpoolFolder | None = None,
    ) -> None:
        """Keep the parts; `again` reads files anew that were published before.

        `systems` are asked, and what they answer waits in `spool`.
        """
        self.publisher = publisher
        self.metrics = Metrics()
        self.envelope = Envelope(agent_id)
        self.records: Counter[str] = Counter()
        self.rejects: Counter[str] = Counter()
        self.failures: dict[str, str] = {}
        self.skipped: set[Path] = set()
        self._live = Live(systems, self.metrics, spool)
        self._commit_when = commit
        self._stop = stop
        self._take_turns = take_turns
        self._again = again
        self._progress = progress
        self._memory = Memory()
        self._moved: dict[tuple[int, str], FileId] = {}
        self._seen: dict[FileId, Seen] = {}
        self._published: set[FileId] = set()
        self._absent: set[str] = set()
        self._tally = Tally()
        self._unfinished = False
        self._answering = False
        self._alive_at = time.monotonic()

    def run(self, sources: Iterable[Source], poll_s: float) -> None:
        """Follow the sources until told to stop.

        Raises
        ------
        CounterflowError : another agent took over the name, or the broker refuses this one.
        """
        sources = list(sources)
        try:
            self.begin(sources)
            self._live.start(self._memory)
            while not self._stop.is_set():
                self.round(sources)
                if not (self._unfinished or self._answering):
                    self._stop.wait(poll_s)
        except Stopped:
            pass
        finally:
            self._live.stop()
            self.publisher.close()
        log.info("stopped", agent_id=self.envelope.agent_id, last_seq=self.envelope.seq)

    def problems(self) -> list[str]:
        """Say what is not read or not published now; asked by another thread than that of `run`."""
        said = [f"{path}: {what}" for path, what in [*self.failures.items()]]
        said += [f"source {name}: its system is not connected" for name in self.metrics.unconnected()]
        silent_s = time.monotonic() - self._alive_at
        if silent_s > SILENT_S:
            said.append(f"nothing is committed since {silent_s:.0f} s: the log says what the broker answers")
        return said

    def begin(self, sources: Iterable[Source] = ()) -> None:
        """Take over the agent's name and what is committed under it; files of `sources` are looked for."""
        self._recover(self.publisher.start())
        log.info("started", agent_id=self.envelope.agent_id, last_seq=self.envelope.seq, files=len(self._memory.files))
        by_name = {source.name: source for source in sources}
        for file, checkpoint in self._memory.files.items():
            if source := by_name.get(checkpoint.source):
                self._seen[file] = Seen(source, Path(checkpoint.path))

    def round(self, sources: Iterable[Source]) -> None:
        """Look at every file once and commit what was new."""
        self._unfinished = self._answering = False
        visited: set[FileId] = set()
        failed: set[str] = set()
        try:
            for source in sources:
                for pattern in source.paths:
                    for entry in find(pattern):
                        self._visit(source, entry, visited, failed)
            self._look_after_missing(visited, failed)
            self._publish_labels()
            for taken in self._live.waiting():
                self._publish_answer(taken.source, taken.batch)
                self._answering = True
            self.commit()
        except Lost as lost:
            self.rewind(lost)
            return
        self._alive_at = time.monotonic()
        for source in sources:
            lag = self._lag(source, visited)
            self.metrics.lag_bytes.labels(source.name).set(lag)
            if source.name not in failed and not self._unfinished:
                self.metrics.last_success.labels(source.name).set_to_current_time()

    def rewind(self, lost: Lost) -> None:
        """Go back to the last commit after a lost transaction."""
        self.metrics.rewinds.inc()
        self._recover(self.publisher.restart(lost))
        self._unfinished = True

    def read_whole(self, source: Source, path: Path) -> None:
        """Read one file, or what is left of it; what is wrong with it goes to `failures`.

        Raises
        ------
        Lost : the transaction was lost; `rewind` goes back.
        """
        try:
            self.read(source, path, path.stat())
        except OSError as error:
            self._cannot_read(source, error)

    def commit(self) -> None:
        """Commit what is open, if anything is.

        Raises
        ------
        Lost : the transaction was lost; `rewind` goes back.
        """
        tally = self._tally
        checkpoints: list[AnyCheckpoint] = [*tally.checkpoints.values(), *tally.streams.values()]
        if not (tally.n or checkpoints or tally.forgotten):
            return
        with self.metrics.commit_seconds.time():
            self.publisher.commit(checkpoints, tally.forgotten, self.envelope.seq)
        self._live.committed()
        for checkpoint in checkpoints:
            self._memory.remember(checkpoint)
        for name in tally.answered:
            self.metrics.last_success.labels(name).set_to_current_time()
        self._published |= tally.checkpoints.keys()
        self.failures |= tally.failures
        for file in tally.forgotten:
            self._memory.files.pop(file, None)
        for labels, n in tally.records.items():
            self.records[labels[1]] += n
            self.metrics.records.labels(*labels).inc(n)
        for labels, n in tally.rejects.items():
            self.rejects[labels[1]] += n
            self.metrics.rejects.labels(*labels).inc(n)
        for name, n in tally.read_bytes.items():
            self.metrics.read_bytes.labels(name).inc(n)
        self.metrics.committed_seq.set(self.envelope.seq)
        self._tally = Tally()
        self._alive_at = time.monotonic()

    def _recover(self, memory: Memory) -> None:
        self._memory = memory
        self._live.take_back(memory)
        self._moved = {(c.inode, c.path): file for file, c in memory.files.items()}
        self._tally = Tally()
        self.envelope.seq = memory.agent.seq if memory.agent else 0
        self.metrics.committed_seq.set(self.envelope.seq)
        for seen in self._seen.values():
            seen.read_to = -1

    def _visit(self, source: Source, entry: Path | OSError, visited: set[FileId], failed: set[str]) -> None:
        try:
            if isinstance(entry, OSError):
                raise entry
            stat = entry.stat()
            file = FileId.of(stat)
            if file not in visited:
                visited.add(file)
                self.read(source, entry, stat)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and source.follow:
                if (path := str(error.filename)) not in self._absent:
                    self._absent.add(path)
                    log.warning("not there yet", source=source.name, file=path)
                return
            failed.add(source.name)
            self._cannot_read(source, error)

    def read(self, source: Source, path: Path, stat: os.stat_result) -> None:
        """Read what is new in a file, if anything is.

        Raises
        ------
        OSError : the file cannot be read.
        Lost : the transaction was lost; `rewind` goes back.
        """
        file, size = FileId.of(stat), stat.st_size
        seen = self._look(source, path, stat)
        quiet_s = time.monotonic() - seen.changed_at
        complete = quiet_s >= source.settle_s
        if not complete and not source.follow:
            return  # may still be on its way here
        known = self._known(file, path)
        if (seen.verified and known and known.size == size) or time.monotonic() < seen.retry_at:
            return
        if not complete and seen.read_to == size:
            return
        with path.open("rb", buffering=0) as raw:
            fd = raw.fileno()
            if FileId.of(os.fstat(fd)) != file:
                return  # replaced this moment; the next round meets the new one
            known = self._verified(known, fd, size, path)
            seen.verified = True
            if known and (known.size == size or (known.format is None and (known.size or 0) >= HEAD_BYTES)):
                if known.format is None:
                    self.failures[str(path)] = unrecognised(os.pread(fd, HEAD_BYTES, 0)).detail
                elif known.id not in self._published:
                    self.skipped.add(path)
                return
            if complete and source.follow and quiet_s < CUT_TAIL_FACTOR * source.settle_s:
                complete = ends_at_line_end(fd, size)
            if not complete and seen.read_to == size:
                return
            seen.read_to = size
            try:
                self._publish(source, path, fd, stat, known, complete)
            except OSError:
                seen.retry_at = time.monotonic() + RETRY_S
                raise
            self.failures.pop(str(path), None)

    def _look(self, source: Source, path: Path, stat: os.stat_result) -> Seen:
        file = FileId.of(stat)
        seen = self._seen.get(file)
        if seen is None:
            seen = self._seen[file] = Seen(source, path)
        seen.path = path
        if (seen.size, seen.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
            first = seen.size < 0
            age_s = max(0.0, time.time() - stat.st_mtime) if first else 0.0
            seen.size, seen.mtime_ns = stat.st_size, stat.st_mtime_ns
            seen.changed_at = time.monotonic() - age_s
            seen.verified = False
        return seen

    def _known(self, file: FileId, path: Path) -> Checkpoint | None:
        """Return the checkpoint of a file; device numbers may change when a machine starts, path and inode stay."""
        if known := self._memory.files.get(file):
            return known
        moved = self._moved.get((file.inode, unicode(str(path))))
        return self._memory.files.get(moved) if moved else None

    def _read_alone(self, path: Path) -> bool:
        """Say whether a file was read, or is being read, without its neighbour."""
        file = FileId.of(path.stat())
        known = self._tally.checkpoints.get(file) or self._known(file, path)
        return known is not None and read_alone(known.position)

    def _verified(self, known: Checkpoint | None, fd: int, size: int, path: Path) -> Checkpoint | None:
        if known is None or (self._again and known.id not in self._published):
            return None
        at = known.position.byte_offset
        if at <= size and fingerprint(fd, known.head_bytes, at) == known.fingerprint:
            return known
        log.info("the file was written anew, reading it from its beginning", file=str(path), source=known.source)
        return None

    def _publish(
        self,
        source: Source,
        path: Path,
        fd: int,
        stat: os.stat_result,
        known: Checkpoint | None,
        complete: bool,
    ) -> None:
        """Parse from the known position and send; commit on the way, leave the rest to the end of the round."""
        size = stat.st_size
        known = known if known and known.format else None
        form = self._format(source, fd, known)
        if form is None and not complete:
            return
        file = unicode(str(path))
        origin = Origin(file, form.name if form else "agent", source.system, source.run)
        context = Context(
            file,
            ZoneInfo(source.zone),
            source.system,
            complete,
            date_order=source.date_order,
            columns=source.columns,
            beside=beside(path, self._read_alone),
        )
        position = known.position if known else Position(0, 0)

        def checkpoint(at: Position, end: int | None) -> Checkpoint:
            head = min(HEAD_BYTES, size)  # a short file may be edited anywhere without a change of its size
            hashed = fingerprint(fd, head, at.byte_offset)
            identity = (str(path), stat.st_dev, stat.st_ino)
            return Checkpoint(
                source.name, file, *identity[1:], head, hashed, form.name if form else None, at, end, time.time()
            )

        items: Iterator[Item]
        if form is None:
            items = iter((unrecognised(os.pread(fd, HEAD_BYTES, 0)),))
        else:
            items = _parse(form, window(fd, size), context, known.position if known else None)
        if known is None:
            log.info("reading", source=source.name, file=file, format=origin.format)
        started, covered = position, True
        self.envelope.collected_at = utc_now()
        seen = self._seen[FileId.of(stat)]
        items = iter(items if complete and not seen.careful else resumable(items))
        while True:
            try:
                item = next(items, None)
            except OSError:
                if not covered:  # what was sent of this file would be sent again: take it back, then hold it longer
                    seen.careful, seen.read_to = True, -1
                    raise Lost(f"{file} failed while it was read") from None
                self._tally.checkpoints[FileId.of(stat)] = checkpoint(position, None)
                raise
            if item is None:
                break
            if type(item) is Record:
                covered = False
                self._send(item, source, origin, position)
            elif type(item) is Reject:
                covered = False
                self._reject(item, source, origin, path)
            else:
                position, covered = cast(Position, item), True
                if self._due():
                    self._tally.read_bytes[source.name] += max(0, position.byte_offset - started.byte_offset)
                    started = position
                    self._tally.checkpoints[FileId.of(stat)] = checkpoint(position, None)
                    self.commit()
                    if self._progress:
                        self._progress(path, position.byte_offset, size)
                    if self._stop.is_set():
                        raise Stopped
                    if self._take_turns and position.byte_offset:  # a sorted file is indexed anew at every turn
                        self._unfinished = True
                        seen.read_to = -1
                        return
                self.envelope.collected_at = utc_now()
        if complete and not covered:
            position = Position(size, position.line, position.state)
        if complete or position is not started or known is None:
            self._tally.read_bytes[source.name] += max(0, position.byte_offset - started.byte_offset)
            self._tally.checkpoints[FileId.of(stat)] = checkpoint(position, size if complete else None)
        if self._progress:
            self._progress(path, size, size)

    def _publish_labels(self) -> None:
        """Send the labels of each system that are not those sent last."""
        for source in self._live.sources:
            place = stream_id(source, "labels")
            known = self._tally.streams.get(place) or self._memory.streams.get(place)
            if source.labels == (known.state if known else {}):
                continue
            origin = Origin(source.name, "agent", source.system, source.run)
            self.envelope.collected_at = utc_now()
            for name, value in source.labels.items():
                fields = {"system": source.system, "source": "agent", "section": "labels", "item": ""}
                self._send(Record("config", {**fields, "name": name, "value": value}), source, origin, Position(0, 0))
            self._tally.streams[place] = StreamCheckpoint(*place, state=source.labels)

    def _publish_answer(self, source: System, batch: Batch) -> None:
        """Send what an answer says, with the position that is reached and what the format keeps."""
        place, group = stream_id(source, batch.stream), stream_id(source, batch.group)
        known = self._tally.streams.get(group) or self._memory.streams.get(group)
        state = copy.deepcopy(known.state) if known else {}
        origin = Origin(batch.origin, format_name(source), source.system, source.run)
        self.envelope.collected_at = utc_now()
        if batch.trouble is not None:
            trouble = Reject(Reason.UNREADABLE, batch.trouble, "none", section=batch.table, raw=batch.body)
            self._reject(trouble, source, origin, None)
        elif batch.is_answer:
            try:
                for item in read(source, batch, state):
                    if isinstance(item, Record):
                        self._send(item, source, origin, Position(0, 0))
                    else:
                        self._reject(item, source, origin, None)
            except (Lost, Stopped):
                raise
            except Exception as error:  # what was sent of it is taken back; the next time it is only told
                log.exception("the format failed", source=source.name, table=batch.table)
                batch.trouble = f"the format failed: {error!r}"
                raise Lost(f"{batch.origin} failed while it was read") from None
            self._tally.answered.add(source.name)
        self._tally.streams[group] = StreamCheckpoint(*group, state=state)
        self._tally.streams[place] = StreamCheckpoint(*place, batch.position, state if place == group else {})
        if self._due():
            self.commit()
            if self._stop.is_set():
                raise Stopped

    def _format(self, source: Source, fd: int, known: Checkpoint | None) -> Format | None:
        if known and known.format:
            return formats().get(known.format)
        if source.format:
            return formats()[source.format]
        return recognise(os.pread(fd, HEAD_BYTES, 0))

    def _send(self, record: Record, source: Source | System, origin: Origin, position: Position) -> None:
        try:
            message = self.envelope.encode(record.dataset, record.fields, origin.run)
        except Refused as refusal:
            place = Reject(Reason.SCHEMA, "", "none", position.line, position.byte_offset)
            self._tally.rejects[source.name, Reason.SCHEMA.value] += 1
            for told in invalid(record, str(refusal), place, origin):
                self._send(told, source, origin, position)
            return
        tally = self._tally
        if not tally.n:
            tally.began = time.monotonic()
        tally.n += 1
        tally.records[source.name, record.dataset] += 1
        self.publisher.send(message)

    def _reject(self, reject: Reject, source: Source | System, origin: Origin, path: Path | None) -> None:
        self._tally.rejects[source.name, reject.reason.value] += 1
        if path and reject.line == 0 and reject.reason in (Reason.NOT_THIS_FORMAT, Reason.EMPTY_FILE):
            self._tally.failures[str(path)] = reject.detail
            log.error("not published", source=source.name, file=str(path), error=reject.detail)
        for told in refused(reject, origin):
            self._send(told, source, origin, Position(0, 0))

    def _cannot_read(self, source: Source, error: OSError) -> None:
        path, what = str(error.filename), error.strerror or str(error)
        if what in (self.failures.get(path), self._tally.failures.get(path)):
            return
        self._tally.failures[path] = what
        self.metrics.file_errors.labels(source.name).inc()
        log.error("cannot be read", source=source.name, file=path, error=what)
        reject = Reject(Reason.UNREADABLE, what, "none")
        self._reject(reject, source, Origin(unicode(path), "agent", source.system, source.run), None)

    def _due(self) -> bool:
        tally, when = self._tally, self._commit_when
        if not tally.n:
            return self._stop.is_set()
        late = time.monotonic() - tally.began >= when.interval_s
        return late or tally.n >= when.records or self._stop.is_set()

    def _look_after_missing(self, visited: set[FileId], failed: set[str]) -> None:
        """Find files that left their path: renamed within their folder they are read on, else they are let go."""
        folders: dict[Path, dict[int, Path]] = {}
        for file, seen in list(self._seen.items()):
            if file in visited:
                continue
            folder = seen.path.parent
            if folder not in folders:
                folders[folder] = inodes(folder)
            here = folders[folder].get(file.inode)
            if here is not None:
                self._visit(seen.source, here, visited, failed)
            if file in visited:
                continue
            del self._seen[file]
            known = self._memory.files.get(file)
            if known and time.time() - known.read_at > FORGET_S:
                self._tally.forgotten.append(file)
            done = known is not None and known.size is not None and known.size >= seen.size
            if not done and (known or seen.size > 0):
                gone = OSError(0, "gone before it was read to its end", str(seen.path))
                self._cannot_read(seen.source, gone)

    def _lag(self, source: Source, visited: set[FileId]) -> int:
        lag = 0
        for file in visited:
            seen, known = self._seen.get(file), self._memory.files.get(file)
            if seen and seen.source is source and not (known and known.size == seen.size):
                lag += max(0, seen.size - (known.position.byte_offset if known else 0))
        return lag


def _parse(form: Format, stream: BinaryIO, context: Context, position: Position | None) -> Iterator[Item]:
    """Parse; a format that fails is like a file that cannot be read: it stops this file only."""
    try:
        yield from form.parse(stream, context, position)
    except OSError as error:
        raise OSError(error.errno, error.strerror, context.file) from error
    except Exception as error:
        log.exception("the format failed", file=context.file, format=form.name)
        raise OSError(errno.EILSEQ, f"the format {form.name} failed: {error!r}", context.file) from error


def resumable(items: Iterator[Item]) -> Iterator[Item]:
    """Hold items back until the `Position` that covers them: those after the last one come again next time."""
    held: list[Item] = []
    for item in items:
        held.append(item)
        if type(item) is Position:
            yield from held
            held.clear()

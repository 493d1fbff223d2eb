"""The agent's loop: look at every file and system of every source, publish what is new, commit where it may be resumed.

One file is read at a time. Systems answer in threads of their own; their answers are published between the files.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Event

import structlog

from counterflow.collectors.agent.checkpoint import Committed
from counterflow.collectors.agent.config import Commit, Source, SpoolFolder, System
from counterflow.collectors.agent.files import Files, Progress
from counterflow.collectors.agent.live import Live, send_answer, send_labels
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.agent.publisher import Publisher, Stopped, TransactionLost
from counterflow.collectors.agent.transaction import Transaction
from counterflow.collectors.agent.watched import Seen
from counterflow.collectors.sources.files import FileId, find

log = structlog.get_logger()

FORGET_S = 7 * 86_400
"""Time for which a file that is gone is remembered: a file system may be away for a while."""
SILENT_S = 30.0
"""Time without a commit, or a look at every file, after which something is wrong."""


class Runner:
    """Follows sources and publishes them."""

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
        """The answers of `systems` wait in `spool`; the rest is as in `Files`."""
        self.publisher = publisher
        self.metrics = Metrics()
        self.transaction = Transaction(publisher, agent_id, commit, stop, self.metrics)
        self.files = Files(self.transaction, self.commit, stop, take_turns=take_turns, again=again, progress=progress)
        self._live = Live(systems, self.metrics, spool)
        self._stop = stop
        self._absent: set[str] = set()
        self._at_once = False
        self._alive_at = time.monotonic()

    def run(self, sources: Iterable[Source], poll_s: float) -> None:
        """Follow the sources until `stop` is set.

        Raises
        ------
        CounterflowError : another agent took over the name, or the broker refuses this one.
        """
        sources = list(sources)
        frames = self.transaction.frames
        try:
            self.begin(sources)
            self._live.start(self.transaction.committed)
            while not self._stop.is_set():
                self.round(sources)
                if not self._at_once:
                    self._stop.wait(poll_s)
        except Stopped:
            pass
        finally:
            self._live.stop()
            self.publisher.close()
        log.info("stopped", agent_id=frames.agent_id, last_seq=frames.seq)

    def problems(self) -> list[str]:
        """Return what is not read or not published now; called from another thread than `run`."""
        found = [f"{path}: {why}" for path, why in [*self.transaction.failures.items()]]
        found += [f"source {name}: its system is not connected" for name in self.metrics.unconnected()]
        silent_s = time.monotonic() - self._alive_at
        if silent_s > SILENT_S:
            found.append(f"nothing was committed for {silent_s:.0f} s: the log shows the broker's answers")
        return found

    def begin(self, sources: Iterable[Source] = ()) -> None:
        """Take over the agent's name and what is committed under it; watch for the committed files of `sources`."""
        self._recover(self.publisher.start())
        frames, files = self.transaction.frames, self.transaction.committed.files
        log.info("started", agent_id=frames.agent_id, last_seq=frames.seq, files=len(files))
        by_name = {source.name: source for source in sources}
        for file, checkpoint in files.items():
            if (source := by_name.get(checkpoint.source)) and not file.member:
                self.files.watched.expect(file, source, Path(checkpoint.path))

    def round(self, sources: Iterable[Source]) -> None:
        """Look at every file once and commit what is new."""
        self._at_once = self.files.unfinished = False
        visited: set[FileId] = set()
        failed: set[str] = set()
        try:
            for source in sources:
                for pattern in source.paths:
                    for entry in find(pattern):
                        self._visit(source, entry, visited, failed)
            self._look_after_missing(visited, failed)
            self._publish_answers()
            self.commit()
        except TransactionLost as lost:
            self.rewind(lost)
            return
        self._at_once |= self.files.unfinished
        self._alive_at = time.monotonic()
        if not self.files.unfinished:
            self.transaction.end_round()
        for source in sources:
            lag = self.files.watched.lag_bytes(source, visited, self.files.known)
            self.metrics.lag_bytes.labels(source.name).set(lag)
            if source.name not in failed and not self.files.unfinished:
                self.metrics.last_success.labels(source.name).set_to_current_time()

    def rewind(self, lost: TransactionLost) -> None:
        """Go back to the last commit after a lost transaction."""
        self.metrics.rewinds.inc()
        self._recover(self.publisher.restart(lost))
        self._at_once = True

    def read_whole(self, source: Source, path: Path, visited: set[FileId]) -> None:
        """Read one file, or the rest of it, unless it was `visited`; a fault goes to the transaction's `failures`."""
        try:
            stat = path.stat()
            if (file := FileId.of(stat)) not in visited:
                visited.add(file)
                self.files.read(source, path, stat)
        except FileNotFoundError:
            self.transaction.failed_before(str(path), "no such file; check the path")
        except OSError as error:
            self.transaction.cannot_read(source, error)

    def commit(self) -> None:
        """Commit the open transaction, if anything is in it."""
        if self.transaction.commit(self._live.committed):
            self._alive_at = time.monotonic()

    def _recover(self, committed: Committed) -> None:
        self.transaction.recover(committed)
        self.files.recover(committed)
        self._live.take_back(committed)

    def _visit(self, source: Source, entry: Path | OSError, visited: set[FileId], failed: set[str]) -> None:
        try:
            if isinstance(entry, OSError):
                raise entry
            stat = entry.stat()
            file = FileId.of(stat)
            if file not in visited:
                visited.add(file)
                self.files.read(source, entry, stat)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and source.follow:
                if (path := str(error.filename)) not in self._absent:
                    self._absent.add(path)
                    log.warning("not there yet", source=source.name, file=path)
                return
            failed.add(source.name)
            self.transaction.cannot_read(source, error)

    def _look_after_missing(self, visited: set[FileId], failed: set[str]) -> None:
        """Find files that left their path: read on those renamed within their folder, and let go of the others."""
        for file, seen, here in self.files.watched.missing(visited):
            if here is not None and self.files.is_still(file, seen, here):
                self._visit(seen.source, here, visited, failed)
            if file not in visited:
                is_renumbered = self.files.watched.is_renumbered(file, visited)
                self.files.watched.let_go(file)
                if not is_renumbered:
                    self._report_gone(file, seen)

    def _report_gone(self, file: FileId, seen: Seen) -> None:
        known = self.files.known(file, seen.path)
        if known and time.time() - known.read_at > FORGET_S:
            members = (other for other in self.transaction.committed.files if other[:2] == known.id[:2])
            self.transaction.open.forgotten += members
        done = known is not None and known.size is not None and known.size >= seen.size
        if not done and (known or seen.size > 0):
            gone = OSError(0, "gone before it was read to its end", str(seen.path))
            self.transaction.cannot_read(seen.source, gone)

    def _publish_answers(self) -> None:
        for source in self._live.sources:
            send_labels(source, self.transaction)
        for source, batch in self._live.waiting():
            send_answer(source, batch, self.transaction)
            self._at_once = True
            if self.transaction.is_due:
                self.commit()
                if self._stop.is_set():
                    raise Stopped

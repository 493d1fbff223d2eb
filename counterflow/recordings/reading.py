"""Reads recordings in separate processes; each becomes frames in files of JSON lines, one per dataset."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from threading import Thread
from typing import BinaryIO, TypeGuard

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.base.errors import why
from counterflow.collectors.agent.envelope import Origin, invalid, refused, utc_now
from counterflow.collectors.agent.frames import Broken, Framed, Frames
from counterflow.collectors.reading import Faults, read_each
from counterflow.collectors.records import Fields, Item, Reason, Record, Reject, Table
from counterflow.collectors.sources.files import unicode
from counterflow.collectors.text.stamps import AssumedZone
from counterflow.recordings.given import ReadingOptions, size_of
from counterflow.schemas.clickhouse_insert import insert_files

AGENT = "no agent"
"""No agent can have this name. The view `loss` leaves it out: numbers begin anew in each file."""
_SMALL = 8_000_000
"""Files with fewer bytes in total are read in this process: another takes longer to start."""
_PIECE = 100_000
"""Rows of a piece, which is inserted while the next is read."""
_INSERT = 8_000_000
"""Bytes of pieces that are inserted together; the engine takes up to thirty times as much memory for them."""
_PIECES = 1_000
"""Number of pieces that are inserted together whatever their size."""
_TOGETHER, _FILES = 2_000_000, 100
"""Bytes and number of small files whose rows share pieces: a piece costs the engine half a millisecond."""
_WAITING, _LAND_S = 16, 1.0
"""Jobs that wait for a process, and seconds between checks for pieces: neither may grow with the number of files."""
_HELD = 4_000_000
"""Bytes of anomalies that wait in memory for the end of their file; more of them wait on the disk."""
_COMPLETE = ".jsonl"
SETTINGS: Settings = {
    "date_time_input_format": "best_effort",
    "input_format_skip_unknown_fields": 1,
    "input_format_null_as_default": 1,
    "optimize_on_insert": 0,
    "max_block_size": 1_000,  # frames, each of up to some thousand rows
}


@dataclass
class Read:
    """The outcome of one file, or of one member of an archive.

    Parameters
    ----------
    path : the file, or the archive.
    name : the file as text; for a member, after that of its archive.
    format : the one that recognised it; None where none did.
    rows : number of rows by dataset.
    anomalies : number of rejects by reason.
    error : why the file gave no figures; None where it did.
    line : of the error; 0 where it concerns the whole file.
    zone_assumed : whether its times are local in a zone that nobody named.
    """

    path: Path
    name: str
    format: str | None = None
    rows: Counter[str] = field(default_factory=Counter)
    anomalies: Counter[str] = field(default_factory=Counter)
    error: str | None = None
    line: int = 0
    zone_assumed: bool = False


def read(
    paths: Sequence[Path],
    client: Callable[[], ClickHouse],
    spool: Path,
    options: ReadingOptions,
    names: Mapping[Path, str],
    first: int,
) -> Iterator[Read]:
    """Read files on all cores and insert their rows; yield the outcome of each, in order of completion.

    A compressed or packed file yields an outcome per member.

    `client` returns the engine when it is ready. `spool` is an empty folder for rows that are not inserted yet; `names`
    are those of files that are not called by their path; `first` is the number of the first file, so that no two rows
    share a number.
    """
    work = partial(_spooled, spool=spool, options=options, names=names)
    jobs = list(enumerate(paths, first))
    yield from _on_all_cores(work, jobs, lambda: _land(spool, client, _INSERT))
    _land(spool, client, 0)


def _land(spool: Path, client: Callable[[], ClickHouse], least: int) -> None:
    """Insert the complete pieces of each dataset that has `least` bytes or `_PIECES` of them: an insert costs 30 ms."""
    pieces: dict[str, list[Path]] = {}
    for piece in sorted(spool.glob(f"*{_COMPLETE}")):
        pieces.setdefault(piece.name.split(".")[2], []).append(piece)
    for dataset, found in pieces.items():
        if len(found) < _PIECES and sum(piece.stat().st_size for piece in found) < least:
            continue
        with TemporaryDirectory(dir=spool) as together:
            for piece in found:
                piece.rename(Path(together, piece.name))
            client().post(insert_files(dataset, f"{together}/*{_COMPLETE}"), settings=SETTINGS)


Job = tuple[int, Path]
"""A file and its number."""


def _on_all_cores(
    work: Callable[[Sequence[Job]], list[Read]], jobs: list[Job], meanwhile: Callable[[], None]
) -> Iterator[Read]:
    """Yield the outcomes of each job as it ends, and call `meanwhile` once a second."""
    sizes = [size_of(path) for _, path in jobs]
    cores = min(os.cpu_count() or 1, len(jobs))
    if sum(sizes) < _SMALL:
        yield from chain.from_iterable(work([job]) for job in jobs)
        return
    with processes(cores) as pool:
        left = _together(jobs, sizes, min(_TOGETHER, sum(sizes) // (8 * cores)))
        pending = {pool.submit(work, some) for some in islice(left, _WAITING)}
        landed = time.monotonic()
        while pending:
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            pending |= {pool.submit(work, some) for some in islice(left, len(done))}
            if time.monotonic() - landed >= _LAND_S:
                meanwhile()
                landed = time.monotonic()
            yield from chain.from_iterable(one.result() for one in done)


def _together(jobs: Sequence[Job], sizes: Sequence[int], most: int) -> Iterator[list[Job]]:
    """Yield jobs in order, in groups of at most `most` bytes and `_FILES` files; a larger file forms its own."""
    some: list[Job] = []
    held = 0
    for job, size in zip(jobs, sizes, strict=True):
        if some and (held + size > most or len(some) == _FILES):
            yield some
            some, held = [], 0
        some.append(job)
        held += size
    yield some


@contextmanager
def processes(number: int) -> Iterator[ProcessPoolExecutor]:
    """Yield a pool whose processes end with this one, however it ends, and at once if an exception leaves the block."""
    context = get_context("spawn")  # the engine's threads do not survive a fork
    closes, held = context.Pipe(duplex=False)
    with closes, held, ProcessPoolExecutor(number, context, _end_when, (closes,)) as pool:
        try:
            yield pool
        except BaseException:
            held.close()
            raise


def _end_when(closes: Connection) -> None:
    """End this process when the other end of a pipe closes, as it does when its owner ends."""

    def wait_for_it() -> None:
        closes.poll(None)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both, and the other process ends this one
    Thread(target=wait_for_it, daemon=True).start()


def _spooled(
    jobs: Sequence[Job],
    *,
    spool: Path,
    options: ReadingOptions,
    names: Mapping[Path, str],
) -> list[Read]:
    pieces = _Pieces(spool / str(jobs[0][0]))
    reads: list[Read] = []
    for number, path in jobs:
        reads += _read_one(number, path, names.get(path, str(path)), pieces, options)
    pieces.close()
    return reads


def _read_one(number: int, path: Path, called: str, pieces: _Pieces, options: ReadingOptions) -> list[Read]:
    frames: Frames[None] = Frames(AGENT)
    frames.clear(number << 32)
    frames.collected_at = utc_now()
    reads: list[Read] = []
    try:
        for name, form, items in read_each(path, *options, called):
            reads.append(found := Read(path, name, form))
            assumed = AssumedZone.unused(options.zone)
            origin = Origin(unicode(name), form or "agent", options.system)
            with closing(_Rows(frames, origin, found, pieces)) as rows:  # what was read of a file that fails stays
                for item in items:
                    rows.take(item)
            fault, first = rows.faults.why(rows.datasets), rows.faults.first
            if fault is not None and (rows.datasets or not first or first.reason is not Reason.READ_WITH_ANOTHER):
                found.line, found.error = fault
            found.zone_assumed = bool(assumed and assumed.used and rows.datasets)
    except OSError as error:
        if pieces.full:
            raise
        reads.append(Read(path, called, error=why(error)))
    return reads


class _Rows:
    """Turns items into frames as an agent does: numbered, checked, rejects as `quality` and dead letters.

    A reject without a system counts for the only system of its file. One without a time gets that of the first interval
    of the file, else of its first setting: so it lies within the recording, and reading the file again does not double
    it. Where the file gave nothing, its rejects have the time at which it was read.
    """

    def __init__(self, frames: Frames[None], origin: Origin, found: Read, pieces: _Pieces) -> None:
        self.faults = Faults()
        self._frames, self._origin, self._found, self._pieces = frames, origin, found, pieces
        self._held = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - `close` closes it
        self._waiting = 0
        self._systems: set[str] = set()
        self._begins: dict[bool, str] = {}
        """Time of the first row, by whether it is a setting."""

    @property
    def datasets(self) -> set[str]:
        """Those of the file's own rows."""
        return self._found.rows.keys() - {"quality", "deadletter"}

    def take(self, item: Item) -> None:
        if isinstance(item, Record | Table):
            self._learn(item.dataset, item.shared if isinstance(item, Table) else item.fields)
            self._add(item)
        elif isinstance(item, Reject):
            self.faults.add(item)
            self._found.anomalies[item.reason.value] += 1
            if item.system and item.ts:
                self._report(item)
            else:
                pickle.dump(item, self._held)
                self._waiting += 1

    def _learn(self, dataset: str, fields: Fields) -> None:
        """Note the system of a row and, of the first, its time: it may break its schema."""
        if isinstance(system := fields.get("system"), str):
            self._systems.add(system)
        if (dataset == "config") not in self._begins and _is_time(ts := fields.get("ts")):
            self._begins[dataset == "config"] = ts

    @property
    def _begin(self) -> str | None:
        return self._begins.get(False) or self._begins.get(True)

    def _report(self, reject: Reject) -> None:
        for record in refused(reject, self._origin):
            self._add(record)

    def _report_held(self) -> None:
        """Report the rejects that waited for the system and the time of their file."""
        system = next(iter(self._systems)) if len(self._systems) == 1 else None
        with self._held:
            self._held.seek(0)
            for _ in range(self._waiting):
                reject: Reject = pickle.load(self._held)  # noqa: S301 - written by this process
                self._report(replace(reject, system=reject.system or system, ts=reject.ts or self._begin))

    def _add(self, item: Record | Table) -> None:
        self._write(self._frames.add(item, self._origin.run, None))

    def _refuse(self, broken: Broken[None]) -> None:
        self._found.anomalies[Reason.SCHEMA.value] += 1
        for record in invalid(broken.record, broken.why, Reject(Reason.SCHEMA, "", "none"), self._origin):
            if self._begin:
                record.fields["ts"] = self._begin
            self._add(record)

    def _write(self, frames: Iterable[Framed[None] | Broken[None]]) -> None:
        for one in frames:
            if isinstance(one, Broken):
                self._refuse(one)
                continue
            self._pieces.write(one)
            self._found.rows[one.dataset] += one.rows

    def close(self) -> None:
        self._report_held()
        self._write(self._frames.drain())


def _is_time(ts: object) -> TypeGuard[str]:
    try:
        return isinstance(ts, str) and bool(datetime.fromisoformat(ts))
    except ValueError:
        return False


class _Pieces:
    """Writes frames to files: one per dataset at a time, complete once it has `_PIECE` rows.

    `full` is whether the disk refused one of them, which is cut then.
    """

    def __init__(self, stem: Path) -> None:
        self.full = False
        self._stem = stem
        self._files: dict[str, BinaryIO] = {}
        self._number = 0
        self._held: Counter[str] = Counter()

    def write(self, one: Framed[None]) -> None:
        try:
            self._file(one.dataset).write(one.message.value + b"\n")
            self._held[one.dataset] += one.rows
            if self._held[one.dataset] >= _PIECE:
                self._complete(one.dataset)
        except OSError:
            self.full = True
            raise

    def _file(self, dataset: str) -> BinaryIO:
        if dataset not in self._files:
            self._number += 1
            piece = Path(f"{self._stem}.{self._number}.{dataset}.writing")
            self._files[dataset] = piece.open("wb")
        return self._files[dataset]

    def close(self) -> None:
        for dataset in list(self._files):
            self._complete(dataset)

    def _complete(self, dataset: str) -> None:
        """Close a piece and rename it as complete."""
        self._held[dataset] = 0
        with self._files.pop(dataset) as file:
            written = Path(file.name)
        written.rename(written.with_suffix(_COMPLETE))

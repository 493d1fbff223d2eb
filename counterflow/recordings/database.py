"""The database of one `look`: temporary, or in a folder to which the next one adds."""

from __future__ import annotations

import io
import shutil
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from counterflow.base.clickhouse import Settings
from counterflow.base.errors import CounterflowError, why
from counterflow.connection import Connection
from counterflow.recordings.files import NAME, Files
from counterflow.recordings.given import ReadingOptions

if TYPE_CHECKING:
    from counterflow.analysis.findings import Finding
    from counterflow.base.embedded import Embedded
    from counterflow.connection.report import WrittenReport
    from counterflow.recordings.reading import Read
    from counterflow.recordings.results import RecordedSpan

_ENGINE = "clickhouse"
"""Folder of the engine within that of the database."""
_OTHER = "use the version that made it, or another folder, into which all is read: counterflow look PATH --keep FOLDER"


def parts(folder: Path) -> set[Path]:
    """Return the folder of a database, and what `look --keep` writes into it."""
    from counterflow.schemas import vintage

    return {folder, *(folder / name for name in (_ENGINE, NAME, vintage.FILE))}


def reading(folder: Path, limits: Settings | None = None) -> Connection:
    """Connect to the database that `look --keep` left in a folder, read-only, within `limits` if given.

    Raises
    ------
    CounterflowError : there is none, it cannot be read, or it is of another version.
    """
    from counterflow.base.embedded import Embedded
    from counterflow.schemas import vintage

    try:
        is_there = (folder / _ENGINE).is_dir()
    except OSError as error:
        raise CounterflowError(f"{folder}: {why(error)}", exit_code=2) from None
    if not is_there:
        raise CounterflowError(
            f"{folder} is no folder of `look`", hint=f"counterflow look PATH --keep {folder}", exit_code=2
        )
    vintage.require(folder, database=folder / _ENGINE, hint=_OTHER, whole=True)
    return Connection(partial(Embedded, folder / _ENGINE, writable=False, limits=limits), grows=False)


class Database(Connection):
    """The engine with the schema of the line; use as a context manager.

    It opens in the background while files are read, and is read-only once all is computed.

    Parameters
    ----------
    kept : the folder of the database, to which the next `look` adds; without one it is new and temporary, and has no
        ledger and no rollups.
    limits : settings of every statement from then on, which none can change.

    Attributes
    ----------
    reads : the outcome of each file, in order of completion.
    measured : what landed for each system.

    Raises
    ------
    ModuleNotFoundError : the extra `look` is not installed.
    CounterflowError : the folder holds a database of another version, or its list of files cannot be read.
    """

    def __init__(self, kept: Path | None = None, *, limits: Settings | None = None) -> None:
        from counterflow.base.embedded import library

        library()
        if kept is not None:
            from counterflow.schemas import vintage

            vintage.claim(kept, database=kept / _ENGINE, hint=_OTHER)
            kept.mkdir(parents=True, exist_ok=True)
        self._files = Files(kept)
        self._temporary = TemporaryDirectory(prefix="counterflow-")
        background = ThreadPoolExecutor(1)
        folder = kept or Path(self._temporary.name)
        self._engine = background.submit(_new if kept is None else _kept, folder / _ENGINE)
        background.shutdown(wait=False)
        super().__init__(self._engine.result, grows=False)
        self.reads: list[Read] = []
        self.measured: dict[str, RecordedSpan] = {}
        self._limits = limits
        self._names: Mapping[Path, str] = {}

    def close(self) -> None:
        if self._engine.exception() is None:
            self.client.close()
        self._temporary.cleanup()

    def read(self, paths: Sequence[Path], options: ReadingOptions, names: Mapping[Path, str] = {}) -> Iterator[Read]:
        """Read the files that are new, or changed since they were last read, and yield the outcome of each.

        `names` are those of files that are not called by their path; these are read by every look.

        Raises
        ------
        CounterflowError : the folder holds one of the files, read with other options.
        """
        from counterflow.recordings.reading import read

        at = options.at.isoformat(" ") if options.at else None
        stated = {"zone": options.zone.key, "date-order": options.date_order, "at": at, "system": options.system}
        fresh = self._files.fresh(paths, stated)  # what is appended from here on is read by the next look
        new, first = [path for path, _ in fresh], self._files.reserve(len(fresh))
        self._names = names
        unread: set[Path] = set(names)
        spool = Path(self._temporary.name, "spool")
        spool.mkdir(exist_ok=True)
        for one in read(new, lambda: self.client, spool, options, names, first):
            if one.error:
                unread.add(one.path)
            self.reads.append(one)
            yield one
        self._files.add((path, state) for path, state in fresh if path not in unread)

    def compute(self) -> None:
        """Compute all results; `measured` then is what landed, empty where no interval did."""
        from counterflow.pipelines.landing.rollups import refresh
        from counterflow.recordings.results import compute

        refresh(self.client)
        self.measured = compute(self.client)
        self._engine.result().make_read_only(self._limits)

    def require_intervals(self) -> None:
        """Raise `CounterflowError` where nothing landed; it names a file that was read."""
        settings = [one for one in self.reads if one.error is None]
        if self.measured:
            return
        if not settings:
            raise CounterflowError("no file holds an interval", exit_code=2)
        first, more = settings[0], len(settings) - 1
        named = "-" if first.path in self._names else quote(str(first.path))
        others = f", as do {more:,} file{'s' * (more > 1)} more" if more else ""
        hint = f"counterflow look --records {named} shows what it gives"
        what = f"no file holds an interval: {first.name} holds settings alone{others}"
        raise CounterflowError(what, hint=hint, exit_code=2)

    @cached_property
    def findings(self) -> list[Finding]:
        """What limited the systems, as `Connection.findings`; the database does not change."""
        return super().findings

    def _report_of_all(self, folder: Path) -> WrittenReport:
        """Write a report with a chapter for each system, and its own period."""
        from counterflow.recordings.chapters import report

        return report(self.client, self.measured, self.findings, folder)

    def export(self, folder: Path) -> list[Path]:
        """Write each dataset that has rows as Parquet; return the files.

        Raises
        ------
        OSError : the folder cannot take the files; it gets none, and those of an earlier export are unchanged.
        """
        from counterflow.schemas.definition import datasets

        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".export-", dir=folder) as whole:
            for name, dataset in datasets().items():
                [row] = self.client.rows(f"SELECT toUInt64(count()) AS n FROM counterflow.{name}")
                if row["n"]:
                    order = ", ".join(dataset.key)
                    body = f"SELECT * FROM counterflow.{name} ORDER BY {order}"
                    table = self.client.post(body, settings={"default_format": "Parquet", "final": 1})
                    Path(whole, f"{name}.parquet").write_bytes(table)
            return [path.replace(folder / path.name) for path in sorted(Path(whole).iterdir())]


def _new(folder: Path) -> Embedded:
    """Return an engine with the schema but without feeds of ledger and rollups, in a folder that does not exist yet.

    The schema is made once and cached as an archive, which each look without --keep unpacks.
    """
    from importlib.metadata import version

    from counterflow.base.embedded import Embedded
    from counterflow.base.files import cached
    from counterflow.schemas.migrations import schema

    archive = cached(f"schema-{version('chdb-core')}-{schema().digest}.tar", lambda: _packed(folder))
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12 has Python 3.11.2, without filters
        packed.extractall(folder)  # noqa: S202 - written by this user's own look
    return Embedded(folder)


def _packed(folder: Path) -> bytes:
    """Return the folder of such an engine as an archive."""
    from counterflow.base.embedded import Embedded
    from counterflow.schemas.migrations import FEEDS, Schema, migrate, schema

    with Embedded(folder) as engine:
        engine.post("SET fsync_metadata = 0")  # saves a wait for the disk for each of some hundred tables and views
        migrate(engine, Schema({name: text for name, text in schema().parts.items() if name != FEEDS}, {}))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, ".")
    shutil.rmtree(folder)
    return packed.getvalue()


def _kept(folder: Path) -> Embedded:
    from counterflow.base.embedded import Embedded
    from counterflow.schemas.migrations import migrate

    engine = Embedded(folder)
    try:
        migrate(engine)
    except BaseException:
        engine.close()
        raise
    return engine

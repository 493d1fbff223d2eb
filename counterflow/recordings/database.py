"""The database of one `look`: temporary, or in a folder to which the next one adds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.recordings.files import NAME, Files
from counterflow.recordings.options import ReadingOptions

if TYPE_CHECKING:
    from counterflow.analysis.findings import Finding
    from counterflow.base.embedded import Embedded
    from counterflow.recordings.reading import Read
    from counterflow.recordings.results import Measured

_ENGINE = "clickhouse"
"""Folder of the engine within that of the database."""
_OTHER = "use the version that made it, or another folder, into which all is read: counterflow look PATH --keep FOLDER"


def parts(folder: Path) -> set[Path]:
    """Return the folder of a database, and what `look --keep` writes into it."""
    from counterflow.schemas import vintage

    return {folder, *(folder / name for name in (_ENGINE, NAME, vintage.FILE))}


def reading(folder: Path) -> Embedded:
    """Open the database that `look --keep` left in a folder, read-only.

    Raises
    ------
    CounterflowError : there is none, or it is of another version.
    """
    from counterflow.base.embedded import Embedded
    from counterflow.schemas import vintage

    if not (folder / _ENGINE).is_dir():
        raise CounterflowError(
            f"{folder} is no folder of `look`", hint=f"counterflow look PATH --keep {folder}", exit_code=2
        )
    vintage.require(folder, database=folder / _ENGINE, hint=_OTHER, whole=True)
    return Embedded(folder / _ENGINE, writable=False)


class Database:
    """The engine with the schema of the line; use as a context manager.

    It opens in the background while files are read.

    Parameters
    ----------
    folder : of the database.
    kept : whether the next `look` adds to it; a database that is not kept is new, without ledger and rollups.

    Raises
    ------
    ModuleNotFoundError : the extra `look` is not installed.
    CounterflowError : the folder holds a database of another version, or its list of files cannot be read.
    """

    def __init__(self, folder: Path, *, kept: bool) -> None:
        from counterflow.base.embedded import library

        library()
        if kept:
            from counterflow.schemas import vintage

            vintage.claim(folder, database=folder / _ENGINE, hint=_OTHER)
        folder.mkdir(parents=True, exist_ok=True)
        self._files = Files(folder if kept else None)
        background = ThreadPoolExecutor(1)
        self._engine = background.submit(_kept if kept else _new, folder / _ENGINE)
        background.shutdown(wait=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._engine.exception() is None:
            self.client.close()

    @property
    def client(self) -> ClickHouse:
        """The engine, once it has the schema."""
        return self._engine.result()

    def read(
        self, paths: Sequence[Path], spool: Path, options: ReadingOptions, names: Mapping[Path, str]
    ) -> Iterator[Read]:
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
        unread: set[Path] = set(names)
        for one in read(new, lambda: self.client, spool, options, names, first):
            if one.error:
                unread.add(one.path)
            yield one
        self._files.add((path, state) for path, state in fresh if path not in unread)

    def compute(self) -> dict[str, Measured]:
        """Compute all results; return what landed for each system, empty where no interval did."""
        from counterflow.pipelines.landing.rollups import refresh
        from counterflow.recordings.results import compute

        refresh(self.client)
        return compute(self.client)

    def findings(self) -> list[Finding]:
        """Return what limited the systems: grouped by system, the worst findings of each first."""
        from counterflow.analysis.findings import findings

        return findings(self.client)

    def export(self, folder: Path) -> list[Path]:
        """Write each dataset that has rows as Parquet; return the files.

        Raises
        ------
        OSError : the folder cannot take the files; it gets none, and those of an earlier export are unchanged.
        """
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".export-", dir=folder) as whole:
            for name, key in exported().items():
                [row] = self.client.rows(f"SELECT toUInt64(count()) AS n FROM counterflow.{name}")
                if row["n"]:
                    order = ", ".join(key)
                    body = f"SELECT * FROM counterflow.{name} ORDER BY {order}"
                    table = self.client.post(body, settings={"default_format": "Parquet", "final": 1})
                    Path(whole, f"{name}.parquet").write_bytes(table)
            return [path.replace(folder / path.name) for path in sorted(Path(whole).iterdir())]


def exported() -> dict[str, tuple[str, ...]]:
    """Return the names of what an export may write, each with its key."""
    from counterflow.schemas.definition import datasets

    return {name: tuple(dataset.key) for name, dataset in datasets().items()}


def _new(folder: Path) -> Embedded:
    from counterflow.recordings.prepared import opened

    return opened(folder)


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

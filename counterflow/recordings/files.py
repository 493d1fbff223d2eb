"""The list of the files that a kept folder holds, so that the next `look` reads what is new."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from os.path import realpath
from pathlib import Path

import msgspec

from counterflow.base.errors import CounterflowError
from counterflow.base.files import replace

NAME = "files.json"
Options = Mapping[str, str | None]
"""What decides how a file is read, by the name of its option; None where it was not given."""


class FileState(msgspec.Struct, frozen=True):
    """A file as it was when a `look` began to read it, and its options."""

    size: int
    mtime_ns: int
    options: dict[str, str | None]


class _List(msgspec.Struct, forbid_unknown_fields=True):
    next: int = 0
    files: dict[str, FileState] = {}


class Files:
    """The list in a folder; without a folder it is empty, and not kept.

    Raises
    ------
    CounterflowError : the folder's list cannot be read.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / NAME if folder else None
        self._list = _List()
        if self._path is not None and self._path.exists():
            try:
                self._list = msgspec.convert(json.loads(self._path.read_bytes()), _List)
            except (ValueError, msgspec.ValidationError) as error:
                what = f"{self._path} is not the list of the files in this folder: {error}"
                hint = "restore it, or use another folder, into which all is read: counterflow look PATH --keep FOLDER"
                raise CounterflowError(what, hint=hint, exit_code=2) from None

    def fresh(self, paths: Iterable[Path], options: Options) -> list[tuple[Path, FileState | None]]:
        """Return those that are new, or changed since they were read, with their state: None where there is no file.

        Raises
        ------
        CounterflowError : one of them was read with other options; the folder would keep its rows of both readings.
        """
        found: list[tuple[Path, FileState | None]] = []
        for path in paths:
            before, now = self._list.files.get(realpath(path)), _state(path, options)
            if before and now and (others := sorted(before.options.items() - now.options.items())):
                was = ", ".join(f"no --{name}" if value is None else f"--{name} {value}" for name, value in others)
                hint = "use another folder, or another name where it is another file now"
                raise CounterflowError(f"{path} was read with {was}", hint=hint, exit_code=2)
            if before is None or before != now:
                found.append((path, now))
        return found

    def reserve(self, count: int) -> int:
        """Return the first of `count` numbers that no file of this folder had, not even in a look that was killed."""
        first = self._list.next
        self._list.next += count
        self._save()
        return first

    def add(self, read: Iterable[tuple[Path, FileState | None]]) -> None:
        self._list.files |= {realpath(path): state for path, state in read if state}
        self._save()

    def _save(self) -> None:
        if self._path is not None:
            replace(self._path, json.dumps(msgspec.to_builtins(self._list)).encode())


def _state(path: Path, options: Options) -> FileState | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return FileState(stat.st_size, stat.st_mtime_ns, dict(options))

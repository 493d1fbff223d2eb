"""What the user gives: files, those below folders among them, and what they do not state themselves."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from counterflow.base.errors import CounterflowError

_DESCRIBES = re.compile(r"readme|licen[cs]e|changelog|.*\.md$", re.IGNORECASE)
"""Names of files that describe recordings, and are none."""


class ReadingOptions(NamedTuple):
    """The options by which files are read, as `collectors.reading.read_each` takes them.

    Parameters
    ----------
    zone : of local times.
    system : name of the system, instead of the one in the file.
    date_order : of ambiguous dates.
    at : time of a listing that carries none, or begin of a run; without a zone it is in `zone`.
    """

    zone: ZoneInfo
    system: str | None = None
    date_order: Literal["ymd", "mdy", "dmy"] | None = None
    at: datetime | None = None


def given(paths: Iterable[Path], written: Collection[Path] = ()) -> tuple[list[Path], list[Path]]:
    """Return local files, those below local folders sorted, and the folders without a file.

    A file that is missing is returned, to be reported when it is read.

    Parameters
    ----------
    written : files and folders that the caller writes, and does not read.

    Raises
    ------
    CounterflowError : there is no file.
    """
    found: list[Path] = []
    empty: list[Path] = []
    for path in paths:
        files = [path] if _may_be_file(path) or not path.is_dir() else sorted(_below(path, written))
        found += files
        empty += [] if files else [path]
    if not found:
        raise CounterflowError(f"no file in {', '.join(map(str, empty))}", hint="name a recording", exit_code=2)
    return found, empty


def _below(folder: Path, written: Collection[Path]) -> Iterator[Path]:
    """Yield the files below a folder that may be recordings, and each folder that cannot be read, to be reported later.

    Hidden files and those of operating systems are left out, as in an archive, and so are what the caller writes, and
    the folders of databases and stacks.
    """
    from counterflow.collectors.sources.files import passed_over
    from counterflow.schemas import vintage

    unreadable: list[Path] = []
    for name, folders, files in os.walk(folder, onerror=lambda error: unreadable.append(Path(error.filename))):
        place, resolved = Path(name), Path(name).resolve()
        if vintage.FILE in files and resolved not in written:
            folders.clear()
            continue
        folders[:] = [found for found in folders if resolved / found not in written]
        for found in files:
            path = place / found
            if not passed_over(path.relative_to(folder).parts) and resolved / found not in written:
                yield from filter(_may_be_file, (path,))
    yield from unreadable


def _may_be_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # to be reported when it is read
        return True


def size_of(path: Path) -> int:
    """Return the bytes of a file; 0 where it cannot be examined, to be reported when it is read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def lies_beside(name: str, named: Iterable[Path | str]) -> bool:
    """Return whether a file without figures is no recording: one below a folder that describes others, or a result.

    `named` are the paths that the user gave: a file among them is a recording.
    """
    from counterflow.collectors.sources.files import unicode
    from counterflow.schemas.definition import datasets

    file = name.rpartition("/")[2]
    beside = _DESCRIBES.match(file) or file in {"report.html", *(f"{dataset}.parquet" for dataset in datasets())}
    return bool(beside) and name not in {unicode(str(path)) for path in named}

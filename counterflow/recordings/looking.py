"""`counterflow.look`: the command `look` as a function."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import CounterflowError
from counterflow.recordings.database import Database, parts
from counterflow.recordings.given import ReadingOptions, given, lies_beside

_open: Database | None = None


def look(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    zone: str | ZoneInfo = "UTC",
    system: str | None = None,
    date_order: Literal["ymd", "mdy", "dmy"] | None = None,
    at: datetime | None = None,
    keep: str | PathLike[str] | None = None,
) -> Database:
    """Read files and those below folders, compute all figures, and return a connection to them.

    The engine has one database in a process, so a look closes the one before. A file that gives no figures is a
    warning. In a script, call it below `if __name__ == "__main__":`, since processes of their own read the files.

    Parameters
    ----------
    zone, system, date_order, at : what the files do not state: see `ReadingOptions`.
    keep : folder of a database to keep, as `look --keep`: a file that it holds is not read again.

    Raises
    ------
    CounterflowError : no file holds an interval, or the disk refuses.
    """
    global _open
    if _open is not None:
        _open.close()
        _open = None
    named = [Path(path) for path in ([paths] if isinstance(paths, str | PathLike) else paths)]
    kept = None if keep is None else Path(keep)
    files, empty = given(named, {part.resolve() for part in parts(kept)} if kept else ())
    for folder in empty:
        warnings.warn(f"no file in {folder}", stacklevel=2)
    options = ReadingOptions(ZoneInfo(str(zone)), system, date_order, at)
    with refusals(*filter(None, (kept,))):
        database = Database(kept)
        try:
            for one in database.read(files, options):
                if one.error and not lies_beside(one.name, named):
                    place = f"{one.name}:{one.line}" if one.line else one.name
                    warnings.warn(f"{place}: {one.error}", stacklevel=2)
            database.compute()
            database.require_intervals()
        except BaseException:
            database.close()
            raise
    _open = database
    return database


@contextmanager
def refusals(*folders: Path) -> Iterator[None]:
    """Raise a refusal by the disk, to this process or its engine, as `CounterflowError`; `folders` are written to."""
    hint = f"look needs room in {tempfile.gettempdir()} (TMPDIR names another), and in the folders that it writes to"
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        elsewhere = tempfile.gettempdir(), "standard output"
        place = error.filename or " or ".join(map(str, folders or elsewhere))
        raise CounterflowError(f"{place}: {error.strerror or error}", hint=hint, exit_code=2) from None
    except ClickHouseError as error:
        text = str(error).partition("DB::Exception: ")[2].partition(". (")[0] or str(error)
        raise CounterflowError(f"the database refused: {text}", hint=hint, exit_code=2) from None

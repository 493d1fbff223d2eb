"""Marks a folder of data with the version that made it, and refuses a folder that this version cannot take over.

It decides from files alone, before a server or an engine opens them.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import msgspec

from counterflow.base.errors import CounterflowError
from counterflow.base.files import replace
from counterflow.schemas.migrations import schema

FILE = "made_by.json"


class Mark(msgspec.Struct, frozen=True):
    """The version that used a folder last, and the digest of the tables that its database has or is to get."""

    version: str
    schema: str = "of a checkout that was never released"


def claim(folder: Path, *, database: Path, topics: Path | None = None, hint: str) -> None:
    """Mark a folder as of this version; for parameters and errors see `require`."""
    require(folder, database=database, topics=topics, hint=hint)
    mark = Mark(version("counterflow"), schema().digest)
    if mark != _mark(folder):
        folder.mkdir(parents=True, exist_ok=True)
        replace(folder / FILE, msgspec.json.format(msgspec.json.encode(mark)))


def require(folder: Path, *, database: Path, topics: Path | None = None, hint: str, whole: bool = False) -> None:
    """Refuse a folder with data that this version would lose or misread.

    Parameters
    ----------
    folder : carries the mark; it need not exist.
    database : folder of the engine's data.
    topics : the broker's folder of logs.
    hint : what to do instead.
    whole : refuse a database that lacks a migration, too.

    Raises
    ------
    CounterflowError : the folder holds such data.
    """
    found = _mark(folder)
    refused = None
    if found is not None:
        refused = _of_tables(found, whole)
    elif (topics and any(topics.glob("counterflow.*-*"))) or (database / "metadata/counterflow.sql").exists():
        refused = f"holds data, but no {FILE}: an older version made it, which was never released"
    if refused:
        raise CounterflowError(f"{folder} {refused}", hint=hint, exit_code=2)


def _of_tables(found: Mark, whole: bool) -> str | None:
    """Return why the tables are not those of this version, and its migrations do not make them so."""
    scripts = schema().scripts_from(found.schema)
    if scripts is None:
        return f"was made by version {found.version}, whose tables differ"
    if whole and scripts:
        return f"was made by version {found.version}, and lacks {next(iter(scripts))}"
    return None


def _mark(folder: Path) -> Mark | None:
    """Return the mark of a folder; None where it has none. Raises `CounterflowError` where it cannot be read."""
    path = folder / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Mark)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except msgspec.DecodeError as error:
        what = f"{path} is not the mark of a version: {error}"
        raise CounterflowError(what, hint="restore the file, or take another folder", exit_code=2) from None

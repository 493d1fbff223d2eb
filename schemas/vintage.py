"""Marks a folder of data with the version that made it, and refuses a folder that this version cannot take over.

It decides from files alone, before a server or an engine opens them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path

import msgspec

from counterflow.base.errors import CounterflowError
from counterflow.base.files import replace
from counterflow.schemas.definition import datasets
from counterflow.schemas.migrations import schema

FILE = "made_by.json"
_TOPIC = re.compile(r"counterflow\.(\w+)\.v(\d+)$")


class Mark(msgspec.Struct, frozen=True):
    """The version that used a folder last, and the digest of each script that its database has or is to get."""

    version: str
    migrations: dict[str, str]


def claim(folder: Path, *, database: Path, topics: Path | None = None, hint: str) -> None:
    """Mark a folder as of this version; for parameters and errors see `require`."""
    require(folder, database=database, topics=topics, hint=hint)
    mark = Mark(version("counterflow"), schema().digests)
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
    whole : refuse a database that lacks a script, too.

    Raises
    ------
    CounterflowError : the folder holds such data.
    """
    found = _mark(folder)
    logs = [log.name.rpartition("-")[0] for log in topics.glob("counterflow.*-*")] if topics else []
    refused = _of_topics(logs)
    if found is not None:
        refused = refused or _of_tables(found, whole)
    elif logs or (database / "metadata/counterflow.sql").exists():
        refused = refused or f"holds data, but no {FILE}: an older version made it, which was never released"
    if refused:
        raise CounterflowError(f"{folder} {refused}", hint=hint, exit_code=2)


def require_topics(names: Iterable[str]) -> None:
    """Refuse a broker that has topics of an older version; raises `CounterflowError`."""
    if refused := _of_topics(names, operator.lt):
        hint = "let the version that made it land what it holds, delete it, and try again"
        raise CounterflowError(f"the broker {refused}", hint=hint, exit_code=2)


def _of_topics(names: Iterable[str], other: Callable[[int, int], bool] = operator.ne) -> str | None:
    """Return why records in these topics would never land: a dataset's topic has the version of its frames."""
    known = datasets()
    for name in sorted(set(names)):
        found = _TOPIC.match(name)
        if found and found[1] in known and other(int(found[2]), known[found[1]].version):
            return f"has the topic {name}, which this version does not read: it has {known[found[1]].topic}"
    return None


def _of_tables(found: Mark, whole: bool) -> str | None:
    """Return why the tables are not those of this version, and its migrations do not make them so."""
    ours = schema()
    if newer := ours.newer(found.migrations):
        return f"was made by a newer version, {found.version}: this one lacks its migration {', '.join(newer)}"
    if others := [*ours.edited(found.migrations), *ours.differing(found.migrations)]:
        return f"was made by version {found.version}, whose tables differ: {', '.join(others)}"
    if whole and (lacking := ours.pending(found.migrations)):
        return f"was made by version {found.version}, and lacks {', '.join(script.id for script in lacking)}"
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

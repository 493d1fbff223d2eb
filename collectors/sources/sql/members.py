"""Files with one member per collection (Collection Services): every member once, then the one that is written now.

From a member that may still be written, an interval is taken once it is whole: a later one exists, or two counts of its
rows, one interval of the pack apart, are equal. The position of a file holds the last interval taken of each member.
So reading goes on behind that interval after a connection is lost in the middle of a member.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from counterflow.collectors.formats.ibmi_tables.description import description
from counterflow.collectors.sources.polling.batch import Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError
from counterflow.collectors.sources.sql.packs import SYSTEM_NAME, Members, PhysicalFile
from counterflow.collectors.sources.sql.session import SqlSession

KEYS = ("INTNUM", "DATETIME")
"""Columns that number the intervals: the first that the file has is used; without one a member is one interval."""
REMEMBERED = 200
"""Most finished members that stay known when no listing names them any more; a name comes again after a year."""

_NAME = re.compile(SYSTEM_NAME)
_LABELS = ("COLUMN_NAME", "COLUMN_TEXT", "COLUMN_HEADING")
_BINARY = ("BINARY", "VARBIN", "VARBINARY", "BLOB")


class Member(NamedTuple):
    """A member; while it is `open`, more may be written to it."""

    name: str
    open: bool


class _Part(NamedTuple):
    """A file as it is on this system: an expression for each of its columns, and the columns discovered."""

    file: str
    columns: dict[str, str]
    named: dict[str, str]

    def alias(self, member: str) -> str:
        """Return the name by which SQL can address a member of the file."""
        return f"QTEMP.{self.file}_{member}"


class Follow:
    """All files of one library, and the members in them; `library` left out is that of the active collection."""

    def __init__(
        self,
        members: Members,
        interval_s: float,
        system: str,
        committed: Mapping[str, Cursor],
        library: str | None = None,
    ) -> None:
        """Go on behind the committed position of each file."""
        self.interval_s = interval_s
        self._members = members
        self._system = system
        self._committed = committed
        self._library = library
        self._streams: dict[str, Stream] = {}
        self._newest: dict[tuple[str, str], tuple[Any, int]] = {}
        self._gone: set[tuple[str, str]] = set()
        self._found: dict[tuple[int, str | None, str], list[_Part]] = {}

    def read(self, session: SqlSession) -> Iterator[Batch]:
        """Yield one batch per interval of a member, oldest first; a file that fails does not stop the others."""
        active_library, active = self._active(session)
        library = self._library or active_library or self._members.library
        listed = self._listed(session, library)
        if active_library != library:
            active = None
        parts: dict[str, list[_Part]] = {}
        for file in self._members.files:
            stream = self._stream(library, file)
            if not stream.is_absent:
                try:
                    parts[file.table] = self._parts(session, library, file, active)
                except SessionError as error:
                    yield from stream.troubled(error)
        everywhere = set().union(*listed.values())
        waiting: set[str] = set()
        for member in in_order(everywhere, active, is_known=active_library is not None):
            for file in self._members.files:
                stream = self._stream(library, file)
                place = (stream.name, member.name)
                if file.table not in parts or place in self._gone or stream.name in waiting:
                    continue
                try:
                    grows = yield from self._member(
                        session, stream, library, member, parts[file.table], file.by, everywhere
                    )
                except SessionError as error:
                    if error.kind is not ErrorKind.ABSENT:
                        yield from stream.troubled(error)
                    elif member.name != active:  # listed, and not there: catalogs were found stale
                        self._gone.add(place)
                else:
                    if grows:
                        waiting.add(stream.name)  # later members are of a later time

    def _stream(self, library: str, file: PhysicalFile) -> Stream:
        name = f"{library}/{file.table}"
        if name not in self._streams:
            self._streams[name] = Stream(name, file.table, f"{self._system}:{name}", self._committed.get(name), library)
        return self._streams[name]

    def _active(self, session: SqlSession) -> tuple[str | None, str | None]:
        """Return library and name of the collection that is written now, as far as the system reports them."""
        for sql in self._members.active:
            for row in _rows(session, sql):
                return _text(row[0]) or None, _text(row[1]) or None
        return None, None

    def _listed(self, session: SqlSession, library: str) -> dict[str, set[str]]:
        """Return the members of each file; under "" those of collections that may be in any file."""
        listed: dict[str, set[str]] = {"": set()}
        for sql in self._members.listings:
            for row in _rows(session, sql, *[library] * sql.count("?")):
                file, member = ("", *map(_text, row))[-2:]
                if _NAME.match(member):
                    listed.setdefault(file, set()).add(member)
        return listed

    def _parts(self, session: SqlSession, library: str, file: PhysicalFile, active: str | None) -> list[_Part]:
        """Return the files behind one of the pack, looked up once per connection and collection."""
        place = (session.number, active, file.table)
        if place not in self._found:
            found = [part for name in file.parts if (part := self._part(session, library, name))]
            if not found:
                raise SessionError(ErrorKind.ABSENT, f"{library} has no file {' or '.join(file.parts)}")
            self._found = {k: v for k, v in self._found.items() if k[:2] == place[:2]} | {place: found}
        return self._found[place]

    def _part(self, session: SqlSession, library: str, file: str) -> _Part | None:
        """Return a file as the catalog describes it, None where it has no such file."""
        answer = session.query(self._members.columns, (library, file))
        rows = [dict(zip(answer.columns, map(_text, row), strict=True)) for row in answer.rows]
        known = description(file)
        described, fields = (known.names, known.fields) if known else ({}, {})
        binary = {row["COLUMN_NAME"] for row in rows if row.get("DATA_TYPE") in _BINARY}
        binary |= {name for name, field in fields.items() if field.form == "binary"}
        names = [row["COLUMN_NAME"] for row in rows]
        columns = {name: "HEX({})" if name in binary else "{}" for name in names}
        named = {}
        for wanted in self._members.discover:
            if file in wanted.files:
                fitting = [
                    row["COLUMN_NAME"]
                    for row in rows
                    if row["COLUMN_NAME"] not in described
                    and all(w in " ".join(str(row.get(of)) for of in _LABELS).upper() for w in wanted.words)
                ]
                if len(fitting) == 1:
                    named[wanted.fills] = fitting[0]
        return _Part(file, columns, named) if rows else None

    def _member(
        self,
        session: SqlSession,
        stream: Stream,
        library: str,
        member: Member,
        parts: list[_Part],
        by: tuple[str, ...],
        listed: Iterable[str],
    ) -> Generator[Batch, None, bool]:
        """Yield the new intervals of one member; return whether more of it is on its way."""
        done: list[str] = stream.position.get("done", [])
        if member.name in done:
            return False
        began = time.monotonic()
        key = next((key for key in KEYS if all(key in part.columns for part in parts)), None)
        taken: dict[str, Any] = stream.position.get("at", {})
        at = taken.get(member.name)
        parts, counted = _counted(session, library, member.name, parts, key, at)
        new, is_settled = self._new(counted, at, (stream.name, member.name), member.open and key is not None)
        if new:
            table = parts[0].file if len(parts) == 1 else stream.table
            origin = f"{self._system}:{library}/{table}({member.name})"
            named = {fills: name for part in parts for fills, name in part.named.items()}
            sql, parameters = _selected(member.name, parts, by, key, new)
            answer = session.query(sql, parameters)
            for interval, rows in _by_interval(answer.columns, answer.rows, key):
                taken = {**taken, member.name: [interval, counted.get(interval, len(rows))]}
                batch = stream.reached(began, answer.columns, rows, at=taken)
                batch.table, batch.origin, batch.named = table, origin, named
                yield batch
                began = time.monotonic()
        elif is_settled and not member.open:
            unlisted = [name for name in done if name not in listed][-REMEMBERED:]
            kept = [name for name in done if name in listed or name in unlisted]
            taken = {name: place for name, place in taken.items() if name != member.name}
            yield stream.reached(began, at=taken, done=[*kept, member.name])
        return not is_settled

    def _new(self, counted: dict[Any, int], at: Any, place: tuple[str, str], may_grow: bool) -> tuple[list[Any], bool]:
        """Return the whole intervals behind `at`, and whether the newest is whole.

        `at` is the last interval taken and the number of its rows: one that gained rows is taken again, as it is now.
        """
        newest = next(reversed(counted.items()), None)
        is_settled = not may_grow or newest is None or self._newest.get(place) == newest
        if newest:
            self._newest[place] = newest
        whole = list(counted)[: None if is_settled else -1]
        return [interval for interval in whole if [interval, counted[interval]] != at], is_settled


def in_order(names: Iterable[str], active: str | None, *, is_known: bool) -> list[Member]:
    """Return members from the oldest to the active one.

    A name begins with the day of the year, so those behind the active one in the alphabet are of the year before. The
    active member stays open, and so does the one before it, whose last interval may still be on its way. Where the
    system does not report which one is active, all stay open.
    """
    names = {*names, *([active] if active else [])}
    ordered = sorted(names, key=lambda name: (active is None or name <= active, name))
    return [Member(name, open=not is_known or place >= len(ordered) - 2) for place, name in enumerate(ordered)]


def _counted(
    session: SqlSession, library: str, member: str, parts: list[_Part], key: str | None, at: Any
) -> tuple[list[_Part], dict[Any, int]]:
    """Return the files that have the member, and the number of its rows by interval, in order.

    Intervals before the last one taken are left out. Without a key all rows are of interval 0.

    Raises
    ------
    SessionError : ABSENT where no file has it.
    """
    where, parameters = (f" WHERE {key} >= ?", [at[0]]) if key and at else ("", [])
    found, counted, absent = list[_Part](), Counter[Any](), None
    for part in parts:
        alias = part.alias(member)
        sql = f"SELECT K, COUNT(*) FROM (SELECT {key or 0} AS K FROM {alias}{where}) U WHERE K IS NOT NULL GROUP BY K"
        try:
            session.run(f"CREATE OR REPLACE ALIAS {alias} FOR {library}.{part.file} ({member})")
            counted.update({_plain(k): int(n) for k, n in session.query(sql, parameters).rows})
        except SessionError as error:
            if error.kind is not ErrorKind.ABSENT:
                raise
            absent = error
        else:
            found.append(part)
    if absent and not found:
        raise absent
    return found, dict(sorted(counted.items()))


def _selected(
    member: str, parts: list[_Part], by: tuple[str, ...], key: str | None, new: list[Any]
) -> tuple[str, list[Any]]:
    """Return the query for the rows of the intervals `new`, in their order."""
    where, parameters = (f" WHERE {key} BETWEEN ? AND ?", [new[0], new[-1]]) if key else ("", [])
    joined, *others = (f"(SELECT * FROM {part.alias(member)}{where}) P{n}" for n, part in enumerate(parts))
    for n, other in enumerate(others, 1):
        joined += f" FULL OUTER JOIN {other} ON " + " AND ".join(f"P0.{name} = P{n}.{name}" for name in by)
    columns = {}
    for name in dict.fromkeys(name for part in parts for name in part.columns):
        quoted = '"' + name.replace('"', '""') + '"'
        places = [n for n, part in enumerate(parts) if name in part.columns]
        values = ", ".join(f"P{n}.{quoted}" for n in places)
        value = f"COALESCE({values})" if len(places) > 1 else values
        columns[name] = f"{parts[places[0]].columns[name].format(value)} AS {quoted}"
    order = f" ORDER BY {list(columns).index(key) + 1}" if key else ""
    return f"SELECT {', '.join(columns.values())} FROM {joined}{order}", parameters * len(parts)


def _by_interval(
    columns: tuple[str, ...], rows: Iterator[Any], key: str | None
) -> Iterator[tuple[Any, list[tuple[Any, ...]]]]:
    """Yield the key and the rows of each interval; without a key, all rows under 0."""
    if key is None:
        yield 0, [tuple(row) for row in rows]
        return
    for interval, found in groupby(rows, key=itemgetter(columns.index(key))):
        yield _plain(interval), [tuple(row) for row in found]


def _rows(session: SqlSession, sql: str, *parameters: Any) -> list[Any]:
    """Return the rows of a catalog query, none where this release does not have it."""
    try:
        return list(session.query(sql, parameters).rows)
    except SessionError as error:
        if error.kind in (ErrorKind.LOST, ErrorKind.REFUSED):
            raise
        return []


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _plain(value: Any) -> Any:
    """Return a key as JSON and as the next query can name it."""
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, str):
        return value.strip()
    return int(value)

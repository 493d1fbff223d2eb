"""ClickHouse in this process: chdb, the engine of the one-machine stack as a library, with a folder of its own.

Own code gives it the interface of a connection: chdb's settings last as long as its session, each of its blocks begins
with a header, and its errors are text.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings, literal, wire
from counterflow.base.errors import CounterflowError

_LINE, _QUOTED_LINE = re.compile(rb"[^\n]*\n"), re.compile(rb"(?:[^\"\n]|\"(?:[^\"]|\"\")*\")*\n")
_HEADERS = {
    **dict.fromkeys(("TSVWithNames", "TabSeparatedWithNames", "JSONCompactEachRowWithNames"), _LINE),
    "CSVWithNames": _QUOTED_LINE,
    **dict.fromkeys(("TSV", "TabSeparated", "CSV", "JSONEachRow", "JSONLines"), re.compile(rb"")),
}
"""Formats with one line per row, and the header of each; in any other format a block is a complete document."""
_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*(?:SETTINGS\b.*)?;?\s*\Z", re.IGNORECASE | re.DOTALL)
_ROWS = re.compile(r"(?:\s|\(|--[^\n]*\n|/\*.*?\*/)*(?:SELECT|WITH)\b", re.IGNORECASE | re.DOTALL)
_WHOLE = re.compile(r"\bTOTALS\b|\bINTO\s+OUTFILE\b", re.IGNORECASE)
"""What a statement has whose result is not read block by block."""
_SETTINGS = {
    # compiling an expression takes longer than it saves in a process that runs each query once
    "compile_expressions": "0",
    "compile_aggregate_expressions": "0",
    "compile_sort_description": "0",
    # a folder may hold any number of days; by default the engine refuses an insert of more than a hundred
    "max_partitions_per_insert_block": "0",
    # times without a zone are those of the machine otherwise
    "session_timezone": "UTC",
}
_CODE = re.compile(r"Code: (\d+)\. ")


class Embedded(ClickHouse):
    """A database in this process with the interface of a connection; statements run one after the other.

    The library allows one database per process, and refuses a second one with another folder.

    Parameters
    ----------
    folder : where the database is; created if missing.
    writable : False refuses every statement that would change it: see `make_read_only`, also for `limits`.
    """

    def __init__(self, folder: Path, *, writable: bool = True, limits: Settings | None = None) -> None:
        """Open the database; for other errors see `library`.

        Raises
        ------
        CounterflowError : another process has it open, or this user may not write into its folder, as the engine must.
        """
        try:
            self._session: Any = library().Session(str(folder))
        except (RuntimeError, TypeError) as error:
            reason = "its name is not UTF-8" if isinstance(error, TypeError) else str(error)[:300]
            raise CounterflowError(
                f"{folder} cannot be opened: {reason}",
                hint="another command may have it open, or this user may not write there, as the engine must to read",
                exit_code=2,
            ) from None
        self._set: dict[str, str] = {}
        self._limited = False
        self._lock = Lock()
        self.post("SET " + ", ".join(f"{name} = {literal(value)}" for name, value in _SETTINGS.items()))
        if not writable:
            self.make_read_only(limits)

    def make_read_only(self, limits: Settings | None = None) -> None:
        """Refuse from now on every statement that would change the database.

        With `limits`, statements have these settings, and may have no others: only then the engine refuses to read
        files and addresses too.
        """
        if limits is not None:
            self._adjust(limits)
            self._limited = True
        self.post(f"SET readonly = {2 if limits is None else 1}")

    def post(self, sql: str, body: bytes | Sequence[bytes] = b"", settings: Settings | None = None) -> bytes:
        """Run one statement with its data, settings and `param_<name>` values; return its output.

        Raises
        ------
        ClickHouseError : the engine refused the statement.
        """
        data = body if isinstance(body, bytes) else b"".join(body)
        with self._lock, _refusals():
            form, parameters = self._adjust(settings or {})
            found = self._session.query(f"{sql}\n{data.decode()}" if data else sql, form, params=parameters)
            return bytes(found.bytes()) if found is not None and found.size() else b""

    @contextmanager
    def stream(self, sql: str, settings: Settings | None = None) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Run one statement; yield the name of its format and its bytes, block by block where a row is a line.

        Raises
        ------
        ClickHouseError : the engine refused the statement, perhaps after its first rows.
        """
        named = _FORMAT.search(sql)
        form = named[1] if named else str((settings or {}).get("default_format", "TabSeparated"))
        header = _HEADERS.get(form)
        if header is None or not _ROWS.match(sql) or _WHOLE.search(sql):
            yield form, iter((self.post(sql, settings=settings),))
        else:
            with closing(self._pieces(sql, settings or {}, header)) as pieces:  # a reader may stop before the end
                yield form, pieces

    def _pieces(self, sql: str, settings: Settings, header: re.Pattern[bytes]) -> Generator[bytes]:
        """Yield the blocks with a single header: the library begins each block with one."""
        first = True
        with self._lock, _refusals():
            form, parameters = self._adjust(settings)
            blocks = self._session.send_query(sql, form, params=parameters)
            try:
                for block in blocks:
                    piece = bytes(block.bytes())
                    found = header.match(piece)
                    yield piece if first or found is None else piece[found.end() :]
                    first = False
            finally:
                blocks.close()
        if first:
            yield self.post(sql, settings=settings)  # a result without rows has no block, but it has a header

    def close(self) -> None:
        self._session.close()

    def _adjust(self, given: Settings) -> tuple[str, dict[str, str]]:
        """Return format and parameters of a statement; apply its settings and reset those of the one before.

        Settings last as long as the session.
        """
        written = {name: wire(name, value) for name, value in given.items()}
        form = written.pop("default_format", "TabSeparated")
        parameters = {name.removeprefix("param_"): v for name, v in written.items() if name.startswith("param_")}
        wanted = {name: value for name, value in written.items() if not name.startswith("param_")}
        reset = set() if self._limited else self._set.keys() - wanted.keys()
        changes = {name: literal(_SETTINGS[name]) if name in _SETTINGS else "DEFAULT" for name in reset}
        changes |= {name: literal(value) for name, value in wanted.items() if self._set.get(name) != value}
        if changes:
            self._session.query("SET " + ", ".join(f"{name} = {value}" for name, value in changes.items()))
        self._set = self._set | wanted if self._limited else wanted
        return form, parameters


def library() -> Any:
    """Return the library. While it first loads, no other thread may open a path: it changes the working directory.

    Raises
    ------
    ModuleNotFoundError : the extra `look` is not installed.
    """
    os.environ["TMPDIR"] = tempfile.gettempdir()  # a writable folder; the library uses no other
    from chdb import session

    return session


@contextmanager
def _refusals() -> Iterator[None]:
    """Raise the library's exceptions, which are undocumented, as `ClickHouseError`."""
    try:
        yield
    except (ClickHouseError, GeneratorExit):
        raise
    except Exception as error:
        code = _CODE.search(str(error))
        text = str(error)[code.start() :] if code else str(error)
        raise ClickHouseError(int(code[1]) if code else 0, 500, text) from None

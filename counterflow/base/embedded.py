"""ClickHouse in this process: the engine of the one-machine stack as a library, with a folder of its own or none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings, wire

_CODE = re.compile(r"Code: (\d+)\. ")


class Embedded(ClickHouse):
    """A database in this process with the interface of a connection; statements run one after the other.

    The library allows one database a process: a second one with another folder is refused by it.

    Parameters
    ----------
    folder : where the database is kept; created if missing. None: in memory, gone with the process.
    writable : False refuses every statement that would change it.
    """

    def __init__(self, folder: Path | None = None, *, writable: bool = True) -> None:
        """Open the database; raises ModuleNotFoundError where the extra `look` is not installed."""
        from chdb.session import Session

        self._session: Any = Session(  # type: ignore[no-untyped-call]
            None if folder is None else str(folder)
        )
        self._set: dict[str, str] = {}
        self._lock = Lock()
        if not writable:
            self.post("SET readonly = 2")

    def post(self, sql: str, body: bytes | Sequence[bytes] = b"", settings: Settings | None = None) -> bytes:
        """Run one statement with its data, settings and `param_<name>` values; return what it gives.

        Raises
        ------
        ClickHouseError : the engine refused it.
        """
        given = {name: wire(name, value) for name, value in (settings or {}).items()}
        form = given.pop("default_format", "TabSeparated")
        parameters = {name.removeprefix("param_"): v for name, v in given.items() if name.startswith("param_")}
        wanted = {name: value for name, value in given.items() if not name.startswith("param_")}
        data = body if isinstance(body, bytes) else b"".join(body)
        text = f"{sql}\n{data.decode()}" if data else sql
        with self._lock:
            try:
                self._adjust(wanted)
                found = self._session.query(text, form, params=parameters)
            except Exception as error:  # of the library, which documents none
                code = _CODE.search(str(error))
                raise ClickHouseError(int(code[1]) if code else 0, 500, str(error)) from None
            return bytes(found.bytes()) if found is not None and found.size() else b""

    @contextmanager
    def stream(self, sql: str, settings: Settings | None = None) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Run one statement; give the name of the format that was asked for, and its bytes in one piece.

        Raises
        ------
        ClickHouseError : the engine refused it.
        """
        form = str((settings or {}).get("default_format", "TabSeparated"))
        yield form, iter((self.post(sql, settings=settings),))

    def ping(self) -> bool:
        """Return True: the engine is in this process."""
        return True

    def close(self) -> None:
        """Close the database."""
        self._session.close()

    def _adjust(self, wanted: dict[str, str]) -> None:
        """Set what this statement needs and reset what an earlier one did: settings belong to the session."""
        changes = dict.fromkeys(self._set.keys() - wanted.keys(), "DEFAULT")
        changes |= {name: _quoted(value) for name, value in wanted.items() if self._set.get(name) != value}
        if changes:
            self._session.query("SET " + ", ".join(f"{name} = {value}" for name, value in changes.items()))
        self._set = wanted


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

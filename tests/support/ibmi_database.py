"""A real DB-API database that holds tables of IBM i under their own names: SQLite, one file a library.

It is a driver like those of the product. SQL of Db2 for i that SQLite lacks is translated: an alias of a
member is a view of the table `FILE(MEMBER)`, a table function is a table `F()`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from counterflow.collectors.sources.sql.drivers import REFUSED_STATE, SqlTarget

PASSWORD = "correct horse 'battery'"
LIBRARIES = ("QSYS2", "SYSIBM", "QUSRSYS", "QPFRDATA")

executed: list[str] = []
"""Every statement, as the product wrote it."""

_ALIAS = re.compile(r"CREATE OR REPLACE ALIAS QTEMP\.(\S+) FOR (\S+)\.(\S+) \((\S+)\)")
_FUNCTION = re.compile(r"TABLE\((\w+)\.(\w+)\([^()]*\)\)")


class Refused(Exception):  # noqa: N818
    """This system's answer to a wrong password."""


def connect(target: SqlTarget, password: str) -> Connection:
    """Connect to the folder in the properties."""
    folder = Path(str(target.properties["folder"]))
    if password != PASSWORD:
        raise Refused(f"user {target.user} with password {password} is not authorized")
    if (folder / "down").exists():
        raise ConnectionRefusedError(f"{target.host} with {password}: connection refused")
    connection = Connection(":memory:", isolation_level=None, check_same_thread=False, timeout=20)
    for library in LIBRARIES:
        sqlite3.Cursor(connection).execute(f"ATTACH ? AS {library}", [str(folder / f"{library}.db")])
    # Days and seconds as those functions of Db2 return them, of a timestamp as text.
    connection.create_function("DAYS", 1, lambda at: at and datetime.fromisoformat(at).toordinal())
    connection.create_function("MIDNIGHT_SECONDS", 1, _midnight_seconds)
    return connection


def cancel(connection: Connection, cursor: Cursor) -> None:
    """End the statement that runs."""
    connection.interrupt()


def sqlstate(error: BaseException) -> str:
    """Return the SQLSTATE of Db2 for i for the error."""
    if isinstance(error, Refused):
        return REFUSED_STATE
    if "no such table" in str(error):
        return "42704"
    return ""


def _midnight_seconds(at: str | None) -> int | None:
    if at is None:
        return None
    moment = datetime.fromisoformat(at)
    return moment.hour * 3600 + moment.minute * 60 + moment.second


class Connection(sqlite3.Connection):
    """A connection of SQLite whose cursors understand aliases and table functions."""

    def cursor(self, *_: object) -> Cursor:  # type: ignore[override]
        return Cursor(self)


class Cursor(sqlite3.Cursor):
    """A cursor of SQLite for statements of Db2 for i."""

    def execute(self, sql: str, parameters: Any = (), /) -> Self:
        executed.append(sql)
        if alias := _ALIAS.fullmatch(sql):
            name, library, file, member = alias.groups()
            super().execute(f"DROP VIEW IF EXISTS temp.{name}")
            sql = f'CREATE TEMP VIEW {name} AS SELECT * FROM {library}."{file}({member})"'
        sql = _FUNCTION.sub(r'\1."\2()"', sql).replace("QTEMP.", "temp.")
        return super().execute(sql, parameters)

    def fetchmany(self, size: int | None = 1) -> list[Any]:
        return super().fetchmany(min(size or 1, 3))  # small, so that a result comes in several parts


class System:
    """The writing side, which fills the tables of one system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.table("SYSIBM", "SYSDUMMY1", {"IBMREQD": "Y"})
        self.table("QSYS2", "SYSCOLUMNS", None, "TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME", "DATA_TYPE", "COLUMN_TEXT")
        self.table("QSYS2", "SYSPARTITIONSTAT", None, "TABLE_SCHEMA", "TABLE_NAME", "TABLE_PARTITION")

    def run(self, library: str, sql: str, *parameters: Any) -> None:
        self._change(library, (sql, parameters))

    def table(self, library: str, name: str, row: dict[str, Any] | None, *columns: str) -> None:
        """Recreate a table, with one row or none."""
        names = ", ".join(columns or row or ())
        make = [(f'DROP TABLE IF EXISTS "{name}"', ()), (f'CREATE TABLE "{name}" ({names})', ())]
        self._change(library, *make, *([_insert(name, row)] if row else []))

    def hangs(self, library: str, name: str) -> None:
        """Make a view that nobody sees the end of."""
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"
        self._change(library, (f'DROP TABLE IF EXISTS "{name}"', ()), (f'CREATE VIEW "{name}" AS {endless}', ()))

    def add(self, library: str, name: str, *rows: dict[str, Any]) -> None:
        self._change(library, *(_insert(name, row) for row in rows))

    def _change(self, library: str, *statements: tuple[str, Sequence[Any]]) -> None:
        """Change a library in one transaction: readers see its state before or after, nothing between."""
        with closing(sqlite3.connect(self.folder / f"{library}.db", timeout=20, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            for sql, parameters in statements:
                connection.execute(sql, parameters)
            connection.execute("COMMIT")

    def member(
        self, file: str, member: str, rows: Sequence[dict[str, Any]], texts: dict[str, str] | None = None
    ) -> None:
        """Make a member of a file, listed in the catalogs."""
        columns = list(rows[0])
        self.table("QPFRDATA", f"{file}({member})", None, *columns)
        self.add("QPFRDATA", f"{file}({member})", *rows)
        of, text = {"TABLE_SCHEMA": "QPFRDATA", "TABLE_NAME": file}, texts or {}
        self.add("QSYS2", "SYSPARTITIONSTAT", {**of, "TABLE_PARTITION": member})
        self.run("QSYS2", "DELETE FROM SYSCOLUMNS WHERE TABLE_NAME = ?", file)
        described = ({"COLUMN_NAME": c, "DATA_TYPE": "", "COLUMN_TEXT": text.get(c, "")} for c in columns)
        self.add("QSYS2", "SYSCOLUMNS", *(of | column for column in described))

    def active(self, member: str) -> None:
        """Set which collection is being written."""
        row = {"ACTIVE_COLLECTION_LIBRARY": "QPFRDATA", "ACTIVE_COLLECTION_NAME": member}
        self.table("QSYS2", "COLLECTION_SERVICES_INFO", row)

    def nrg(self, out_bytes: int) -> None:
        """Set the counters of one network redundancy group."""
        row = {"NRG_NAME": "MIRROR_DATABASE", "NRG_STATE": "ACTIVE", "LINK_COUNT": 2, "ACTIVE_LINK_COUNT": 2}
        row |= {"CONNECTIONS": 8}
        sent = {"OUTBOUND_RDMA_BYTES": out_bytes, "INBOUND_RDMA_BYTES": 2 * out_bytes}
        self.table("QSYS2", "NRG_INFO", {**row, **sent})


def _insert(name: str, row: dict[str, Any]) -> tuple[str, Sequence[Any]]:
    return f'INSERT INTO "{name}" ({", ".join(row)}) VALUES ({", ".join("?" * len(row))})', list(row.values())


def pool_rows(first: int, last: int, pools: int = 4, day: int = 20) -> list[dict[str, Any]]:
    """Return rows of QAPMPOOLB, 15 minutes an interval from 00:15 of a day in November 2026; values differ by row."""
    return [
        {
            "INTNUM": n,
            "DTETIM": f"2611{day + n // 96:02}{n % 96 // 4:02}{n % 4 * 15:02}00",
            "INTSEC": 900,
            "DTECEN": "1",
            "PONBR": f"{pool:03}",
            "PONAME": f"POOL{pool}",
            "PODBF": 1000 * n + pool,
            "PONDBF": n,
        }
        for n in range(first, last + 1)
        for pool in range(1, pools + 1)
    ]

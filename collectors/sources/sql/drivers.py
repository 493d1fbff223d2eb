"""The interface of database drivers, and the drivers that exist.

A driver is a module with `connect` and `sqlstate`. Its connections offer the part of the Python DB-API (PEP 249)
in `Connection` and `Cursor`, with question marks for parameters, so a third driver is one more module.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

from pydantic import Field

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Rooted
from counterflow.base.strict import Strict

DRIVERS = {
    "mapepire": "counterflow.collectors.sources.sql.mapepire",
    "odbc": "counterflow.collectors.sources.sql.odbc",
}
"""The module of each driver; a configuration may hold any of the names."""

REFUSED_STATE = "28000"
"""SQLSTATE of a user or password that the system does not accept."""
LOST_STATE = "08001"
"""SQLSTATE of a connection that cannot be made or is gone."""


class Target(Strict):
    """A system to connect to and how; never the password.

    `ca` is a PEM file with the authority, or the certificate itself, by which the system is trusted, instead of those
    that the machine trusts. `properties` are handed to the driver as they are.
    """

    host: str = Field(pattern=r"^[A-Za-z0-9._:-]+$")
    port: int | None = Field(None, ge=1, le=65535)
    user: str = Field(min_length=1)
    ca: Rooted | None = None
    verify: bool = True
    properties: dict[str, str | int] = {}


class Cursor(Protocol):
    """One statement and its rows."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """One sequence per column, the name first."""
        ...

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...

    def fetchmany(self, size: int, /) -> Iterable[Sequence[Any]]:
        """Return the next rows, none at the end."""
        ...

    def close(self) -> None: ...


class Connection(Protocol):
    """A connection; statements take effect at once."""

    def cursor(self) -> Cursor: ...

    def close(self) -> None: ...


class Driver(Protocol):
    """How one database client connects, and how it reports what went wrong."""

    def connect(self, target: Target, password: str) -> Connection:
        """Return a connection; raises what the client raises."""
        ...

    def sqlstate(self, error: BaseException) -> str:
        """Return the SQLSTATE behind an error of the client, "" where it names none."""
        ...


def driver(name: str) -> Driver:
    """Return the driver of that name.

    Raises
    ------
    CounterflowError : its client is not installed.
    """
    return cast(Driver, importlib.import_module(DRIVERS[name]))


def client(module: str, extra: str) -> Any:
    """Import the client behind a driver.

    Raises
    ------
    CounterflowError : it, or a library that it needs, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise CounterflowError(
            f"{module} cannot be used: {error}", hint=f"pip install 'counterflow[{extra}]'", exit_code=2
        ) from None

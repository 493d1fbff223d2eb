"""The database drivers that exist, and what each offers.

A driver is a module with `connect(target, password)`, which returns a connection of the Python DB-API (PEP 249) whose
statements take effect at once and whose parameters are question marks; with `sqlstate(error)`: the SQLSTATE behind
an error of the client, "" where it names none; and with `cancel(connection, cursor)`, which another thread calls to end
the statement that the cursor runs, with an error. So a third driver is one more module.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

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


class SqlTarget(Strict):
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


def driver(name: str) -> ModuleType:
    """Return the driver of that name."""
    return importlib.import_module(DRIVERS[name])


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

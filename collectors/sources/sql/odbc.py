"""IBM i through ODBC: unixODBC and IBM's driver on this machine, the database host server on the system."""

from __future__ import annotations

import re
from typing import Any

from counterflow.collectors.sources.sql.drivers import SqlTarget, client

PROPERTIES = {"DRIVER": "IBM i Access ODBC Driver", "NAM": 0, "CMT": 0, "SSL": 1}
"""Keywords of the connection: SQL naming, no commitment control, TLS; those of the configuration override them."""
CONNECT_S = 30

_SPECIAL = re.compile(r"[][{}(),;?*=!@]|^\s|\s$|^$")

_module = client("pyodbc", "odbc")


def connect(target: SqlTarget, password: str) -> Any:
    """Return a connection; the driver's own configuration decides whom TLS trusts."""
    keywords = {**PROPERTIES, **target.properties, "SYSTEM": target.host, "UID": target.user, "PWD": password}
    text = ";".join(f"{name}={_quoted(str(value))}" for name, value in keywords.items())
    return _module.connect(text, autocommit=True, timeout=CONNECT_S)


def sqlstate(error: BaseException) -> str:
    """Return the SQLSTATE that pyodbc puts first."""
    return str(error.args[0]) if isinstance(error, _module.Error) and error.args else ""


def cancel(connection: Any, cursor: Any) -> None:
    """End the statement that the cursor runs; the connection stays."""
    cursor.cancel()


def _quoted(value: str) -> str:
    """Return a value in braces where ODBC requires them; not every driver accepts them elsewhere."""
    return "{" + value.replace("}", "}}") + "}" if _SPECIAL.search(value) else value

"""IBM i through Mapepire: a WebSocket server on the system, TLS from the first byte."""

from __future__ import annotations

import logging
import socket
import ssl
from pathlib import Path
from typing import Any

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.sql.drivers import LOST_STATE, REFUSED_STATE, SqlTarget, client

PORT = 8076
PROPERTIES = {"naming": "sql", "date format": "iso", "time format": "iso", "transaction isolation": "none"}
"""JDBC properties of the job that the server runs for us; those of the configuration override them."""

_module = client("mapepire_python", "mapepire")

for _name in ("mapepire_python", "websockets"):  # what they log they also raise, and there secrets can be removed
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


def connect(target: SqlTarget, password: str) -> Any:
    """Return a connection. The certificate must come from an authority in `ca`, or else one that this machine trusts.

    Without a `ca` the client would trust whatever certificate the server first shows, so it is always given one.

    Raises
    ------
    CounterflowError : the file of `ca` cannot be read, or this machine has no trusted authorities.
    """
    server = _module.DaemonServer(
        host=target.host,
        user=target.user,
        password=password,
        port=target.port or PORT,
        ignoreUnauthorized=not target.verify,
        ca=_authorities(target.ca) if target.verify else None,
    )
    return _module.connect(server, {**PROPERTIES, **target.properties})


def sqlstate(error: BaseException) -> str:
    """Return the SQLSTATE that the server reported, else that of a refused or broken WebSocket."""
    seen: BaseException | None = error
    while seen is not None:
        reported = seen.args[0] if seen.args else None
        if isinstance(reported, dict) and reported.get("sql_state"):
            return str(reported["sql_state"])
        if getattr(getattr(seen, "response", None), "status_code", None) in (401, 403):
            return REFUSED_STATE
        if isinstance(seen, OSError) or type(seen).__name__.startswith("ConnectionClosed"):
            return LOST_STATE
        seen = seen.__cause__ or seen.__context__
    return ""


def cancel(connection: Any, cursor: Any) -> None:
    """End the connection: the protocol has no request to cancel, and its end also ends the job of the server."""
    connection.job._socket.socket.shutdown(socket.SHUT_RDWR)


def _authorities(ca: Path | None) -> str:
    path = ca or ssl.get_default_verify_paths().cafile
    if path is None:
        raise CounterflowError("this machine has no file of trusted authorities", hint="set `ca: FILE`", exit_code=2)
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError as error:
        raise CounterflowError(f"{path}: {error.strerror}", hint="set `ca: FILE`", exit_code=2) from None

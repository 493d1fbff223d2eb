"""ClickHouse over HTTP: the one client of migrations, lander, queries and checks.

HTTP because every ClickHouse speaks it, the one-machine engine too. Each statement is one request; the answer's
exception code decides what the caller does, never the HTTP status alone.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.base.loopback import is_loopback

Settings = Mapping[str, str | int | Sequence[Any] | Mapping[str, int]]
"""Settings of a request, and values of `{name:Type}` in its statement as `param_name`: text, numbers, lists (Array) of
these or of tuples (Tuple), mappings (Map). Whatever a text holds, it stays a text."""


class ClickHouseError(Exception):
    """The server's refusal: `code` is ClickHouse's exception code (0: none given), `status` the HTTP status."""

    def __init__(self, code: int, status: int, text: str) -> None:
        """Keep the code, the status and the text of the answer."""
        super().__init__(text.strip())
        self.code = code
        self.status = status


class ClickHouse:
    """A connection pool to one server as one user.

    Parameters
    ----------
    url : base address, `http://127.0.0.1:18123`.
    user, password : sent as headers, so they appear in no address and no log.
    timeout_s : limit of one request.
    ca : PEM file with what the server's certificate has to be signed by; those that the machine trusts without it.

    Raises
    ------
    CounterflowError : the password would leave this machine unencrypted, or `ca` cannot be read.
    """

    def __init__(self, url: str, user: str, password: str, *, timeout_s: float = 60.0, ca: Path | None = None) -> None:
        """Open no connection yet."""
        address = httpx.URL(url)
        if address.scheme != "https" and not is_loopback(address.host):
            raise CounterflowError(
                f"{url} would be sent the password for everybody to read", hint="use https://", exit_code=2
            )
        self._http = httpx.Client(
            base_url=url,
            headers={"X-ClickHouse-User": user, "X-ClickHouse-Key": password},
            timeout=timeout_s,
            trust_env=False,
            verify=_trust(ca),
        )

    def post(self, sql: str, body: bytes | Sequence[bytes] = b"", settings: Settings | None = None) -> bytes:
        """Send one statement with its data and settings (or `param_<name>` values); return the answer's body.

        A large `body` is best given in pieces: the transport copies the rest of a piece after each write, and keeps it
        beyond the answer.

        Raises
        ------
        ClickHouseError : the server answered with an exception.
        httpx.TransportError : no answer; whether the statement was applied is unknown.
        """
        params = {"query": sql, **{name: _wire(name, value) for name, value in (settings or {}).items()}}
        pieces = [body] if isinstance(body, bytes) else body
        size = {"Content-Length": str(sum(map(len, pieces)))}
        response = self._http.post("/", params=params, content=iter(pieces), headers=size)
        code = int(response.headers.get("X-ClickHouse-Exception-Code", 0))
        if code or response.status_code != 200:
            raise ClickHouseError(code, response.status_code, response.text)
        return response.content

    def rows(self, sql: str, settings: Settings | None = None) -> list[dict[str, Any]]:
        """Return the rows of a SELECT as mappings; `{x:Type}` in the statement is filled by the setting `param_x`."""
        wire = {"default_format": "JSONEachRow", "output_format_json_quote_64bit_integers": 0, **(settings or {})}
        return [orjson.loads(line) for line in self.post(sql, settings=wire).splitlines()]

    def ping(self) -> bool:
        """Say whether the server answers at all."""
        try:
            return self._http.get("/ping").text == "Ok.\n"
        except httpx.TransportError:
            return False

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        """Close the connections."""
        self.close()


def _wire(name: str, value: object) -> str:
    """Return a setting as it is sent; a text that fills a parameter is read as a field of TabSeparated."""
    if name.startswith("param_") and isinstance(value, str):
        return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return value if isinstance(value, str) else _literal(value)


def _literal(value: object) -> str:
    match value:
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case tuple():
            return f"({','.join(map(_literal, value))})"
        case Mapping():
            return "{" + ",".join(f"{_literal(key)}:{_literal(found)}" for key, found in value.items()) + "}"
        case Sequence():
            return f"[{','.join(map(_literal, value))}]"
        case _:
            return str(value)


def _trust(ca: Path | None) -> ssl.SSLContext | bool:
    if ca is None:
        return True
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is one
        what = error.strerror or "not PEM"
        raise CounterflowError(
            f"{ca}: {what}", hint="name the certificates that sign the server's", exit_code=2
        ) from None

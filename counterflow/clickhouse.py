"""ClickHouse over HTTP: the one client of migrations, lander, queries and checks.

HTTP because every ClickHouse speaks it, the one-machine engine too. Each statement is one request; the answer's
exception code decides what the caller does, never the HTTP status alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

Settings = Mapping[str, str | int]


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
    """

    def __init__(self, url: str, user: str, password: str, *, timeout_s: float = 60.0) -> None:
        """Open no connection yet."""
        self._http = httpx.Client(
            base_url=url,
            headers={"X-ClickHouse-User": user, "X-ClickHouse-Key": password},
            timeout=timeout_s,
            trust_env=False,
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
        params = {"query": sql, **{name: str(value) for name, value in (settings or {}).items()}}
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

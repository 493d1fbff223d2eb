"""The one ClickHouse client, over HTTP, for migrations, lander, queries and checks.

Every ClickHouse supports HTTP, including the one-machine engine. Each statement is one request. Callers act on the
exception code of the response, never on the HTTP status alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import orjson

from counterflow.base.errors import CounterflowError
from counterflow.base.loopback import is_loopback

if TYPE_CHECKING:
    import ssl

    import httpx

Settings = Mapping[str, str | int | Sequence[Any] | Mapping[str, int]]
"""Settings of a request; `param_name` is the value of `{name:Type}` in its statement: text, a number, a list (Array)
of these or of tuples (Tuple), or a mapping (Map). Text is escaped, so it cannot become SQL. A value may be as long as
the server's `http_max_field_value_size`, by default 128 KiB; where the statement has data, which take the body, all
values together 64 KiB."""


class ClickHouseError(Exception):
    """An error response: `code` is ClickHouse's exception code (0: none given), `status` the HTTP status."""

    def __init__(self, code: int, status: int, text: str) -> None:
        super().__init__(text.strip())
        self.code = code
        self.status = status


class ClickHouse:
    """A connection pool to one server as one user; times without a zone are UTC, whatever the zone of the server.

    Parameters
    ----------
    url : base address, such as `http://127.0.0.1:18123`.
    user, password : sent as headers, so they appear in no URL and no log.
    timeout_s : limit of one request.
    ca : PEM file with the CAs that may sign the server's certificate; default: those that the machine trusts.

    Raises
    ------
    CounterflowError : the password would leave this machine unencrypted, or `ca` cannot be read.
    """

    def __init__(self, url: str, user: str, password: str, *, timeout_s: float = 60.0, ca: Path | None = None) -> None:
        import httpx  # imported late, here and below: the embedded engine does not need it

        address = httpx.URL(url)
        if address.scheme != "https" and not is_loopback(address.host):
            raise CounterflowError(f"the password would be sent to {url} unencrypted", hint="use https://", exit_code=2)
        self._http = httpx.Client(
            base_url=url,
            headers={"X-ClickHouse-User": user, "X-ClickHouse-Key": password},
            timeout=timeout_s,
            trust_env=False,
            verify=_trust(ca),
        )

    def post(self, sql: str, body: bytes | Sequence[bytes] = b"", settings: Settings | None = None) -> bytes:
        """Send one statement with its data and settings (or `param_<name>` values); return the response body.

        Pass a large `body` in pieces: the transport copies the rest of a piece after each write, and keeps it even
        after the response.

        Raises
        ------
        ClickHouseError : the server returned an exception.
        httpx.TransportError : no response; whether the statement was applied is unknown.
        """
        if not body:
            with self.stream(sql, settings) as (_, received):  # an exception may come after the first bytes
                return b"".join(received)
        pieces = [body] if isinstance(body, bytes) else body
        size = {"Content-Length": str(sum(map(len, pieces)))}
        response = self._http.post("/", params={"query": sql, **_params(settings)}, content=iter(pieces), headers=size)
        _check(response)
        return response.content

    @contextmanager
    def stream(self, sql: str, settings: Settings | None = None) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Send one statement; yield the format of the response, by name, and its bytes as they arrive.

        Raises
        ------
        ClickHouseError : the server returned an exception, perhaps after the first bytes.
        httpx.TransportError : no response, or its end is missing.
        """
        # Compression would cost both sides more time than it saves on one machine.
        plain = {"Accept-Encoding": "identity"}
        with self._http.stream("POST", "/", **_form(sql, settings), headers=plain) as response:
            if response.status_code != 200:
                response.read()
            _check(response)
            yield response.headers.get("X-ClickHouse-Format", ""), _pieces(response)

    def rows(self, sql: str, settings: Settings | None = None) -> list[dict[str, Any]]:
        """Return the rows of a SELECT as mappings; the setting `param_x` fills `{x:Type}` in the statement."""
        wire = {"default_format": "JSONEachRow", "output_format_json_quote_64bit_integers": 0, **(settings or {})}
        return [orjson.loads(line) for line in self.post(sql, settings=wire).splitlines()]

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _params(settings: Settings | None) -> dict[str, str]:
    return {"session_timezone": "UTC", **{name: wire(name, value) for name, value in (settings or {}).items()}}


def _form(sql: str, settings: Settings | None) -> dict[str, Any]:
    """Return the request of a statement without data: it and the values of its parameters are fields of a form.

    Settings are read from the URL alone, whose length is bounded.
    """
    given = _params(settings)
    fields = {"query": sql, **{name: value for name, value in given.items() if name.startswith("param_")}}
    return {
        "params": {name: value for name, value in given.items() if name not in fields},
        "files": {name: (None, text) for name, text in fields.items()},
    }


def _check(response: httpx.Response) -> None:
    code = int(response.headers.get("X-ClickHouse-Exception-Code", 0))
    if code or response.status_code != 200:
        raise ClickHouseError(code, response.status_code, response.text)


def lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of a body from `ClickHouse.stream`, without their line endings."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _pieces(response: httpx.Response) -> Iterator[bytes]:
    """Yield the body up to a late exception, which the server marks with a tag of this response."""
    import httpx

    tag = response.headers.get("X-ClickHouse-Exception-Tag", "").encode()
    mark = b"\r\n__exception__\r\n" + tag + b"\r\n"
    held = b""
    pieces = response.iter_raw()
    for piece in pieces:
        held += piece
        body, found, text = held.partition(mark)
        if found:
            yield body
            with suppress(httpx.RemoteProtocolError):  # the server does not terminate the body of a failed query
                for piece in pieces:
                    text += piece
            message = text.partition(tag)[0].rpartition(b"\n")[0].decode(errors="replace")
            code = re.match(r"Code: (\d+)", message)
            raise ClickHouseError(int(code[1]) if code else 0, response.status_code, message)
        body, held = held[: -len(mark)], held[-len(mark) :]
        yield body
    yield held


def wire(name: str, value: object) -> str:
    """Serialise a setting; ClickHouse reads the text of a parameter as a TabSeparated field."""
    if name.startswith("param_") and isinstance(value, str):
        return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return value if isinstance(value, str) else literal(value)


def literal(value: object) -> str:
    """Return a value as a literal of SQL."""
    match value:
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case tuple():
            return f"({','.join(map(literal, value))})"
        case Mapping():
            return "{" + ",".join(f"{literal(key)}:{literal(found)}" for key, found in value.items()) + "}"
        case Sequence():
            return f"[{','.join(map(literal, value))}]"
        case _:
            return str(value)


def _trust(ca: Path | None) -> ssl.SSLContext | bool:
    if ca is None:
        return True
    import ssl

    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is one
        what = error.strerror or "not PEM"
        raise CounterflowError(
            f"{ca}: {what}", hint="give the PEM file of the CA that signed the server's certificate", exit_code=2
        ) from None

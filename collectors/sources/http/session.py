"""One connection to one server, held as long as it lives, with every error classified and free of secrets."""

from __future__ import annotations

import base64
import logging
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import Field

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Rooted
from counterflow.base.strict import Strict
from counterflow.collectors.sources.polling.session import ErrorKind, Password, SessionError

if TYPE_CHECKING:  # an agent that queries nobody over HTTP does without httpx: 3 MB
    import httpx

LONGEST_ANSWER = 64 * 2**20
TIMEOUT_S, CONNECT_S = 60.0, 10.0
"""Longest time of an answer, to its last byte, and of a connect, unless the source states a shorter one."""

_OK, _REFUSED, _ABSENT, _LATER = 200, 401, (403, 404, 406), (408, 429)

for _name in ("httpx", "httpcore"):  # the latter logs headers, and the password is in one
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


class HttpTarget(Strict):
    """A server and how to reach it; never the password.

    `ca` is a PEM file with the authority, or the certificate itself, by which the server is trusted, instead of those
    that the machine trusts. `certificate` and `key` are PEM files by which the server trusts the agent. Without `user`
    there is no logon, unless there is a token.
    """

    url: str
    user: str | None = Field(None, min_length=1)
    ca: Rooted | None = None
    certificate: Rooted | None = None
    key: Rooted | None = None
    verify: bool = True

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        import httpx

        return str(httpx.URL(self.url).copy_with(raw_path=b"/"))

    @property
    def path(self) -> str:
        import httpx

        return httpx.URL(self.url).path

    def headers(self, secret: str) -> dict[str, str]:
        """Return what proves to the server who asks: user and password."""
        if self.user is None:
            return {}
        return {"Authorization": f"Basic {base64.b64encode(f'{self.user}:{secret}'.encode()).decode()}"}

    @property
    def trust(self) -> ssl.SSLContext:
        """Whom TLS trusts.

        Raises
        ------
        CounterflowError : a file cannot be read, or holds no certificate or key.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except OSError as error:  # SSLError is one
            what = "holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
            raise CounterflowError(f"{self.ca}: {what}", hint="set `ca: FILE`, a PEM file", exit_code=2) from None
        if self.certificate:
            try:
                context.load_cert_chain(self.certificate, self.key)
            except OSError as error:
                what = "no certificate with its key" if isinstance(error, ssl.SSLError) else error.strerror
                hint = "set `certificate: FILE` and `key: FILE`, PEM files"
                raise CounterflowError(f"{self.certificate}: {what}", hint=hint, exit_code=2) from None
        if not self.verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


class HttpSession:
    """The connection; what fails on it is raised as `SessionError`.

    Proxies and `.netrc` of the environment are not used: the password goes to the server alone.
    """

    def __init__(
        self,
        target: HttpTarget,
        password: Callable[[], str] | None,
        accept: Sequence[str],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`password` is called at each connect, so it may be changed; `accept` are the media types that are taken."""
        self.number = 0
        self._target = target
        self._password = Password(password or str)
        self._accept = tuple(accept)
        self._timeout_s = timeout_s
        self._client: httpx.Client | None = None

    def open(self) -> None:
        """Connect, unless connected. A password that was refused is not tried again: it would revoke the user."""
        import httpx

        if self._client is not None:
            return
        offered = self._password.offer()
        try:
            trust = self._target.trust
        except CounterflowError as error:
            raise SessionError(ErrorKind.LOST, error.message) from None
        self._client = httpx.Client(
            base_url=self._target.origin,
            verify=trust,
            trust_env=False,
            timeout=httpx.Timeout(self._timeout_s, connect=min(self._timeout_s, CONNECT_S)),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None),
            headers={"Accept": ",".join(self._accept), **self._target.headers(offered)},
        )
        try:
            self.probe()
        except SessionError as error:
            self.close()
            raise error if error.kind is ErrorKind.REFUSED else SessionError(ErrorKind.LOST, str(error)) from None
        self.number += 1

    def probe(self) -> None:
        """Request what shows whether the server is there; nothing where the first query finds it out."""

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def text(self, error: BaseException) -> str:
        """Return the content of an error, without the password."""
        return self._password.text(error)

    def get(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """Return the body of an answer; the connection is closed for LOST and REFUSED."""
        import httpx

        try:
            return self._get(path, parameters)
        except httpx.HTTPError as error:
            self.close()
            raise SessionError(ErrorKind.LOST, f"{path}: {self.text(error)}") from None
        except SessionError as error:
            if error.kind in (ErrorKind.LOST, ErrorKind.REFUSED):
                self.close()
            raise

    def _get(self, path: str, parameters: Mapping[str, str]) -> bytes:
        if self._client is None:
            raise SessionError(ErrorKind.LOST, "not connected")
        until = time.monotonic() + self._timeout_s
        with self._client.stream("GET", path, params=dict(parameters)) as response:
            status = response.status_code
            failure = f"{path}: HTTP {status} {response.reason_phrase}".strip()
            if status == _REFUSED:
                self._password.refused()
                raise SessionError(ErrorKind.REFUSED, failure)
            if status in _ABSENT:
                raise SessionError(ErrorKind.ABSENT, failure)
            if status >= 500 or status in _LATER:
                raise SessionError(ErrorKind.LOST, failure)
            if status != _OK:
                raise SessionError(ErrorKind.FAILED, failure)
            self._password.accepted()
            kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
            known = [accepted.split(";")[0] for accepted in self._accept]
            if kind not in known:
                raise SessionError(ErrorKind.FAILED, f"{path}: expected {' or '.join(known)}, found {kind:.40}")
            pieces, size = list[bytes](), 0
            for piece in response.iter_bytes():
                size += len(piece)
                if size > LONGEST_ANSWER:
                    raise SessionError(ErrorKind.FAILED, f"{path}: the answer is longer than {LONGEST_ANSWER} bytes")
                if time.monotonic() > until:
                    raise SessionError(ErrorKind.LOST, f"{path}: the answer took longer than {self._timeout_s:g} s")
                pieces.append(piece)
            if not size:
                raise SessionError(ErrorKind.FAILED, f"{path}: the answer is empty")
            return b"".join(pieces)

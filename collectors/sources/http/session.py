"""One connection to one DDS, held as long as it lives, with every error classified and free of secrets.

The requests are those of IBM's own client (github.com/IBM/RMF, grafana/rmf-app/pkg/plugin/dds/client.go).
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Mapping

import httpx
from pydantic import Field

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Rooted
from counterflow.base.strict import Strict
from counterflow.collectors.sources.polling.session import ErrorKind, Password, SessionError

PATH = "/gpm/rmfm3"
ROOT = "/gpm/root"
"""Requested to test whether the DDS is there and accepts the password; the answer is short."""
EXTENSIONS = ("", ".xml")
"""A DDS has its paths with or without; the form that it has is tried first from then on."""
LONGEST_ANSWER = 64 * 2**20
TIMEOUT = httpx.Timeout(60, connect=10)

_REFUSED, _FORBIDDEN, _OTHER_PATH = 401, 403, (404, 406)
_LATER = (408, 429)

for _name in ("httpx", "httpcore"):  # the latter logs headers, and the password is in one
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


class Target(Strict):
    """A DDS and how to reach it; never the password.

    `ca` is a PEM file with the authority, or the certificate itself, by which the DDS is trusted, instead of those that
    the machine trusts. Without `user` there is no logon.
    """

    url: str
    user: str | None = Field(None, min_length=1)
    ca: Rooted | None = None
    verify: bool = True

    @property
    def trust(self) -> ssl.SSLContext:
        """Whom TLS trusts.

        Raises
        ------
        CounterflowError : the file of `ca` cannot be read, or holds no certificate.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except OSError as error:  # SSLError is one
            what = "holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
            raise CounterflowError(f"{self.ca}: {what}", hint="set `ca: FILE`, a PEM file", exit_code=2) from None
        if not self.verify:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


class HttpSession:
    """The connection. Proxies and `.netrc` of the environment are not used: the password goes to the DDS alone."""

    def __init__(self, target: Target, password: Callable[[], str] | None) -> None:
        """`password` is called at each connect, so it may be changed."""
        self.number = 0
        self._target = target
        self._password = Password(password or str)
        self._client: httpx.Client | None = None
        self._extensions = EXTENSIONS

    def open(self) -> None:
        """Connect, unless connected. A password that was refused is not tried again: it would revoke the user.

        Raises
        ------
        SessionError : LOST or REFUSED.
        """
        if self._client is not None:
            return
        auth = (self._target.user, self._password.offer()) if self._target.user else None
        try:
            trust = self._target.trust
        except CounterflowError as error:
            raise SessionError(ErrorKind.LOST, error.message) from None
        self._client = httpx.Client(
            base_url=self._target.url,
            auth=auth,
            verify=trust,
            trust_env=False,
            timeout=TIMEOUT,
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=None),
            headers={"Accept": "application/json"},
        )
        try:
            self.query(ROOT, {})
        except SessionError as error:
            self.close()
            raise error if error.kind is ErrorKind.REFUSED else SessionError(ErrorKind.LOST, str(error)) from None
        self._password.accepted()
        self.number += 1

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def text(self, error: BaseException) -> str:
        """Return the content of an error, without the password."""
        return self._password.text(error)

    def query(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """Return the JSON with which the DDS answers.

        Raises
        ------
        SessionError : of every kind; the connection is closed for LOST and REFUSED.
        """
        first, second = self._extensions
        try:
            answer = self._get(path + first, parameters)
            if isinstance(answer, SessionError):
                other = self._get(path + second, parameters)
                if isinstance(other, SessionError):
                    raise answer if answer.kind is ErrorKind.FAILED else other
                answer, self._extensions = other, (second, first)
        except httpx.HTTPError as error:
            self.close()
            raise SessionError(ErrorKind.LOST, f"{path}: {self.text(error)}") from None
        except SessionError as error:
            if error.kind in (ErrorKind.LOST, ErrorKind.REFUSED):
                self.close()
            raise
        return answer

    def _get(self, path: str, parameters: Mapping[str, str]) -> bytes | SessionError:
        """Return an answer, or the error for which the other path is to be tried.

        Raises
        ------
        SessionError : the other path would not help.
        httpx.HTTPError : the connection is gone.
        """
        if self._client is None:
            raise SessionError(ErrorKind.LOST, "not connected")
        with self._client.stream("GET", path, params=dict(parameters)) as response:
            status = response.status_code
            failure = f"{path}: HTTP {status} {response.reason_phrase}".strip()
            if status == _REFUSED:
                self._password.refused()
                raise SessionError(ErrorKind.REFUSED, failure)
            if status in _OTHER_PATH:
                return SessionError(ErrorKind.ABSENT, failure)
            if status == _FORBIDDEN:
                raise SessionError(ErrorKind.ABSENT, failure)
            if status >= 500 or status in _LATER:
                raise SessionError(ErrorKind.LOST, failure)
            if status != httpx.codes.OK:
                raise SessionError(ErrorKind.FAILED, failure)
            kind = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
            if kind != "application/json":
                return SessionError(ErrorKind.FAILED, f"{path}: expected application/json, found {kind:.40}")
            pieces, size = list[bytes](), 0
            for piece in response.iter_bytes():
                size += len(piece)
                if size > LONGEST_ANSWER:
                    raise SessionError(ErrorKind.FAILED, f"{path}: the answer is longer than {LONGEST_ANSWER} bytes")
                pieces.append(piece)
            if not size:
                raise SessionError(ErrorKind.FAILED, f"{path}: the answer is empty")
            return b"".join(pieces)

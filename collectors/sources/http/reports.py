"""Reports of RMF's Distributed Data Server (DDS), requested often enough to miss no interval; each is handed over once.

The requests are those of IBM's own client (github.com/IBM/RMF, grafana/rmf-app/pkg/plugin/dds/client.go).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping

from counterflow.collectors.formats.rmf_dds import newest
from counterflow.collectors.sources.http.session import HttpSession, HttpTarget
from counterflow.collectors.sources.polling.batch import ABSENT_S, Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError

PATH = "/gpm/rmfm3"
ROOT = "/gpm/root"
"""Requested to test whether the DDS is there and accepts the password; the answer is short."""
EXTENSIONS = ("", ".xml")
"""A DDS has its paths with or without; the form that it has is tried first from then on."""

REPORTS = ("SYSINFO", "PROCU", "PCIE")
FIRST_INTERVAL_S = 60.0
"""The Monitor III interval until the DDS reports it."""
REQUESTS_PER_INTERVAL = 2
"""The DDS returns the newest interval, a moment after its end. With one request per interval, two requests could return
the same interval, and the next one could skip an interval."""


class Dds(HttpSession):
    """The connection to a DDS."""

    def __init__(self, target: HttpTarget, password: Callable[[], str] | None) -> None:
        super().__init__(target, password, ("application/json",))
        self._extensions = EXTENSIONS

    def probe(self) -> None:
        self.query(ROOT, {})

    def query(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """Return the JSON with which the DDS answers, under the path that it has."""
        first, second = self._extensions
        try:
            return self.get(path + first, parameters)
        except SessionError as error:
            if error.kind not in (ErrorKind.ABSENT, ErrorKind.FAILED):
                raise
            refused = SessionError(error.kind, str(error))  # without what was read so far
        try:
            answer = self.get(path + second, parameters)
        except SessionError as error:
            raise refused if {refused.kind, error.kind} <= {ErrorKind.ABSENT, ErrorKind.FAILED} else error from None
        self._extensions = (second, first)
        return answer


class RmfReport:
    """One report; `end` of its position is the end of the last interval that was handed over."""

    def __init__(self, report: str, system: str, interval_s: float | None, committed: Cursor | None) -> None:
        """Go on behind the committed position; without `interval_s` the interval is that which the DDS reports."""
        self._parameters = {"report": report, "resource": f",{system},MVS_IMAGE"}
        self._stream = Stream(report, report, f"{system}:{report}", committed)
        self._configured_s = interval_s
        self._reported_s: float | None = None

    @property
    def interval_s(self) -> float:
        """Time between requests, long while the DDS does not have the report."""
        if self._stream.is_absent:
            return ABSENT_S
        return (self._configured_s or self._reported_s or FIRST_INTERVAL_S) / REQUESTS_PER_INTERVAL

    def read(self, session: Dds) -> Iterator[Batch]:
        """Request the report and yield it, unless it is of the interval before."""
        began = time.monotonic()
        try:
            body = session.query(PATH, self._parameters)
        except SessionError as error:
            yield from self._stream.troubled(error)
            return
        found = newest(body)
        if found is not None and found.interval_s is not None:
            self._reported_s = found.interval_s
        end = found.end if found is not None else hashlib.blake2s(body).hexdigest()  # the same trouble is reported once
        if end == self._stream.position.get("end"):
            return
        batch = self._stream.reached(began, end=end)
        batch.body = body
        yield batch

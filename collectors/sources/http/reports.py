"""One report of one system, requested often enough to miss no interval; each interval is handed over once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator

from counterflow.collectors.formats.rmf_dds import newest
from counterflow.collectors.sources.http.session import PATH, HttpSession
from counterflow.collectors.sources.polling.batch import ABSENT_S, Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import SessionError

REPORTS = ("SYSINFO", "PROCU", "PCIE")
FIRST_INTERVAL_S = 60.0
"""The Monitor III interval until the DDS reports it."""
REQUESTS_PER_INTERVAL = 2
"""The DDS returns the newest interval, a moment after its end. With one request per interval, two requests could return
the same interval, and the next one could skip an interval."""


class Report:
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

    def read(self, session: HttpSession) -> Iterator[Batch]:
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

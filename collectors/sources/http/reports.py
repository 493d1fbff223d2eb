"""One report of one system, asked for often enough that no interval is missed, each handed over once."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator

from counterflow.collectors.formats.rmf_dds import newest
from counterflow.collectors.sources.http.session import PATH, Session
from counterflow.collectors.sources.polling.batch import ABSENT_S, Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import SessionError

REPORTS = ("SYSINFO", "PROCU", "PCIE")
FIRST_INTERVAL_S = 60.0
"""The Monitor III interval until the DDS says it."""
REQUESTS_PER_INTERVAL = 2
"""How often each interval is asked for. The DDS answers with the newest one, and that is there a moment after its end:
asked once an interval, two questions may get the same answer and the next one the one after the next."""


class Report:
    """One report; `end` of its position is that of the last interval that was handed over."""

    def __init__(self, report: str, system: str, interval_s: float | None, committed: Cursor | None) -> None:
        """Go on after the position that is committed; without `interval_s` the interval is what the DDS says it is."""
        self._parameters = {"report": report, "resource": f",{system},MVS_IMAGE"}
        self._stream = Stream(report, report, f"{system}:{report}", committed)
        self._configured_s = interval_s
        self._reported_s: float | None = None

    @property
    def interval_s(self) -> float:
        """How often it is asked for; rarely while the DDS does not have it."""
        if self._stream.is_absent:
            return ABSENT_S
        return (self._configured_s or self._reported_s or FIRST_INTERVAL_S) / REQUESTS_PER_INTERVAL

    def read(self, session: Session) -> Iterator[Batch]:
        """Ask and yield the answer, unless it is of the interval before."""
        began = time.monotonic()
        try:
            body = session.query(PATH, self._parameters)
        except SessionError as error:
            yield from self._stream.troubled(error)
            return
        found = newest(body)
        if found is not None and found.interval_s is not None:
            self._reported_s = found.interval_s
        end = found.end if found is not None else hashlib.blake2s(body).hexdigest()  # the same trouble is told once
        if end == self._stream.position.get("end"):
            return
        batch = self._stream.reached(began, end=end)
        batch.body = body
        yield batch

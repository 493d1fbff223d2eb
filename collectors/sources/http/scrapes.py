"""Scrapes of one target, an endpoint that exposes metrics: one request an interval, as Prometheus does.

A scrape that fails is a sample that is missing: the target has `up` 0 at that time, and the next interval is tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from counterflow.collectors.sources.http.session import HttpSession
from counterflow.collectors.sources.polling.batch import Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError
from counterflow.collectors.text.stamps import iso

ACCEPT = ("application/openmetrics-text;version=1.0.0", "text/plain;version=0.0.4;q=0.5")


class Scrapes:
    """The repeated scrape of a target, which `name` tells from others of its system."""

    def __init__(
        self,
        name: str,
        origin: str,
        path: str,
        parameters: Mapping[str, str],
        interval_s: float,
        committed: Cursor | None,
    ) -> None:
        """Go on behind the committed position: the number of the batch, and the trouble that was reported last."""
        self.interval_s = interval_s
        self._name = name
        self._path = path
        self._parameters = parameters
        self._stream = Stream("scrape", path, origin, committed)

    def read(self, session: HttpSession) -> Iterator[Batch]:
        """Yield what the target returns; where it returns nothing usable, `up` 0 and, once for each text, why.

        Raises
        ------
        SessionError : LOST or REFUSED, behind `up` 0.
        """
        at, began = datetime.now(UTC), time.monotonic()
        try:
            body = session.get(self._path, self._parameters)
        except SessionError as error:
            known = self._stream.position.get("trouble")
            yield self._answer(at, began, 0, trouble=known) if known else self._answer(at, began, 0)
            if error.kind in (ErrorKind.LOST, ErrorKind.REFUSED):
                raise
            yield from self._stream.troubled(SessionError(ErrorKind.FAILED, str(error)))
            return
        yield self._answer(at, began, 1, body)

    def _answer(self, at: datetime, began: float, up: int, body: bytes = b"", **reached: str) -> Batch:
        """Return the text of a scrape behind its time, its target and what Prometheus states of a scrape itself."""
        batch = self._stream.reached(began, (), (), **reached)
        itself = {"up": str(up), "scrape_duration_seconds": f"{batch.seconds:.6f}"}
        stated = "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in itself.items())
        batch.body = f"# {iso(at)} {self._name}\n{stated}".encode() + body
        return batch

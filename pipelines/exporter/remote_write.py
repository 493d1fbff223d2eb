"""Sends the exporter's metrics to a metrics store of the site: Prometheus remote write 1.0.

A sample has the end of its interval as its time. A series is sent when it has a newer sample. Of the
samples that a store could not take meanwhile, only the newest is sent again.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import structlog
from prometheus_client.metrics_core import Metric

from counterflow.pipelines.exporter.metrics import Results

log = structlog.get_logger()

EVERY_S = 10.0
AT_ONCE = 2_000
"""Series in one request, as Prometheus' own default for a shard."""
_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
_LITERAL = 60 << 10


class Sample(NamedTuple):
    """A sample of a series: its labels with `__name__`, sorted by name, and milliseconds since 1970."""

    labels: tuple[tuple[str, str], ...]
    value: float
    ts_ms: int


def series(families: Iterable[Metric]) -> Iterator[Sample]:
    """Yield the samples that have a time; a label without a value is none (Prometheus remote write 1.0, "Labels")."""
    for family in families:
        for sample in family.samples:
            if sample.timestamp is not None:
                labels = (("__name__", sample.name), *((name, text) for name, text in sample.labels.items() if text))
                yield Sample(tuple(sorted(labels)), sample.value, round(float(sample.timestamp) * 1000))


def encode(samples: Iterable[Sample]) -> bytes:
    """Return a `WriteRequest` (Prometheus, prompb/remote.proto), in blocks of snappy that hold literals alone."""
    request = b"".join(
        _field(1, b"".join(_field(1, _field(1, name.encode()) + _field(2, text.encode())) for name, text in one.labels)
               + _field(2, b"\x09" + struct.pack("<d", one.value) + b"\x10" + _varint(one.ts_ms)))
        for one in samples
    )  # fmt: skip
    parts = [request[at : at + _LITERAL] for at in range(0, len(request), _LITERAL)]
    return _varint(len(request)) + b"".join(b"\xf4" + struct.pack("<H", len(part) - 1) + part for part in parts)


def send(url: str, token: Path | None, families: Iterator[Metric], sent: dict[tuple[tuple[str, str], ...], int]) -> int:
    """Send the samples that are newer than those in `sent`, and note them there; return how many were taken.

    A store that does not answer is tried again with the next samples; samples that it refuses (status 4xx) are not.
    """
    newer = [one for one in series(families) if one.ts_ms > sent.get(one.labels, 0)]
    taken = 0
    headers = _HEADERS | ({"Authorization": f"Bearer {token.read_text().strip()}"} if token else {})
    with httpx.Client(timeout=30) as http:
        for at in range(0, len(newer), AT_ONCE):
            part = newer[at : at + AT_ONCE]
            try:
                answer = http.post(url, content=encode(part), headers=headers)
            except httpx.HTTPError as error:
                log.warning("remote write: no answer", url=url, error=str(error))
                break
            if answer.is_server_error or answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
                log.warning("remote write: not taken now", url=url, status=answer.status_code)
                break
            if answer.is_success:
                taken += len(part)
            else:
                log.error("remote write: refused", url=url, status=answer.status_code, reason=answer.text[:200])
            sent |= {one.labels: one.ts_ms for one in part}
    return taken


def start(url: str, token: Path | None, results: Results, stop: threading.Event) -> threading.Thread:
    """Send every `EVERY_S` until `stop` is set."""

    def work() -> None:
        sent: dict[tuple[tuple[str, str], ...], int] = {}
        while not stop.wait(EVERY_S if sent else 1):
            try:
                send(url, token, results.families(), sent)
            except OSError as error:
                log.error("remote write: the token cannot be read", file=str(token), error=error.strerror)

    thread = threading.Thread(target=work, name="remote write", daemon=True)
    thread.start()
    return thread


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)

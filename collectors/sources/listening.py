"""Samples that recorders send: njmon as JSON over TCP, nimon as it writes to InfluxDB over HTTP.

`njmon -i HOST -p PORT` opens a connection, sends a scrambled greeting and then sample after sample; `nimon` posts the
lines of one sample to `/write`. Of these protocols only the post of nimon is acknowledged. A sample is kept from the
moment when it is received whole: in the spool, if there is one. Nothing listens on UDP: it makes no sender wait, so
samples would be dropped unnoticed.

The recorders do not encrypt: listen on this machine only, behind a relay that terminates TLS.
"""

from __future__ import annotations

import re
import socket
import socketserver
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import NamedTuple

import structlog

from counterflow.collectors.formats.njmon import DOCUMENTS
from counterflow.collectors.formats.njmon.influx import MAX_SAMPLE, is_nimon
from counterflow.collectors.records import Position
from counterflow.collectors.sources.polling.batch import Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError
from counterflow.collectors.text.documents import read_documents

log = structlog.get_logger()

INTERVAL_S = 0.2
"""Time between two looks at what was received."""
_WAITING = 64
"""Most samples that wait; when so many do, a sender waits with its next one."""
_SILENT_S = 86_400.0
_BLOCK = 64 << 10
_HOST = re.compile(rb'"hostname"\s*:\s*"([^"]{1,255})"|^[^\n ]{1,4096}?,host(?:name)?=([^,\s]{1,255})', re.MULTILINE)
_LENGTH = re.compile(rb"(?im)^content-length:\s*(\d{1,9})\s*$")
_GREETING = 8 << 10


class Received(NamedTuple):
    """One sample as it was sent, the address of its sender, and the time of receipt (UTC)."""

    body: bytes
    peer: str
    at: datetime


class ListeningSession:
    """The listening socket. `number` counts how often it was opened."""

    def __init__(self, host: str, port: int) -> None:
        self.number = 0
        self.at = (host, port)
        self._server: _Server | None = None
        self._received: Queue[Received] = Queue(_WAITING)
        self._closed, self._lock = Event(), Lock()

    def open(self) -> None:
        """Listen, unless already listening."""
        if self._server is not None:
            return
        try:
            server = _Server(self)
        except OSError as error:
            host, port = self.at
            raise SessionError(ErrorKind.LOST, f"{host}:{port} cannot be listened on: {error.strerror}") from None
        self._closed.clear()
        self._server = server
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        self.number += 1

    def close(self) -> None:
        """Stop listening; what was received waits."""
        with self._lock:  # a sample that is acknowledged was received before
            self._closed.set()
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def text(self, error: BaseException) -> str:
        return " ".join(str(error).split()) or type(error).__name__

    def waiting(self) -> Iterator[Received]:
        while True:
            try:
                yield self._received.get_nowait()
            except Empty:
                return

    def keep(self, sample: Received) -> bool:
        """Queue a sample; return False where the source is closed before there is room."""
        while True:
            with self._lock:
                if self._closed.is_set():
                    return False
                with suppress(Full):
                    self._received.put_nowait(sample)
                    return True
            self._closed.wait(0.02)


class Samples:
    """The samples of all senders; each sender has a stream of its own."""

    interval_s = INTERVAL_S

    def __init__(self, name: str, committed: dict[str, Cursor]) -> None:
        """`committed` has the positions by stream."""
        self._name = name
        self._committed = committed
        self._streams: dict[str, Stream] = {}

    def read(self, session: ListeningSession) -> Iterator[Batch]:
        for sample in session.waiting():
            found = _HOST.search(sample.body)
            host = (
                next((g.decode(errors="replace") for g in found.groups() if g), sample.peer) if found else sample.peer
            )
            if host not in self._streams:
                origin = f"{self._name} from {host}"
                self._streams[host] = Stream(host, "njmon", origin, self._committed.get(host))
            batch = self._streams[host].reached(time.monotonic())
            batch.body, batch.sampled_at = sample.body, sample.at
            yield batch


class _Server(socketserver.ThreadingTCPServer):
    """Connections over IPv4 or IPv6, each read in a thread of its own; the session keeps what they receive."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, session: ListeningSession) -> None:
        self.keep = session.keep
        self.address_family = socket.AF_INET6 if ":" in session.at[0] else socket.AF_INET
        super().__init__(session.at, _Connection)


class _Connection(socketserver.StreamRequestHandler):
    server: _Server
    timeout = _SILENT_S

    def handle(self) -> None:
        peer = str(self.client_address[0])
        try:
            first = self.connection.recv(_BLOCK)
            if first.startswith(b"POST "):
                self._posted(first, peer)
            else:
                self._sent(first, peer)
        except OSError as error:
            log.warning("a sender's connection ended", peer=peer, error=str(error))

    def _sent(self, data: bytes, peer: str) -> None:
        began = False
        while data:
            end = 0
            for part in read_documents(BytesIO(data), Position(0, 1), DOCUMENTS, complete=False):
                end = part.end
                if DOCUMENTS.start.match(part.text):
                    began = True
                    if not self.server.keep(Received(part.text, peer, datetime.now(UTC))):
                        return
            data = data[end:]
            if len(data) > (MAX_SAMPLE if began else MAX_SAMPLE + _GREETING):
                log.warning("no sample of njmon within 16 MiB, the connection is closed", peer=peer)
                return
            more = self.connection.recv(_BLOCK)
            if not more:
                if DOCUMENTS.start.match(data):
                    log.warning("the connection ended within a sample", peer=peer, bytes=len(data))
                return
            data += more

    def _posted(self, data: bytes, peer: str) -> None:
        """Read one post of lines to `/write`, and answer it as InfluxDB does."""
        while b"\r\n\r\n" not in data and len(data) < _BLOCK and (more := self.connection.recv(_BLOCK)):
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        size = int(length[1]) if length else -1
        if not head.split(b" ", 2)[1].startswith(b"/write") or not 0 <= size <= MAX_SAMPLE:
            self._answer("400 Bad Request")
            return
        while len(body) < size and (more := self.connection.recv(_BLOCK)):
            body += more
        if len(body) < size or not is_nimon(body):
            log.warning("no sample of nimon in a post", peer=peer, bytes=len(body))
            self._answer("400 Bad Request")
        elif self.server.keep(Received(body[:size], peer, datetime.now(UTC))):
            self._answer("204 No Content")

    def _answer(self, status: str) -> None:
        self.wfile.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())

"""An answer that is small on the wire and huge once unpacked; only HTTP delivers packed bytes."""

from __future__ import annotations

import threading
import tracemalloc
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from counterflow.collectors.sources.http.reports import Dds
from counterflow.collectors.sources.http.session import LONGEST_ANSWER, Target
from counterflow.collectors.sources.polling.session import SessionError

MIB = 2**20


def test_a_packed_answer_is_unpacked_up_to_the_limit_of_an_answer() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(MIB)) for _ in range(512)) + packer.flush()
    assert len(bomb) < MIB

    class Bomb(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            for name, value in (("Type", "application/json"), ("Encoding", "gzip"), ("Length", str(len(bomb)))):
                self.send_header(f"Content-{name}", value)
            self.end_headers()
            self.wfile.write(bomb)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """The client hangs up midway."""

    with Server(("127.0.0.1", 0), Bomb) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tracemalloc.start()
        try:
            with pytest.raises(SessionError, match=f"longer than {LONGEST_ANSWER} bytes"):
                Dds(Target(url=f"http://127.0.0.1:{server.server_address[1]}"), None).open()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            server.shutdown()
    assert peak < 3 * LONGEST_ANSWER

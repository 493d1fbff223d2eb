"""Samples that are received while the agent stops; with an agent: tests/integration/test_listening.py."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

from counterflow.collectors.agent.checkpoint import Committed
from counterflow.collectors.agent.config import ListenSource, SpoolFolder
from counterflow.collectors.agent.live import Live
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.sources.polling.waiting import Spool
from tests.support.ports import free_ports
from tests.support.waiting import until


def test_an_acknowledged_sample_is_in_the_spool_when_the_agent_has_stopped(tmp_path: Path) -> None:
    """Senders go on while it stops: whatever is answered with 204 is kept, and the rest gets no answer."""
    [port] = free_ports(1)
    source = ListenSource(kind="listen", name="n", address=f"127.0.0.1:{port}")
    live = Live([source], Metrics(), SpoolFolder(path=tmp_path / "spool"))
    live.start(Committed())
    acknowledged: list[int] = []

    def send() -> None:
        for number in range(2_000):
            body = b"cpu_total,host=h%d user=1 %d\n" % (number, 10**18 + number)
            head = b"POST /write?db=x HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
            try:
                with socket.create_connection(("127.0.0.1", port), 2) as sender:
                    sender.sendall(head + body)
                    if b" 204 " not in sender.recv(100):
                        return
            except OSError:
                return
            acknowledged.append(number)

    until(lambda: _listens(port))
    sender = threading.Thread(target=send)
    sender.start()
    until(lambda: len(acknowledged) > 20)
    live.stop()
    sender.join(10)
    kept = {one.stream for one in iter(Spool(tmp_path / "spool" / "n.sqlite", 10**9, {}).next_batch, None)}
    assert kept >= {f"h{number}" for number in acknowledged}
    assert len(acknowledged) < 2_000


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0

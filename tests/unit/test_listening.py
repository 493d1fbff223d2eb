"""Samples that are received while nobody takes them; with an agent: tests/integration/test_listening.py."""

from __future__ import annotations

import re
import socket
import threading
import time
from pathlib import Path

import pytest

from counterflow.collectors.agent.checkpoint import Committed
from counterflow.collectors.agent.config import ListenSource, SpoolFolder
from counterflow.collectors.agent.live import Live
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.sources.listening import ListeningSession
from tests.support.agents import until
from tests.support.ports import free_ports

SAMPLE = b'{"timestamp":{"datetime":"2026-01-01T00:00:00"},"identity":{"hostname":"h%d"}}'


def test_datagrams_that_nobody_takes_are_dropped_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    [port] = free_ports(1)
    session = ListeningSession("127.0.0.1", port, "udp")
    session.open()
    threads = threading.active_count()
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for number in range(300):
                sender.sendto(SAMPLE % number, ("127.0.0.1", port))
                time.sleep(0.001)
            until(lambda: "samples over UDP are dropped" in "".join(capsys.readouterr()), 5)
            assert threading.active_count() == threads
            time.sleep(0.2)
            waiting = list(session.waiting())
            assert [sample.body for sample in waiting] == [SAMPLE % number for number in range(64)]
            sender.sendto(SAMPLE % 300, ("127.0.0.1", port))
            until(lambda: SAMPLE % 300 in [sample.body for sample in session.waiting()], 5)
    finally:
        session.close()
    printed = "".join(capsys.readouterr())
    assert printed.count("samples over UDP are kept again") == 1
    plain = re.sub(r"\x1b\[[\d;]*m", "", printed)  # whether log lines are coloured or JSON, an earlier test decided
    [dropped] = re.findall(r"\bdropped\W+(\d+)", plain)
    assert 0 < int(dropped) <= 300 - 64


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

    until(lambda: _listens(port), 5)
    sender = threading.Thread(target=send)
    sender.start()
    until(lambda: len(acknowledged) > 20, 10)
    live.stop()
    sender.join(10)
    kept = {path.name.split(" ")[2] for path in (tmp_path / "spool" / "n").iterdir()}
    assert kept >= {f"h{number}" for number in acknowledged}
    assert len(acknowledged) < 2_000


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0

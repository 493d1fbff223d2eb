"""Samples that recorders send: each is published once, though commits are lost, and the agent stops and starts."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from counterflow.collectors.agent.checkpoint import Committed
from counterflow.collectors.agent.config import ListenSource, SpoolFolder
from counterflow.collectors.agent.live import Live
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.sources.polling.waiting import Spool
from tests.golden.cases import golden
from tests.support.memory_broker import Broker, running_agent
from tests.support.ports import free_ports
from tests.support.waiting import until

GREETING = b'"9*T{5p({j}9*T*)nB_{y'
"""As njmon scrambles its greeting: no line end, and braces where chance puts them."""


@pytest.fixture
def port() -> int:
    return free_ports(1)[0]


@contextmanager
def listening(folder: Path, port: int) -> Iterator[None]:
    """Run an agent with a source of this kind and a spool."""
    source = {"kind": "listen", "name": "n", "address": f"127.0.0.1:{port}"}
    with running_agent(folder, source, spool=SpoolFolder(path=folder / "spool")):
        until(lambda: _listens(port))
        yield


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def instants(broker: Broker) -> Counter[tuple[str, str]]:
    """Count the rows of the total of all engines by system and time."""
    return Counter((row["system"], row["ts"]) for row in broker.rows("a") if row.get("engine") == "all")


def test_samples_over_tcp_are_published_once(broker: Broker, port: int, tmp_path: Path) -> None:
    """One connection in pieces, as njmon v25 sends; a second of another host in lines, as newer versions do."""
    broker.lose = lambda number: number % 3 == 0
    array, lines = golden("njmon/real_v25").input, golden("njmon/one_sample_a_line").input
    with listening(tmp_path, port):
        with (
            socket.create_connection(("127.0.0.1", port)) as sender,
            socket.create_connection(("127.0.0.1", port)) as other,
        ):
            sender.sendall(GREETING)
            for at in range(0, len(array), 9_973):
                sender.sendall(array[at : at + 9_973])
            other.sendall(lines)
        sent = array.count(b'"timestamp"') + lines.count(b'"timestamp"')
        until(lambda: len(instants(broker)) == sent)
    with listening(tmp_path, port):
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(lines.replace(b"2026-11-21T01", b"2026-11-21T07"))
        found = until(lambda: len(i := instants(broker)) == sent + lines.count(b'"timestamp"') and i)
    assert set(found.values()) == {1}
    assert {system for system, _ in found} == {"vm", "lnx1"}
    rows = broker.rows("a")
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    noted = {row["reason"] for row in rows if row["dataset"] == "quality"}
    assert noted <= {"clock_change", "sample_missing", "restarted"}


def test_lines_that_are_posted_are_published(broker: Broker, port: int, tmp_path: Path) -> None:
    """A sample of nimon without a time has that of its arrival; a body that is no sample is answered with 400."""
    with listening(tmp_path, port):
        to = f"http://127.0.0.1:{port}/write?db=njmon&u=a&p=b"
        assert httpx.post(to, content=golden("njmon/nimon_without_time").input).status_code == 204
        assert httpx.post(to, content=b"cpu usage=1").status_code == 400
        (key,) = until(lambda: instants(broker))
    assert key[0] == "lnx1"
    assert key[1] > "2026-11-2"


def test_an_acknowledged_sample_is_in_the_spool_when_the_agent_has_stopped(port: int, tmp_path: Path) -> None:
    """Senders go on while it stops: whatever is answered with 204 is kept, and the rest gets no answer."""
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

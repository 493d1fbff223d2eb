"""`counterflow agent run` with a source of kind `listen`: samples of njmon and nimon are published once."""

from __future__ import annotations

import signal
import socket
from collections import Counter
from pathlib import Path

import httpx

from counterflow.stack.settings import StackSettings
from tests.golden.cases import golden
from tests.support.agents import Agent, published
from tests.support.ports import free_ports
from tests.support.waiting import PATIENCE_S, until

GREETING = b'"9*T{5p({j}9*T*)nB_{y'
"""As njmon scrambles its greeting: no line end, and braces where chance puts them."""


def listen(folder: Path, broker: StackSettings, name: str, port: int) -> Agent:
    """Start an agent with one source of this kind and a spool; return it once it listens."""
    source = {"kind": "listen", "name": "n", "address": f"127.0.0.1:{port}"}
    agent = Agent(folder, broker, name, source, commit={"interval_s": 0.2}, spool={"path": f"spool-{name}"})
    until(lambda: "connected" in agent.log.read_text(), agent.log)
    return agent


def instants(broker: StackSettings, name: str) -> Counter[tuple[str, str]]:
    """Count the rows of the total of all engines by system and time."""
    return Counter((r["system"], r["ts"]) for r in published(broker, name, "system_cpu") if r["engine"] == "all")


def test_samples_over_tcp_are_published_once_although_the_agent_is_killed(
    broker: StackSettings, tmp_path: Path
) -> None:
    """One connection in pieces, as njmon v25 sends; a second of another host in lines, as newer versions do."""
    [port], name = free_ports(1), "listening-tcp"
    array = golden("njmon/real_v25").input
    lines = golden("njmon/one_sample_a_line").input
    with listen(tmp_path, broker, name, port) as agent:
        with (
            socket.create_connection(("127.0.0.1", port)) as sender,
            socket.create_connection(("127.0.0.1", port)) as other,
        ):
            sender.sendall(GREETING)
            for at in range(0, len(array), 9_973):
                sender.sendall(array[at : at + 9_973])
            other.sendall(lines)
        sent = array.count(b'"timestamp"') + lines.count(b'"timestamp"')
        until(lambda: sum(instants(broker, name).values()) == sent, agent.log)
        agent.process.send_signal(signal.SIGKILL)
        agent.process.wait(PATIENCE_S)
    with listen(tmp_path, broker, name, port) as agent:
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(lines.replace(b"2026-11-21T01", b"2026-11-21T07"))
        found = until(lambda: len(i := instants(broker, name)) == sent + lines.count(b'"timestamp"') and i, agent.log)
        assert set(found.values()) == {1}
    assert {system for system, _ in found} == {"vm", "lnx1"}
    rows = published(broker, name)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    noted = {row["reason"] for row in rows if row["dataset"] == "quality"}
    assert noted <= {"clock_change", "sample_missing", "restarted"}


def test_lines_that_are_posted_are_published(broker: StackSettings, tmp_path: Path) -> None:
    """A sample of nimon without a time has that of its arrival; a body that is no sample is answered with 400."""
    [port], name = free_ports(1), "listening-nimon"
    untimed = golden("njmon/nimon_without_time").input
    with listen(tmp_path, broker, name, port) as agent:
        to = f"http://127.0.0.1:{port}/write?db=njmon&u=a&p=b"
        assert httpx.post(to, content=untimed).status_code == 204
        assert httpx.post(to, content=b"cpu usage=1").status_code == 400
        (key,) = until(lambda: instants(broker, name), agent.log)
        assert key[0] == "lnx1"
        assert key[1] > "2026-11-2"

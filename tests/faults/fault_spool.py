"""Fault 7 with a polled system: polling goes on while the broker is down and the agent is killed."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings
from tests.integration.test_sql_agent import poll
from tests.support.agents import Agent, committed, published
from tests.support.ibmi_database import System
from tests.support.waiting import until


def test_systems_are_polled_while_the_broker_is_away(
    stack: StackSettings, tmp_path: Path, report: Callable[..., None]
) -> None:
    system, name = System(tmp_path / "prod01"), "faults-spool"
    system.nrg(1)
    spool = tmp_path / "spool"

    def start() -> Agent:
        return poll(tmp_path, stack, name, system, spool={"path": str(spool)})

    def waiting() -> int:
        with closing(sqlite3.connect(spool / "prod01.sqlite")) as database:
            streams = database.execute("SELECT json_extract(content, '$.stream') FROM batch").fetchall()
        return streams.count(("NRG_INFO",))

    with start() as agent:
        until(lambda: len(committed(stack, name).streams), agent.log)
        supervision.stop(stack, "kafka")
        try:
            until(lambda: waiting() > 20, agent.log)
            agent.process.kill()
            left = waiting()
            with start() as agent:  # it cannot begin before the broker is back; what was left stays
                time.sleep(2)
                assert waiting() >= left
        finally:
            began = time.monotonic()
            lifecycle.start(stack, "kafka")
    with start() as agent:
        until(lambda: waiting() < 5, agent.log)
        seconds = time.monotonic() - began
        agent.stop()
    rows = published(stack, name)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    sampled = sorted({row["ts"] for row in rows if row["dataset"] == "link"})
    assert len(sampled) >= left
    report(7, seconds)

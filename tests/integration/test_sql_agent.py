"""`counterflow agent run` with systems behind SQL and a real broker: killed, refused, several at once."""

from __future__ import annotations

import collections
import itertools
import random
import re
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from counterflow.collectors.agent.checkpoint import StreamId
from counterflow.stack.settings import StackSettings
from tests.support.agents import Agent, Rows, committed, scrape
from tests.support.agents import published as published_by
from tests.support.ibmi_database import PASSWORD, System, pool_rows
from tests.support.ports import free_ports
from tests.support.waiting import until

# The product has no driver for SQLite: the test registers its own before it runs the command.
_RUN = """
from counterflow.collectors.sources.sql.drivers import DRIVERS
DRIVERS["sqlite"] = "tests.support.ibmi_database"
from counterflow.cli import main
main()
"""


def poll(folder: Path, broker: StackSettings, name: str, *systems: System, **options: Any) -> Agent:
    """Start an agent that queries systems, each a folder; `options` are of each source but for those of the agent."""
    of_agent = {name: options.pop(name) for name in ("metrics_port", "spool") if name in options}
    (folder / "password").write_text(options.pop("password", PASSWORD) + "\n")
    sources = [
        {
            "kind": "sql",
            "name": system.folder.name,
            "system": system.folder.name.upper(),
            "connection": {
                "driver": "sqlite",
                "host": system.folder.name,
                "user": "FLOW",
                "password": {"file": "password"},
                "properties": {"folder": str(system.folder)},
            },
            "packs": ["collection_services", "db2_mirror"],
            "intervals": {"collection_services": 0.1, "COLLECTION_SERVICES_INFO": 3600, "NRG_INFO": 0.1},
            **options,
        }
        for system in systems
    ]
    return Agent(folder, broker, name, *sources, program=("-c", _RUN), **of_agent)


def published(broker: StackSettings, name: str) -> Rows:
    """Return all committed records of an agent, in order of `seq`, which has neither gap nor repeat."""
    rows = published_by(broker, name)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    return rows


def has_read(broker: StackSettings, name: str, system: System, member: str, interval: int) -> Callable[[], bool]:
    """Return a predicate: whether the pools of a member are committed up to an interval."""

    def read() -> bool:
        found = committed(broker, name).streams.get(
            StreamId(system.folder.name, system.folder.name.upper(), "QPFRDATA/QAPMPOOLB")
        )
        position = found.position if found else {}
        return member in position.get("done", []) or position.get("at", {}).get(member, [0])[0] >= interval

    return read


def pools(rows: Rows, system: System) -> collections.Counter[tuple[str, str, float]]:
    """Return the pool records of a system, counted by their key."""
    of_system = [row for row in rows if row["dataset"] == "pool" and row["system"] == system.folder.name.upper()]
    return collections.Counter((row["ts"], row["pool"], row["db_faults"]) for row in of_system)


def expected(*days: tuple[int, int]) -> collections.Counter[tuple[str, str, float]]:
    """Return the records of `pool_rows` of those days up to those intervals, computed without the reader."""
    return collections.Counter(
        (f"2026-11-{day + n // 96:02}T{n % 96 // 4:02}:{n % 4 * 15:02}:00Z", f"{pool:03}", 1000.0 * n + pool)
        for day, last in days
        for n in range(1, last + 1)
        for pool in range(1, 5)
    )


def test_killed_at_any_moment_it_goes_on_in_the_middle_of_a_member(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    system, chance = System(tmp_path / "prod01"), random.Random(11)
    for day in (17, 18, 19):
        system.member("QAPMPOOLB", f"Q3{day}000000", pool_rows(1, 95, day=day))
    system.member("QAPMPOOLB", "Q320000000", pool_rows(1, 1, day=20))
    system.active("Q320000000")
    written = 1
    for turn in range(3):
        with poll(tmp_path, broker, name, system) as agent:
            until(lambda: "connected" in agent.log.read_text(), agent.log)
            deadline = time.monotonic() + chance.uniform(0.1, 2.0)
            while time.monotonic() < deadline:
                system.nrg(1000 * written + turn)
                written += 1
                system.add("QPFRDATA", "QAPMPOOLB(Q320000000)", *pool_rows(written, written, day=20))
                time.sleep(0.1)
            agent.process.kill()
    with poll(tmp_path, broker, name, system) as agent:
        until(has_read(broker, name, system, "Q320000000", written), agent.log)
        agent.stop()
    rows = published(broker, name)
    assert pools(rows, system) == expected((17, 95), (18, 95), (19, 95), (20, written))
    _assert_a_chain([row for row in rows if row["dataset"] == "link"])
    manifests = [(row["ts"], row["row_count"]) for row in rows if row.get("counted") == "pool"]
    assert sorted(manifests) == sorted({(ts, 4) for ts, _, _ in pools(rows, system)})


def _assert_a_chain(links: Rows) -> None:
    """Assert that each sample of a running count names the one committed before it, whatever happened in between."""
    assert len(links) > 5
    apart_s: list[float] = []
    for before, after in itertools.pairwise(links):
        before_ts = datetime.fromisoformat(before["ts"])
        apart_s.append((datetime.fromisoformat(after["ts"]) - before_ts).total_seconds())
        if "prev_ts" in after:
            assert datetime.fromisoformat(after["prev_ts"]) == before_ts
            assert after["prev_out_bytes"] == before["out_bytes"]
        else:  # a count that went back is a restart, and while no agent ran samples are missing
            assert after["out_bytes"] < before["out_bytes"] or apart_s[-1] > 2 * min(apart_s[-3:-1], default=0)


def test_two_systems_in_one_agent_and_one_that_refuses_stops_nobody(
    broker: StackSettings, name: str, tmp_path: Path
) -> None:
    [port] = free_ports(1)
    first, second, third = (System(tmp_path / name) for name in ("node1", "node2", "node3"))
    for system, last in ((first, 6), (second, 9), (third, 3)):
        system.member("QAPMPOOLB", "Q320000000", pool_rows(1, last, day=20))
        system.active("Q320000000")
    (third.folder / "down").touch()
    labels = {"lpar": "12", "role": "primary"}
    with poll(tmp_path, broker, name, first, second, third, metrics_port=port, labels=labels, run="base") as agent:
        until(has_read(broker, name, first, "Q320000000", 6), agent.log)
        until(has_read(broker, name, second, "Q320000000", 9), agent.log)
        text = until(lambda: scrape(port, 'system_connected{source="node2"} 1.0'))
        (third.folder / "down").unlink()
        until(has_read(broker, name, third, "Q320000000", 3), agent.log)
        agent.stop()
    rows = published(broker, name)
    for system, last in ((first, 6), (second, 9), (third, 3)):
        assert pools(rows, system) == expected((20, last))
    assert {row["run"] for row in rows} == {"base"}
    labelled = [(r["system"], r["name"], r["value"]) for r in rows if r.get("section") == "labels"]
    assert sorted(labelled) == [(f"NODE{n}", *label) for n in (1, 2, 3) for label in sorted(labels.items())]
    lacking = [row for row in rows if row["dataset"] == "quality" and row.get("section") == "NRG_INFO"]
    assert sorted((row["system"], row["reason"], row["file"]) for row in lacking) == [
        (f"NODE{n}", "unreadable", f"NODE{n}:NRG_INFO") for n in (1, 2, 3)
    ]
    assert 'system_connected{source="node3"} 0.0' in text
    assert re.search(r'system_events_total\{event="lost",source="node3"\} [1-9]', text)
    assert re.search(r'answer_duration_seconds_count\{source="node1",table="QAPMPOOLB"\} [1-9]', text)
    with poll(tmp_path, broker, name, first, second, third, labels=labels, run="base") as agent:
        until(lambda: agent.log.read_text().count('"connected"') == 3, agent.log)
        time.sleep(1)
        agent.stop()
    again = [row for row in published(broker, name)[len(rows) :] if "COLLECTION_SERVICES_INFO" not in repr(row)]
    assert again == []  # what was reported once is not reported again


def test_the_password_is_nowhere_to_be_found(broker: StackSettings, name: str, tmp_path: Path) -> None:
    """Neither the wrong one, which is refused, nor the right one that replaces it."""
    wrong = "hunter2-is-wrong"
    system = System(tmp_path / "prod01")
    system.member("QAPMPOOLB", "Q320000000", pool_rows(1, 2, day=20))
    system.active("Q320000000")
    with poll(tmp_path, broker, name, system, password=wrong) as agent:
        until(lambda: "is not authorized" in agent.log.read_text(), agent.log)
        words = Path(f"/proc/{agent.process.pid}/cmdline").read_bytes()
        (tmp_path / "password").write_text(PASSWORD)
        until(has_read(broker, name, system, "Q320000000", 2), agent.log)
        agent.stop()
    for text in (repr(words), agent.log.read_text(), repr(published(broker, name)), repr(committed(broker, name))):
        assert wrong not in text
        assert PASSWORD not in text

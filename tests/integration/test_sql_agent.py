"""`counterflow agent run` with a system behind SQL and a real broker, killed in the middle of a member."""

from __future__ import annotations

import collections
import itertools
import random
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from counterflow.collectors.agent.checkpoint import StreamId
from counterflow.stack.settings import StackSettings
from tests.support.agents import Agent, Rows, committed, published
from tests.support.ibmi_database import PASSWORD, System, pool_rows
from tests.support.waiting import until

# The product has no driver for SQLite: the test registers its own before it runs the command.
_RUN = """
from counterflow.collectors.sources.sql.drivers import DRIVERS
DRIVERS["sqlite"] = "tests.support.ibmi_database"
from counterflow.cli import main
main()
"""


def poll(folder: Path, broker: StackSettings, name: str, system: System) -> Agent:
    """Start an agent that queries the system PROD01 ten times a second."""
    (folder / "password").write_text(PASSWORD + "\n")
    source = {
        "kind": "sql",
        "name": "prod01",
        "system": "PROD01",
        "connection": {
            "driver": "sqlite",
            "host": "prod01",
            "user": "FLOW",
            "password": {"file": "password"},
            "properties": {"folder": str(system.folder)},
        },
        "packs": ["collection_services", "db2_mirror"],
        "intervals": {"collection_services": 0.1, "COLLECTION_SERVICES_INFO": 3600, "NRG_INFO": 0.1},
    }
    return Agent(folder, broker, name, source, program=("-c", _RUN))


def has_read(broker: StackSettings, name: str, member: str, interval: int) -> Callable[[], bool]:
    """Return a predicate: whether the pools of a member are committed up to an interval."""

    def read() -> bool:
        found = committed(broker, name).streams.get(StreamId("prod01", "PROD01", "QPFRDATA/QAPMPOOLB"))
        return found is not None and found.position.get("at", {}).get(member, [0])[0] >= interval

    return read


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
        until(has_read(broker, name, "Q320000000", written), agent.log)
        agent.stop()
    rows = published(broker, name)
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    pools = collections.Counter((r["ts"], r["pool"], r["db_faults"]) for r in rows if r["dataset"] == "pool")
    assert pools == expected((17, 95), (18, 95), (19, 95), (20, written))
    _assert_a_chain([row for row in rows if row["dataset"] == "link"])
    manifests = [(row["ts"], row["row_count"]) for row in rows if row.get("counted") == "pool"]
    assert sorted(manifests) == sorted({(ts, 4) for ts, _, _ in pools})
    assert PASSWORD not in agent.log.read_text() + repr(rows) + repr(committed(broker, name))


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

"""`link_load` and the verdict of `roce_cap` on real Kafka and Flink, compared with a recomputation in plain Python.

Two nodes mirror over ports that other partitions use as well; the HMC reports the ports at a cadence of its own.
Counts restart, samples are missing, files come twice, late and shuffled.
"""

from __future__ import annotations

import math
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.pipelines import submission
from counterflow.pipelines.rules.roce_cap import RULE
from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings
from tests.support.flink_line import Line, Record, Results, Running, over, seconds, stamp, verdicts

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
LINE = 100e9


def recompute(published: Mapping[str, Sequence[Record]]) -> Results:
    loads = link_load(published["link"], published["link_wire"])
    judged = [row for row in loads.values() if row["link_type"] in ("nrg", "rdma_link") and row["interval_s"]]
    return {
        "link_load": loads,
        "verdict": verdicts(RULE, judged, lambda load: (load["system"], load["link_type"], load["link"])),
    }


# The recomputation. It shares nothing with the SQL but the wording of the definitions.


def plus(*values: float | None) -> float | None:
    return None if None in values else math.fsum(value for value in values if value is not None)


def own(row: Record) -> Record:
    """Return the figures of a row by itself."""
    running = ("out_bytes", "in_bytes", "out_messages", "in_messages", "dropped", "rnr_naks", "failures")
    apart = seconds(row["ts"]) - seconds(row["prev_ts"]) if row.get("prev_ts") else None
    steps = {c: row[c] - row[f"prev_{c}"] for c in running if None not in (row.get(c), row.get(f"prev_{c}"))}
    fell = any(step < 0 for step in steps.values())
    usual = row.get("interval_s")
    counts = apart is not None and apart > 0 and not fell and (usual is None or apart <= 2 * usual)
    rate = {c: steps[c] / apart if counts and apart and c in steps else None for c in running}
    bytes_s = {
        side: rate[f"{side}_bytes"]
        if row.get(f"{side}_bytes") is not None
        else over(row.get(f"{side}_kb"), usual and usual / 1024)
        for side in ("out", "in")
    }
    msgs = plus(rate["out_messages"], rate["in_messages"])
    dropped = over(plus(row.get("out_dropped"), row.get("in_dropped")), usual)
    return {
        **{name: row.get(name) for name in ("ts", "system", "link", "link_type", "group", "physical_port", "peer")},
        **{name: row.get(name) for name in ("line_bits_s", "capacity_pct", "link_count", "active_link_count")},
        "interval_s": apart if apart and apart > 0 else usual,
        "own_out_bytes_s": bytes_s["out"],
        "own_in_bytes_s": bytes_s["in"],
        "own_out_msgs_s": rate["out_messages"],
        "own_in_msgs_s": rate["in_messages"],
        "own_msgs_s": msgs,
        "out_packets_s": over(row.get("out_packets"), usual),
        "in_packets_s": over(row.get("in_packets"), usual),
        "bytes_per_message": over(plus(bytes_s["out"], bytes_s["in"]), msgs),
        "load_balance_count": row.get("load_balance_link_count"),
        "drops_s": rate["dropped"] if row.get("dropped") is not None else dropped,
        "rnr_nak_s": rate["rnr_naks"],
        "reset": None if apart is None else fell,
        "failover": None if "failures" not in steps else steps["failures"] > 0,
    }


def link_load(published: Sequence[Record], wires: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    key = ("system", "link_type", "link", "ts")
    newest_wire = {tuple(row[column] for column in key): row for row in sorted(wires, key=lambda row: int(row["n"]))}
    loads = {}
    for row in published:
        name = tuple(row[column] for column in key)
        loads[name] = wired(own(row), newest_wire.get(name, {}))
    at: dict[tuple[str, int], dict[tuple[str, ...], list[Record]]] = defaultdict(lambda: defaultdict(list))
    for load in loads.values():
        if load["physical_port"] and load["link_type"] in ("logical_port", "physical_port"):
            end = math.floor(seconds(load["ts"]) / 5)
            if load["interval_s"] is None:
                points = range(end, end + 60)
            else:
                points = range(math.floor((seconds(load["ts"]) - load["interval_s"]) / 5) + 1, end + 1)
            for point in points:
                at[load["physical_port"], point][load["system"], load["link_type"], load["link"]].append(load)
    return {
        name: beside(load, at.get((load["physical_port"], math.floor(seconds(load["ts"]) / 5)), {}))
        for name, load in loads.items()
    }


def wired(load: Record, wire: Record) -> Record:
    """Give an NRG or RDMA link its port and its pair."""
    if load["link_type"] not in ("nrg", "rdma_link"):
        return {**load, "wire": {}}
    pair = wire.get("pair")
    group = pair if load["link_type"] == "nrg" or pair is None else f"{pair} {load['group']}"
    given = {name: wire.get(name) or load[name] for name in ("capacity_pct", "line_bits_s")}
    return {**load, **given, "group": group, "physical_port": wire.get("physical_port"), "wire": wire}


def newest(rows: Sequence[Record], column: str) -> float | None:
    listed = [row for row in rows if row[column] is not None]
    return max(listed, key=lambda row: seconds(row["ts"]))[column] if listed else None


def beside(load: Record, ports: Mapping[tuple[str, ...], Sequence[Record]]) -> Record:
    """Join a link with the ports at its point."""
    sampled = {name: [row for row in rows if row["interval_s"] is not None] for name, rows in ports.items()}
    physical: dict[str, float | None] = {}
    for side in ("out", "in"):
        known = {name: [row[f"own_{side}_bytes_s"] for row in rows] for name, rows in sampled.items() if rows}
        whole = [values[0] for (_, kind, _), values in known.items() if kind == "physical_port"]
        parts = [values[0] for (_, kind, _), values in known.items() if kind == "logical_port"]
        physical[side] = whole[0] if whole else plus(*parts) if parts else None
    capacities = {name: newest(rows, "capacity_pct") for name, rows in ports.items()}
    lines = [row for rows in ports.values() for row in rows]
    wire = load["wire"]
    listed = [
        capacity
        for (system, _, port), capacity in capacities.items()
        if system == load["system"] and capacity and wire.get("logical_port") in (None, port)
    ]
    capacity = load["capacity_pct"] or (listed[0] if len(listed) == 1 else None)
    line = load["line_bits_s"] or newest(lines, "line_bits_s")
    nominal = None if line is None or capacity is None else line * capacity / 100
    sides = {side: load[f"own_{side}_bytes_s"] for side in ("out", "in")}
    busier = None if None in physical.values() else max(value for value in physical.values() if value is not None)
    share = over(plus(*sides.values()), plus(*physical.values()))
    counted = [any(rows) for rows in sampled.values()]
    counted += [capacity is not None for capacity in capacities.values()]
    counted += [newest(rows, "line_bits_s") is not None for rows in ports.values()]
    return {
        **{name: value for name, value in load.items() if name != "wire"},
        "n": 1 + 1000 * wire.get("n", 0) + sum(counted),
        "line_bits_s": line,
        "capacity_pct": capacity,
        "phys_out_bytes_s": physical["out"],
        "phys_in_bytes_s": physical["in"],
        "phys_line_pct": percent(busier, line, 8),
        "adapter_share_pct": None if share is None else 100 * share,
        **{f"{side}_line_pct": percent(value, line, 8) for side, value in sides.items()},
        **{f"{side}_capacity_pct": percent(value, nominal, 8) for side, value in sides.items()},
    }


def percent(value: float | None, whole: float | None, times: float) -> float | None:
    return None if value is None else over(100 * value * times, whole)


# The input.


class Counter:
    """Running counts of one link, as its collector publishes them with the sample before."""

    def __init__(self, system: str, kind: str, link: str, seed: int, **columns: Any) -> None:
        self.fixed: Record = {"system": system, "link_type": kind, "link": link, "source": "test", "agent_id": "test"}
        self.fixed |= columns
        self._chance = random.Random(seed)
        self._per_byte = {"out_bytes": 1.0, "in_bytes": 0.98}
        if kind != "logical_port":
            self._per_byte |= {"out_messages": 1 / 290, "in_messages": 1 / 310}
        self._counts = Running(**dict.fromkeys((*self._per_byte, "dropped", "rnr_naks"), 1e12))

    def skip(self) -> None:
        """Forget a minute."""
        if self._counts.before:
            self._counts.before -= timedelta(seconds=60)

    def sample(self, ts: datetime, interval_s: float | None, bytes_s: float, *, restart: bool = False) -> Record:
        wobble = self._chance.uniform(0.99, 1.01)
        rates = {name: bytes_s * share for name, share in self._per_byte.items()} | {"dropped": 0.2, "rnr_naks": 0.1}
        elapsed = (ts - self._counts.before).total_seconds() if self._counts.before else 15
        steps = {name: rate * elapsed * wobble for name, rate in rates.items()}
        row = {**self.fixed, "ts": stamp(ts), "interval_s": interval_s, "collected_at": stamp(NOW)}
        return row | self._counts.sample(ts, restart=restart, **steps)


def mirrored(
    system: str, begin: datetime, seed: int, *, intervals: int = 30, capped: range = range(14, 20)
) -> Iterator[Record]:
    """Yield a node: its group every 15 s, the adapter's ports every 30 s, listed every 60 s, and an interface of AIX.

    While `capped` the group carries 40 % and the neighbours a little more.
    """
    port = f"U78D2.001.{system}-P1-C1-T1"
    group = Counter(system, "nrg", "MIRROR_DATABASE", seed, link_count=1.0, failures=0.0)
    group.fixed |= {"prev_failures": 0.0, "load_balance_link_count": 1.0}
    addresses = "10.1.1.1 10.1.1.2"
    plain = Counter(system, "rdma_link", addresses, seed + 1, peer="10.1.1.2", line_bits_s=25e9, group=addresses)
    shares = {system: 3.0, f"{system}-other": 97.0}
    ports = [
        Counter(name, "logical_port", f"2700400{at}", seed + at, physical_port=port)
        for at, name in enumerate(shares, 2)
    ]
    envelope: Record = {"source": "test", "agent_id": "test", "collected_at": stamp(NOW)}
    for number in range(intervals + 1):
        ts = begin + number * timedelta(seconds=15)
        low = number in capped
        load = 2.4e8 if low else 6e8
        if number != 8:  # a sample is missing, and the gap is not longer than twice the interval
            yield group.sample(ts, 15.0, load, restart=number == 5)
            yield plain.sample(ts + timedelta(milliseconds=250), 15.0 if number % 2 else None, load)
            wire = {**envelope, "system": system, "link_type": "nrg", "link": "MIRROR_DATABASE", "ts": stamp(ts)}
            # two logical ports of the system share the physical port from sample 23 on: the wire names the right one
            yield {**wire, "n": 4, "hops": "ROCE01", "physical_port": port, "logical_port": "27004002", "pair": "A B"}
            yield {**wire, "n": 1, "hops": "", "missing": "no line"}
            wire |= {"link_type": "rdma_link", "link": addresses, "ts": stamp(ts + timedelta(milliseconds=250))}
            yield {**wire, "n": 2, "hops": "", "pair": "A B", "capacity_pct": 7.0}
        if number == 25:  # a gap
            plain.skip()
        if number % 2 == 0:
            at = ts + timedelta(seconds=4, milliseconds=500)
            yield ports[0].sample(at, 30.0, load, restart=number == 22)
            yield ports[1].sample(at, 30.0, (11.1e9 if low else 10.9e9) - load)
        if number % 4 == 1 and number != 9:
            listing = {**envelope, "ts": stamp(ts - timedelta(seconds=7)), "physical_port": port}
            for of, (name, share) in zip(ports, shares.items(), strict=True):
                naming = {"system": name, "link": of.fixed["link"], "link_type": "logical_port"}
                yield {**listing, **naming, "capacity_pct": share * (2 if number > 24 else 1)}
            if number > 22:
                second = {"system": system, "link": "27004009", "link_type": "logical_port", "capacity_pct": 1.0}
                yield {**listing, **second}
            yield {**listing, "system": "server", "link": port, "link_type": "physical_port", "line_bits_s": LINE}
        figures = {
            "out_kb": 1024.0 * number,
            "in_kb": 10.0,
            "out_packets": 100.0,
            "out_dropped": 1.0,
            "in_dropped": 2.0,
        }
        interface = {"system": system, "link": "en0", "link_type": "interface", **figures}
        yield {**envelope, **interface, "ts": stamp(ts), "interval_s": 15.0}


def of_datasets(rows: Iterable[Record]) -> list[tuple[str, Record]]:
    return [("link_wire" if "hops" in row else "link", {**row, "seq": seq}) for seq, row in enumerate(rows)]


def everything() -> list[tuple[str, Record]]:
    hours = timedelta(hours=1)
    systems = [("live", NOW, 10), ("late", NOW - 72 * hours, 20), ("ahead", NOW + 24 * hours, 40)]
    return of_datasets(row for name, begin, seed in systems for row in mirrored(name, begin, seed=seed))


@pytest.fixture(scope="module")
def line(flink: StackSettings) -> Iterator[Line]:
    line = Line(flink, recompute, ["link_load", "roce_cap"], parallelism=2)
    assert [found.what for found in line.submit()] == ["started", "started"]
    yield line
    submission.cancel(line.cluster, line.jobs)  # its slots


def states(line: Line, system: str) -> list[str]:
    mine = {key[-1]: row["state"] for key, row in line.kept("verdict").items() if key[1:3] == (system, "nrg")}
    return [state for _, state in sorted(mine.items())]


def test_every_result_is_exact_whatever_the_order(line: Line) -> None:
    twice = of_datasets(mirrored("twice", NOW - timedelta(hours=2), seed=30))
    rows = [*everything(), *twice, *twice]
    random.Random(5).shuffle(rows)
    for begin in range(0, len(rows), 200):
        line.publish(rows[begin : begin + 200])
        time.sleep(0.4)
    line.check()


def test_a_cap_is_raised_after_three_intervals_and_cleared_live_and_through_a_killed_process(
    flink: StackSettings, line: Line
) -> None:
    rows = of_datasets(mirrored("killed", NOW, seed=50))
    parts = [rows[:20], rows[20:70], rows[70:]]
    line.publish(parts[0])
    time.sleep(6)
    line.publish(parts[1])
    os.kill(supervision.states(flink)["taskmanager"].pid, signal.SIGKILL)
    lifecycle.start(flink, "taskmanager")
    line.publish(parts[2])
    line.check()
    # a rule runs in the TaskManager: to reach a process beside it would take ports open to the network
    assert not [process for process in supervision.processes(flink) if "fn_execution" in " ".join(process.cmdline())]
    found = states(line, "killed")
    assert found.index("CAPPED") > 0
    assert found[-1] == "OK"

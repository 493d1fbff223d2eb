"""`link_load` and the verdict of `roce_cap` on real Kafka and Flink, compared with a recomputation in plain Python.

Two nodes mirror over ports that other partitions use as well; the console reports the ports at a cadence of its own.
Counts restart, samples are missing, files come twice, late and shuffled.
"""

from __future__ import annotations

import math
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from counterflow.pipelines import jobs
from counterflow.pipelines.rules.roce_cap import Interval, Parameters, State, judge
from counterflow.schemas import topics
from counterflow.schemas.definition import datasets
from counterflow.schemas.json_schema import validator
from counterflow.stack import lifecycle, supervision
from counterflow.stack.jobs import cluster
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings

Record = dict[str, Any]
Results = dict[tuple[str, ...], list[Record]]
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
PORT, LINE = "U78D2.001-P1-C1-T1", 100e9


class Line:
    """Both jobs on topics of their own: what was published, and what came out."""

    def __init__(self, flink: StackSettings, version: int) -> None:
        definitions = {name: d.model_copy(update={"version": version}) for name, d in datasets().items()}
        wanted = {datasets()[name].topic: definitions[name].topic for name in ("link", "link_load", "verdict")}
        create_topics(flink, [t._replace(name=wanted[t.name]) for t in topics(partitions=2) if t.name in wanted])
        self.cluster = replace(
            cluster(flink), datasets=definitions, ledger=flink.home / f"jobs-{version}" / "jobs.json"
        )
        self.jobs = [
            job.model_copy(update={"name": f"{job.name} {version}"}) for job in jobs.chosen(["link_load", "roce_cap"])
        ]
        self.published: list[Record] = []
        self._producer = Producer(
            {"bootstrap.servers": flink.kafka_bootstrap, "transactional.id": f"test-{version}", "log_level": 0}
        )
        self._producer.init_transactions(30)

    def publish(self, rows: Sequence[Record]) -> None:
        self._producer.begin_transaction()
        for row in rows:
            known = {name: value for name, value in row.items() if value is not None}
            self._producer.produce(self.cluster.datasets["link"].topic, orjson.dumps(known), key=row["system"])
        self._producer.commit_transaction(30)
        self.published += rows

    def read(self, dataset: str) -> Results:
        """Every version of every result by key, in the order written."""
        definition = self.cluster.datasets[dataset]
        consumer = Consumer(
            {
                "bootstrap.servers": self.cluster.bootstrap,
                "group.id": "test",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )
        rows: Results = defaultdict(list)
        try:
            reading = set(consumer.list_topics(definition.topic, timeout=30).topics[definition.topic].partitions)
            consumer.assign([TopicPartition(definition.topic, partition, 0) for partition in reading])
            while reading:
                for message in consumer.consume(5000, timeout=0.1):
                    error = message.error()
                    if error:
                        assert error.code() == KafkaError._PARTITION_EOF, error
                        reading.discard(message.partition())
                    else:
                        row = orjson.loads(message.value() or b"null")
                        assert row is not None, "a result is never deleted"
                        rows[tuple(row[column] for column in definition.key)].append(row)
        finally:
            consumer.close()
        return dict(rows)

    def check(self) -> None:
        """Wait for every result, then compare: the last version of each, and no lesser one after it."""
        loads = link_load(self.published)
        expected = {"link_load": loads, "verdict": verdict(loads.values())}
        for dataset, rows in expected.items():
            found = self._arrived(dataset, lambda found, rows=rows: agree(found, rows), timeout_s=90)  # type: ignore[misc]
            schema = validator(self.cluster.datasets[dataset])
            assert found.keys() == rows.keys()
            for key, row in rows.items():
                versions = found[key]
                best = max(versions, key=lambda version: version["n"])
                newest = [version for version in versions if version["n"] == best["n"]][-1]
                assert schema.is_valid(newest), list(schema.iter_errors(newest))
                assert same(newest, row), (dataset, key, newest, row)

    def _arrived(self, dataset: str, complete: Callable[[Results], bool], timeout_s: float) -> Results:
        end = time.monotonic() + timeout_s
        while not complete(found := self.read(dataset)) and time.monotonic() < end:
            time.sleep(1)
        return found


def agree(found: Results, expected: dict[tuple[str, ...], Record]) -> bool:
    return found.keys() == expected.keys() and all(same(found[key][-1], row) for key, row in expected.items())


def same(found: Record, expected: Record) -> bool:
    """Compare what is expected; a verdict has evidence and a reason beside."""
    return all(
        math.isclose(found[name], value, rel_tol=1e-9)
        if isinstance(value, float) and name in found
        else found.get(name) == value
        for name, value in expected.items()
    )


# The recomputation. It shares nothing with the SQL but the definitions' words.


def seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def over(a: float | None, b: float | None) -> float | None:
    return None if a is None or not b else a / b


def plus(*values: float | None) -> float | None:
    return None if None in values else math.fsum(value for value in values if value is not None)


def own(row: Record) -> Record:
    """What a row says by itself."""
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


def link_load(published: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    key = ("system", "link_type", "link", "ts")
    distinct = {tuple(row[column] for column in key): own(row) for row in published}
    at: dict[tuple[str, int], dict[tuple[str, str, str], Record]] = defaultdict(dict)
    for load in distinct.values():
        if load["physical_port"] and load["link_type"] in ("logical_port", "physical_port"):
            end, length = seconds(load["ts"]), load["interval_s"] or 5
            for point in range(math.floor((end - length) / 5) + 1, math.floor(end / 5) + 1):
                at[load["physical_port"], point][load["system"], load["link_type"], load["link"]] = load
    results = {}
    for name, load in distinct.items():
        ports = at.get((load["physical_port"], math.floor(seconds(load["ts"]) / 5)), {})
        results[name] = with_ports(load, ports)
    return results


def with_ports(load: Record, ports: dict[tuple[str, str, str], Record]) -> Record:
    """Set a link beside the ports at its point."""
    physical: dict[str, float | None] = {}
    for side in ("out", "in"):
        column = f"own_{side}_bytes_s"
        whole = [p[column] for (_, kind, _), p in ports.items() if kind == "physical_port" and p[column] is not None]
        logical = [p[column] for (_, kind, _), p in ports.items() if kind == "logical_port"]
        physical[side] = math.fsum(whole) if whole else plus(*logical) if logical else None
    capacities = [
        p["capacity_pct"] for (system, _, _), p in ports.items() if system == load["system"] and p["capacity_pct"]
    ]
    capacity = load["capacity_pct"] or (capacities[0] if len(capacities) == 1 else None)
    line = load["line_bits_s"] or max((p["line_bits_s"] for p in ports.values() if p["line_bits_s"]), default=None)
    nominal = None if line is None or capacity is None else line * capacity / 100
    sides = {side: load[f"own_{side}_bytes_s"] for side in ("out", "in")}
    busier = None if None in physical.values() else max(value for value in physical.values() if value is not None)
    share = over(plus(*sides.values()), plus(*physical.values()))
    return {
        **load,
        "n": 1 + len(ports),
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


def verdict(loads: Iterable[Record]) -> dict[tuple[str, ...], Record]:
    """The rule over each link in order, once an interval."""
    links = defaultdict(list)
    for load in loads:
        if load["link_type"] in ("nrg", "rdma_link") and load["interval_s"]:
            links[load["system"], load["link_type"], load["link"]].append(load)
    results: dict[tuple[str, ...], Record] = {}
    for (system, kind, link), rows in links.items():
        state, shown, since = State(), None, ""
        for row in sorted(rows, key=lambda row: seconds(row["ts"])):
            state, said = judge(Parameters(), state, Interval.of_row(row))
            shown, since = str(said.state), since if str(said.state) == shown else row["ts"]
            results["roce_cap", system, kind, link, row["ts"]] = {
                "n": row["n"],
                "interval_s": row["interval_s"],
                "state": shown,
                "signal": said.signal and str(said.signal),
                "stale": said.stale,
                "since": since,
            }
    return results


# The input.


class Counter:
    """Running counts of one link, as its collector publishes them with the sample before."""

    def __init__(self, system: str, kind: str, link: str, seed: int, **columns: Any) -> None:
        self._fixed = {"system": system, "link_type": kind, "link": link, "source": "ibmi_tables", "agent_id": "test"}
        self._fixed |= columns
        self._chance = random.Random(seed)
        self._counts: dict[str, float] = {}
        self._before: datetime | None = None

    def sample(
        self, ts: datetime, interval_s: float, out_bytes_s: float, *, restart: bool = False, **columns: Any
    ) -> Record:
        wobble = self._chance.uniform(0.99, 1.01)
        rates = {"out_bytes": out_bytes_s, "in_bytes": out_bytes_s * 0.98, "dropped": 0.2, "rnr_naks": 0.1}
        if self._fixed["link_type"] != "logical_port":
            rates |= {"out_messages": out_bytes_s / 290, "in_messages": out_bytes_s / 310}
        elapsed = (ts - self._before).total_seconds() if self._before else interval_s
        before, self._counts = (
            self._counts,
            {
                name: (0 if restart else self._counts.get(name, 1e12)) + float(round(rate * elapsed * wobble))
                for name, rate in rates.items()
            },
        )
        row = {**self._fixed, "ts": stamp(ts), "interval_s": interval_s, "collected_at": stamp(NOW), **columns}
        row |= self._counts | {f"prev_{name}": value for name, value in before.items()}
        row["prev_ts"] = stamp(self._before) if self._before else None
        self._before = ts
        return row


def stamp(moment: datetime) -> str:
    return f"{moment:%FT%T}.{moment.microsecond // 1000:03}".rstrip("0").rstrip(".") + "Z"  # as Flink writes it


def mirrored(
    system: str, begin: datetime, seed: int, *, intervals: int = 30, capped: range = range(14, 20), port: str = PORT
) -> Iterator[Record]:
    """A node: its group every 15 s, every port of the adapter every 30 s at another second, and an interface of AIX.

    While `capped` the group carries 40 % and the neighbours a little more.
    """
    group = Counter(
        system, "nrg", "MIRROR_DATABASE", seed, physical_port=port, link_count=1.0, failures=0.0, prev_failures=0.0
    )
    plain = Counter(system, "rdma_link", "10.1.1.1 10.1.1.2", seed + 1, peer="10.1.1.2", line_bits_s=25e9)
    ports = [
        Counter(
            name, "logical_port", f"{port}-{name}", seed + at, physical_port=port, line_bits_s=LINE, capacity_pct=pct
        )
        for at, (name, pct) in enumerate([(system, 3.0), (f"{system}-other", 97.0)], 2)
    ]
    for number in range(1, intervals + 1):
        low = number in capped
        ts = begin + number * timedelta(seconds=15)
        load = 2.4e8 if low else 6e8
        if number != 8:  # a sample is missing: the gap is not longer than twice the interval
            yield group.sample(ts, 15.0, load, restart=number == 5)
            yield plain.sample(ts + timedelta(milliseconds=250), 15.0 if number % 2 else None, load)  # type: ignore[arg-type]
        if number % 2 == 0:
            at = ts + timedelta(seconds=4, milliseconds=500)
            yield ports[0].sample(at, 30.0, load, restart=number == 22)
            yield ports[1].sample(at, 30.0, (11.1e9 if low else 10.9e9) - load)
        envelope = {"system": system, "source": "nmon", "agent_id": "test", "collected_at": stamp(NOW)}
        figures = {
            "out_kb": 1024.0 * number,
            "in_kb": 10.0,
            "out_packets": 100.0,
            "out_dropped": 1.0,
            "in_dropped": 2.0,
        }
        yield {**envelope, "ts": stamp(ts), "interval_s": 15.0, "link": "en0", "link_type": "interface", **figures}


def numbered(rows: Iterable[Record]) -> list[Record]:
    return [{**row, "seq": seq} for seq, row in enumerate(rows)]


@pytest.fixture(scope="module")
def flink(kafka: StackSettings) -> StackSettings:
    lifecycle.start(kafka, "jobmanager", "taskmanager")
    return kafka


@pytest.fixture(scope="module")
def line(flink: StackSettings) -> Line:
    line = Line(flink, 50)
    assert [found.what for found in jobs.submit(line.cluster, line.jobs)] == ["started", "started"]
    return line


def states(line: Line, system: str, link: str = "MIRROR_DATABASE") -> list[str]:
    found = line.read("verdict")
    mine = sorted(
        (key[-1], versions[-1]["state"]) for key, versions in found.items() if key[1:4] == (system, "nrg", link)
    )
    return [state for _, state in mine]


def test_every_result_is_exact_whatever_the_order(line: Line) -> None:
    twice = numbered(mirrored("twice", NOW - timedelta(hours=2), seed=30, port="P-twice"))
    rows = [
        *numbered(mirrored("live", NOW, seed=10)),
        *numbered(mirrored("late", NOW - timedelta(days=3), seed=20, port="P-late")),
        *numbered(mirrored("ahead", NOW + timedelta(days=1), seed=40, port="P-ahead")),
        *twice,
        *twice,
    ]
    random.Random(5).shuffle(rows)
    for begin in range(0, len(rows), 200):
        line.publish(rows[begin : begin + 200])
        time.sleep(0.4)
    line.check()


def test_a_cap_is_raised_after_three_intervals_and_cleared_live_and_through_a_killed_process(
    flink: StackSettings, line: Line
) -> None:
    rows = numbered(mirrored("killed", NOW, seed=50, port="P-killed"))
    parts = [rows[:20], rows[20:70], rows[70:]]
    line.publish(parts[0])
    time.sleep(6)
    line.publish(parts[1])
    os.kill(supervision.states(flink)["taskmanager"].pid, signal.SIGKILL)
    lifecycle.start(flink, "taskmanager")
    line.publish(parts[2])
    line.check()
    found = states(line, "killed")
    assert found.index("CAPPED") > 0
    assert found[-1] == "OK"


def test_ports_that_are_published_after_the_links_complete_results_and_verdicts(line: Line) -> None:
    rows = numbered(mirrored("after", NOW, seed=60, port="P-after"))
    ports = [row for row in rows if row["link_type"] == "logical_port"]
    line.publish([row for row in rows if row not in ports])
    time.sleep(8)
    assert "CAPPED" not in states(line, "after")
    line.publish(ports)
    line.check()
    assert "CAPPED" in states(line, "after")


def test_a_long_recording_at_once_is_judged_in_order(line: Line) -> None:
    rows = numbered(mirrored("bulk", NOW, seed=70, intervals=1200, capped=range(600, 620), port="P-bulk"))
    line.publish(rows)
    line.check()

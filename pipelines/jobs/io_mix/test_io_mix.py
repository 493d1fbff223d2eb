"""`io_mix` on real Kafka and Flink, every result compared with a recomputation in plain Python.

The input is what makes windows lose rows: a live system, one three days late, one a day ahead, a file delivered twice,
all shuffled in one topic.
"""

from __future__ import annotations

import math
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from counterflow.pipelines import submission
from counterflow.stack.settings import StackSettings
from tests.support.flink_line import Line, Record, Results, first_of_each, over, total

INTERVAL_S = 15.0
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
INTERVALS = 24
EACH = 14
"""Jobs of a partition."""


# By hand.


def stamped(system: str, **record: Any) -> Record:
    envelope = {"ts": "2026-05-04T09:15:00Z", "interval_s": 100.0, "source": "ibmi_tables", "agent_id": "test"}
    return {**envelope, "collected_at": "2026-05-04T09:15:09Z", "seq": 1, "system": system, **record}


HAND: list[tuple[str, Record]] = [
    # logical I/O of two jobs that share their first six characters, with and without reads for update; one without any
    *(
        (
            "job",
            stamped(
                system, job=job, job_name=name, job_user="ANN", subsystem="QBATCH", cpu_ms=50_000.0, job_cpu_ms=1e6,
                logical_reads=reads, logical_writes=writes, logical_other=other, logical_reads_for_update=for_update,
                commits=1.0, rollbacks=1.0 if system == "four" else None, accounting_code="DEPT7",
                summarised_tasks=tasks,
            ),
        )
        for system, first, second in (("four", 30.0, 10.0), ("three", 30.0, None))
        for job, name, reads, writes, other, for_update, tasks in (
            ("1", "ORDERS01", 60.0, 20.0, 20.0, first, None),
            ("2", "ORDERS02", 90.0, 5.0, 5.0, second, 5.0),
            ("3", "SLICTASK", None, None, None, None, None),
        )
    ),
]  # fmt: skip


def expected_by_hand() -> list[tuple[str, tuple[str, ...], Record]]:
    ts = "2026-05-04T09:15:00Z"
    whole = {"split": "four-way", "logical_io": 200.0, "logical_io_per_s": 2.0, "reads": 150.0, "inserts": 25.0}
    orders = {"read_only": 110.0, "read_for_update": 40.0, "other": 25.0, "read_pct": 75.0, "read_only_pct": 55.0}
    # 200 operations, of them 2 commits and 2 rollbacks: 46 of 196 modify, 86 are exposed; of the second job 18 of 98
    shares = {"read_for_update_pct": 20.0, "insert_pct": 12.5, "other_pct": 12.5, "modify_pct": 23.469387755102041}
    shares |= {"modify_basis": "changes", "row_operations": 196.0, "exposure_pct": 43.877551020408163}
    three = {
        "modify_basis": "with_commits",
        "row_operations": 200.0,
        "split": "three-way",
        "read_pct": 75.0,
        "read_only": None,
        "read_for_update": None,
        "modify_pct": 25.0,
    }
    return [
        ("io_mix", ("four", "generic_job", "ORDERS", ts), {**whole, **orders, **shares, "n": 2}),
        ("io_mix", ("four", "partition", "*", ts), {**whole, **orders, "n": 3, "commits": 3.0}),
        ("io_mix", ("four", "job", "ORDERS02", ts), {"exposure_pct": 18.367346938775510, "read_only": 80.0}),
        ("io_mix", ("three", "user", "ANN", ts), {**three, "n": 2, "exposure_pct": 40.0}),
    ]


# The recomputation. It shares nothing with the SQL but the wording of the definitions.


LOGICAL = ("logical_reads", "logical_writes", "logical_other")


def pct(part: float | None, whole: float | None) -> float | None:
    return None if part is None else over(100 * part, whole)


def io_mix(published: Sequence[Record]) -> dict[tuple[str, ...], Record]:
    groupings = {"subsystem": "subsystem", "user": "job_user", "job": "job_name", "generic_job": "job_name"}
    groups: dict[tuple[str, str, str, str], list[Record]] = defaultdict(list)
    for row in first_of_each(published, "system", "job", "ts"):
        groups[row["system"], "partition", "*", row["ts"]].append(row)
        for grouping, column in groupings.items():
            if row.get(column) is not None:
                name = row[column][:6] if grouping == "generic_job" else row[column]
                groups[row["system"], grouping, name, row["ts"]].append(row)
    results: dict[tuple[str, ...], Record] = {}
    for (system, grouping, name, ts), rows in groups.items():
        whole = [row for row in rows if None not in [row.get(column) for column in LOGICAL]]
        if grouping != "partition":
            rows = whole
        if not rows:
            continue
        interval_s = max(row["interval_s"] for row in rows)
        reads, inserts, other = (total([row.get(column) for row in whole]) for column in LOGICAL)
        everything = total([row[column] for row in whole for column in LOGICAL])
        parted = [row["logical_reads_for_update"] for row in whole if row.get("logical_reads_for_update") is not None]
        split = None if not whole else "four-way" if len(parted) == len(whole) else "three-way"
        for_update = total(parted) if split == "four-way" else None
        read_only = None if reads is None or for_update is None else reads - for_update
        ended = [(row.get("commits"), row.get("rollbacks")) for row in whole]
        ends = math.fsum(n for pair in ended for n in pair if n is not None)
        known = None not in [n for pair in ended for n in pair] and ends <= (other or 0.0)
        operations = None if everything is None else everything - ends * known
        modify = None if operations is None or reads is None else operations - reads
        results[system, grouping, name, ts] = {
            "system": system,
            "grouping": grouping,
            "name": name,
            "ts": ts,
            "n": len(rows),
            "interval_s": interval_s,
            "split": split,
            "modify_basis": None if not whole else "changes" if known else "with_commits",
            "logical_io": everything,
            "row_operations": operations,
            "logical_io_per_s": over(everything, interval_s),
            "reads": reads,
            "read_only": read_only,
            "read_for_update": for_update,
            "inserts": inserts,
            "other": other,
            "read_pct": pct(reads, everything),
            "read_only_pct": pct(read_only, everything),
            "read_for_update_pct": pct(for_update, everything),
            "insert_pct": pct(inserts, everything),
            "other_pct": pct(other, everything),
            "modify_pct": pct(modify, operations),
            "exposure_pct": None if modify is None else pct(modify + sum(parted), operations),
            "commits": total([row.get("commits") for row in rows]),
            "rollbacks": total([row.get("rollbacks") for row in rows]),
        }
    return results


def recompute(published: Mapping[str, Sequence[Record]]) -> Results:
    return {"io_mix": io_mix([row for row in published["job"] if row["source"] == "ibmi_tables"])}


# The input.


def recording(system: str, begin: datetime, seed: int, intervals: int = INTERVALS) -> list[tuple[str, Record]]:
    """Return rows of a partition as the agent publishes them, and one of AIX, which the job leaves out."""
    chance = random.Random(seed)
    rows: list[tuple[str, Record]] = []
    for number in range(1, intervals + 1):
        ts = f"{begin + number * timedelta(seconds=INTERVAL_S):%FT%TZ}"
        envelope = {"ts": ts, "interval_s": INTERVAL_S, "system": system, "source": "ibmi_tables", "agent_id": "test"}
        for each in range(EACH):
            name = chance.choice(["QZDASOINIT", "QZDASSINIT", "PAY", "QDBMSRVR", "ORDERS01", "ORDERS02"])
            row: Record = {"job": f"{each:06}/QUSER/{name}", "job_name": name, "cpu_ms": chance.uniform(0, 9e5)}
            row |= {"job_user": chance.choice(["QUSER", "ANN", None])}
            row |= {"subsystem": chance.choice(["QBATCH", "QUSRWRK"])}
            if chance.random() < 0.8:  # what is in QAPMJOBOS too
                row |= {name: float(chance.choice([0, chance.randint(0, 10**6)])) for name in LOGICAL}
                if seed != 2:  # a release without a counter of reads for update
                    row |= {"logical_reads_for_update": float(chance.randint(0, int(row["logical_reads"])))}
                row |= {"commits": float(each), "rollbacks": 0.0}
            if chance.random() < 0.1:  # a damaged field
                row[chance.choice([*LOGICAL, "logical_reads_for_update"])] = None
            rows.append(("job", {**envelope, **row}))
        rows.append(("job", {**envelope, "source": "nmon", "job": "4711", "command": "db2sysc", "cpu_ms": 15.0}))
    for seq, (_, record) in enumerate(rows):
        record |= {"seq": seq, "collected_at": f"{NOW:%FT%TZ}"}
    return rows


def everything() -> list[tuple[str, Record]]:
    """Return a live system, one three days late, one a day ahead, a file delivered twice: shuffled."""
    twice = recording("twice", NOW - timedelta(hours=2), seed=3)
    again = [(dataset, {**record, "seq": record["seq"] + 10_000}) for dataset, record in twice]
    rows = [
        *recording("live", NOW, seed=1),
        *recording("late", NOW - timedelta(days=3), seed=2),
        *recording("ahead", NOW + timedelta(days=1), seed=4),
        *twice,
        *again,
        *HAND,
    ]
    random.Random(5).shuffle(rows)
    return rows


@pytest.fixture(scope="module")
def line(flink: StackSettings) -> Iterator[Line]:
    """A job of four subtasks, on topics of four partitions."""
    line = Line(flink, recompute, ["io_mix"], parallelism=4)
    assert [found.what for found in line.submit()] == ["started"]
    yield line
    submission.cancel(line.cluster, line.jobs)  # its slots


def test_every_result_is_exact_whatever_the_order(line: Line) -> None:
    rows = everything()
    for begin in range(0, len(rows), 400):
        line.publish(rows[begin : begin + 400])
        time.sleep(0.4)  # in all, longer than a mini-batch
    line.publish(recording("aborted", NOW, seed=6), commit=False)
    line.check()


def test_examples_of_the_documents_come_out(line: Line) -> None:
    for dataset, key, figures in expected_by_hand():
        row = line.kept(dataset)[key]
        assert {name: row.get(name) for name in figures} == {
            name: pytest.approx(value) if isinstance(value, float) else value for name, value in figures.items()
        }, (dataset, key)


def test_a_row_counts_once_in_whatever_frames_it_comes(line: Line) -> None:
    rows = recording("cut", NOW, seed=12, intervals=9)
    ours = [record for _, record in rows if record["source"] == "ibmi_tables"]
    intervals = [ours[at : at + EACH] for at in range(0, len(ours), EACH)]
    for number, interval in enumerate(intervals):
        whole, begin, middle, end = interval, interval[:4], interval[2:5], interval[3:]
        cuts = ([whole, whole], [begin, end], [whole, middle], [middle, whole], [begin, middle, end])[number % 5]
        for frame in cuts:
            line.publish([("job", record) for record in frame])
    envelope = {
        name: rows[0][1][name] for name in ("interval_s", "system", "source", "agent_id", "seq", "collected_at")
    }
    envelope |= {"ts": f"{NOW + timedelta(hours=1):%FT%TZ}", "system": "malformed"}
    two = {"frame_rows": 2, "job": ["a", "b"], "job_name": ["A", "B"], "commits": [1.0, 2.0]}
    wrong = [{"job": ["a", "a"]}, {"job": ["a"]}, {"job": "a"}, {"job": None}, {"commits": [1.0]}, {"frame_rows": 3}]
    line.publish_malformed("job", [{**envelope, **two, **one} for one in wrong])
    line.check()

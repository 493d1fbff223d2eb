"""Faults 5, 13, 18 and 21: clocks that jump, poison in a topic, a table that changes, records deleted too early."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

import orjson
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined] # its stub forgets to export one

from counterflow.pipelines import submission
from counterflow.stack import lifecycle, supervision
from counterflow.stack.jobs import cluster
from tests.faults.line import Line
from tests.integration.test_agent import Recording
from tests.integration.test_landing import record
from tests.support.agents import scrape
from tests.support.frames import frame
from tests.support.waiting import until

TOPIC = "counterflow.disk.v2"


def test_a_clock_that_jumps(line: Line, report: Callable[..., None]) -> None:
    """A recorder's clock jumps two hours ahead, then one back, to a time without samples."""
    jumping = Recording(line.folder / "jumping.nmon", f"{line.name}-jumping")
    jumping.start = line.recordings[0].start
    line.files.append(jumping.path)
    for hours in (0, 2, -1):
        jumping.start += timedelta(hours=hours)
        jumping.append(30)
        time.sleep(1)
    report(5, line.back(), line.oracle())


def test_poison_at_the_source_of_the_jobs(line: Line, report: Callable[..., None]) -> None:
    """What no producer of ours writes: no JSON, no object, no frame, other types; columns of a later version."""
    # Outside the audited time: jobs read a field of another type as null, where the lander refuses the row.
    good = record(f"{line.name}-poison", 1, ts="2026-07-01T12:00:00Z")
    whole = frame("disk", [good])
    poison: list[bytes | None] = [
        b"\x00\xff\x00 no text",
        b"[1, 2, 3]",
        b'{"ts": "2026-08-01T00:00:00Z", "system": ',
        b"null",
        None,
        orjson.dumps(frame("disk", [{**good, "reads": "many"}])),
        orjson.dumps({**whole, "ts": {"seconds": 17}}),
        orjson.dumps({**whole, "disk": [None]}),
        orjson.dumps({**whole, "leaf": [[True]]}),
        orjson.dumps({**whole, "leaf": [True, False]}),
        orjson.dumps({**whole, "frame_rows": 1_000_000}),
        orjson.dumps(frame("disk", [good, good])),
        orjson.dumps({**whole, "unheard_of": [{"deep": [1, 2, {"er": None}]}]}),
    ]
    healthy = orjson.dumps({**whole, "seq": 2})
    before = {found.job: found.job_id for found in submission.listing(cluster(line.stack))}
    producer = Producer({**line.stack.kafka("admin").client, "log_level": 0})
    for _ in range(2):
        for value in poison:
            producer.produce(TOPIC, value, key="poison")
    producer.produce(TOPIC, healthy, key="poison")
    assert producer.flush(20) == 0
    seconds = line.back()
    after = {found.job: (found.job_id, found.state) for found in submission.listing(cluster(line.stack))}
    assert after == {job: (job_id, "RUNNING") for job, job_id in before.items()}
    sql = "SELECT count() AS n FROM counterflow.disk WHERE agent_id = {agent:String} AND seq = 2"
    until(lambda: int(line.reader.rows(sql, {"param_agent": str(good["agent_id"])})[0]["n"]) == 1)
    report(13, seconds, line.oracle())


def test_a_migration_while_data_flows(line: Line, report: Callable[..., None]) -> None:
    """A column is added and dropped: older agents do not send it; frames with it wait for a lander that knows it."""
    # Outside the audited time: jobs count the frame, which the lander keeps for one that knows its column.
    older = record(f"{line.name}-newer", 1, ts="2026-07-02T12:00:00Z")
    newer = {**frame("disk", [{**older, "seq": 2, "disk": "hdisk9"}]), "of_tomorrow": [7.5]}
    producer = Producer({**line.stack.kafka("admin").client, "log_level": 0})
    with line.stack.clickhouse("admin") as admin:
        try:
            producer.produce(TOPIC, orjson.dumps(newer), key="newer")
            producer.flush(10)
            time.sleep(2)
            admin.post("ALTER TABLE counterflow.disk ADD COLUMN of_tomorrow Nullable(Float64)")
            producer.produce(TOPIC, orjson.dumps(frame("disk", [older])), key="newer")
            producer.flush(10)
            seconds = line.back()
            agent = {"param_agent": str(older["agent_id"])}
            of_table = "SELECT seq, of_tomorrow FROM counterflow.disk WHERE agent_id = {agent:String}"
            until(lambda: admin.rows(of_table, agent) == [{"seq": 1, "of_tomorrow": None}])
            kept = "SELECT seq, reason FROM counterflow.deadletter WHERE agent_id = {agent:String}"
            until(lambda: admin.rows(kept, agent) == [{"seq": 2, "reason": "unknown_column"}])
        finally:
            admin.post("ALTER TABLE counterflow.disk DROP COLUMN IF EXISTS of_tomorrow")
    line.back()
    report(18, seconds, line.oracle())


def test_retention_overtakes_a_stopped_lander(line: Line, report: Callable[..., None]) -> None:
    """Records that Kafka deleted before they landed are lost: they are counted exactly, and reported."""
    line.oracle()
    supervision.stop(line.stack, "lander")
    before = line.landed()
    time.sleep(3)
    admin = AdminClient({**line.stack.kafka("admin").client, "log_level": 0})
    with line.resting():
        line.wait_committed()
        partitions = [TopicPartition(TOPIC, p) for p in admin.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions]
        latest = admin.list_offsets(dict.fromkeys(partitions, OffsetSpec.latest()))
        ends = [TopicPartition(p.topic, p.partition, found.result().offset) for p, found in latest.items()]
        for deleted in admin.delete_records(ends).values():
            deleted.result()
        lost = (line.written() - before)["disk"]
        assert lost > 0
    began = time.monotonic()
    lifecycle.start(line.stack, "lander")
    assert "kafka deleted records before they were landed" in (line.stack.logs / "lander.log").read_text()
    assert scrape(line.stack.lander_metrics_port, 'counterflow_lander_expired_offsets_total{dataset="disk"}')
    seconds = time.monotonic() - began
    verdict = line.oracle(timeout_s=15)
    assert verdict.lost == lost
    report(21, seconds, verdict, expected=lost)

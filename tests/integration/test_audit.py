"""The audit on a real engine: it confirms right results, and finds those that were tampered with.

The right results are the recomputations in plain Python that the tests of the jobs compare with Flink, over the same
input: the two calculations share no code.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.pipelines import jobs
from counterflow.pipelines.audit.records import Account, accounts
from counterflow.pipelines.audit.results import NOT_AUDITED, AuditOutcome, audited, compare
from counterflow.pipelines.audit.sample import Sampled, frames
from counterflow.pipelines.audit.sample import compare as sampled
from counterflow.pipelines.jobs import all_jobs
from counterflow.schemas.definition import datasets
from tests.support.flink_line import Record

BEGIN, END = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 6, tzinfo=UTC)
SETTINGS: Settings = {"async_insert": 0, "date_time_input_format": "best_effort", "input_format_skip_unknown_fields": 1}

Input = list[tuple[str, Record]]


def _cases() -> dict[str, ModuleType]:
    """Return the tests of jobs, by job: those that make input, `everything`, and compute its results, `recompute`."""
    folders = sorted(path.parent.name for path in Path(jobs.__file__).parent.glob("*/test_*.py"))
    modules = {job: import_module(f"counterflow.pipelines.jobs.{job}.test_{job}") for job in folders}
    return {job: module for job, module in modules.items() if {"everything", "recompute"} <= vars(module).keys()}


CASES = _cases()


def insert(client: ClickHouse, table: str, rows: Iterable[Record]) -> None:
    body = b"\n".join(orjson.dumps({"collected_at": "2026-05-04T12:00:00Z", **row}) for row in rows)
    client.post(f"INSERT INTO counterflow.{table} FORMAT JSONEachRow", body, SETTINGS)


def as_tables_keep_them(rows: Input) -> dict[str, list[Record]]:
    """Return one row of each natural key, as the tables have them once they are merged."""
    kept: dict[str, dict[tuple[Any, ...], Record]] = defaultdict(dict)
    for dataset, row in rows:
        kept[dataset].setdefault(tuple(row.get(name, "") for name in datasets()[dataset].key), row)
    return defaultdict(list, {dataset: list(found.values()) for dataset, found in kept.items()})


def compared(client: ClickHouse, dataset: str, late: datetime | None = None) -> AuditOutcome:
    return compare(client, dataset, BEGIN, END, late or datetime.now(UTC) + timedelta(hours=1))


def test_a_changed_a_missing_and_a_superfluous_result_are_found(client: ClickHouse) -> None:
    counters = as_tables_keep_them(CASES["io_mix"].everything())
    rows = list(CASES["io_mix"].recompute(counters)["io_mix"].values())
    insert(client, "job", counters["job"] + counters["job"][:50])
    insert(client, "io_mix", rows)
    chosen = [row for row in rows if row["commits"] and row["system"] == "live"]
    changed, removed = chosen[0], chosen[1]
    client.post(
        "DELETE FROM counterflow.io_mix WHERE system = {system:String} "
        "AND grouping = {grouping:String} AND name = {name:String} "
        "AND ts = parseDateTime64BestEffort({ts:String}, 3, 'UTC')",
        settings={f"param_{name}": removed[name] for name in ("system", "grouping", "name", "ts")},
    )
    insert(client, "io_mix", [{**changed, "commits": changed["commits"] * (1 + 1e-8)}])
    insert(client, "io_mix", [{**removed, "system": "nobody's"}])
    late = datetime.now(UTC) - timedelta(hours=1)
    assert compared(client, "io_mix", late)[1:5] == (len(rows) - 2, 0, 0, 3)  # too recent to be judged
    outcome = compared(client, "io_mix")
    assert outcome[1:5] == (len(rows) + 1, 3, 1, 0)
    found = {(one.stored is None, one.recomputed is None): one for one in outcome.differences}
    assert (found[False, False].column, found[False, False].key["system"]) == ("commits", "live")
    assert float(found[False, False].stored or 0) > float(found[False, False].recomputed or 0)
    assert found[True, False][1:] == ("n", None, str(removed["n"]))
    assert found[False, True].key["system"] == "nobody's"
    assert found[False, True][1:] == ("n", str(removed["n"]), None)


def disks(agent: str, *seqs: int) -> list[Record]:
    """Return rows of an agent."""
    at = "2026-05-04T12:00:00Z"
    fixed = {"ts": at, "system": agent, "source": "nmon", "agent_id": agent, "device_type": "disk", "leaf": True}
    return [{**fixed, "seq": seq, "disk": f"hdisk{seq}"} for seq in seqs]


def letters(agent: str, *seqs: int) -> list[Record]:
    """Return dead letters of an agent."""
    about = {"stage": "land", "reason": "x", "error": "x", "payload_base64": "", "payload_bytes": 0}
    return [{**row, **about, "origin": f"t:0:{row['seq']}"} for row in disks(agent, *seqs)]


def test_each_record_is_landed_refused_pending_or_lost(client: ClickHouse) -> None:
    insert(client, "disk", disks("whole", *range(1, 101)))
    insert(client, "disk", disks("holes", *(seq for seq in range(3, 101) if seq not in (42, 50, 51))))
    insert(client, "disk", disks("holes", 17))
    insert(client, "deadletter", letters("holes", 50, 60))  # 60 was refused once, and landed when it came again
    found = accounts(
        client,
        {"whole": 100, "holes": 102, "silent": 5, "new": 0},
        {"holes": [51, 99, 101, 102, 103], "whole": [100], "silent": [4]},
    )
    assert found == [
        Account("holes", 1, 102, 102, landed=95, deadletter=1, pending=3, lost=3, repeated=1),  # lost: 1, 2, 42
        Account("whole", 1, 100, 100, landed=100, deadletter=0, pending=0, lost=0, repeated=0),
        Account("silent", 1, 5, 5, landed=0, deadletter=0, pending=1, lost=4, repeated=0),
    ]
    loss = client.rows("SELECT deadletters, repeated FROM counterflow.loss WHERE agent_id = 'holes'")
    assert loss == [{"deadletters": 1, "repeated": 1}]


def test_any_number_of_agents_and_of_records_under_way_is_counted(client: ClickHouse) -> None:
    """Lists travel in the body of a request: an address could not be as long."""
    insert(client, "disk", disks("gaps", 1))
    acked = {f"agent-of-a-long-name-{n}": 0 for n in range(1_000)}
    [found] = accounts(client, {**acked, "gaps": 40_000}, {"gaps": range(2, 40_001, 2)})
    assert found == Account("gaps", 1, 40_000, 40_000, landed=1, deadletter=0, pending=20_000, lost=19_999, repeated=0)


def test_a_row_of_a_sampled_frame_is_stored_replaced_refused_or_missing(client: ClickHouse) -> None:
    rows = disks("sampled", *range(1, 7))
    insert(client, "disk", rows[:5])
    insert(client, "disk", [{**rows[3], "agent_id": "another", "collected_at": "2026-05-04T13:00:00Z"}])
    insert(client, "deadletter", letters("sampled", 6))
    client.post("DELETE FROM counterflow.disk WHERE agent_id = 'sampled' AND seq = 3")
    columns = ("disk", "device_type", "leaf")
    frame = {name: value for name, value in rows[0].items() if name not in columns}
    frame |= {"collected_at": "2026-05-04T12:00:00Z", "frame_rows": 6}
    frame |= {name: [row[name] for row in rows] for name in columns}
    messages = [b"{", b"[]", orjson.dumps({**frame, "frame_rows": 7}), orjson.dumps(frame)]
    sample = frames((datasets()["disk"].topic, message) for message in messages)
    assert sample == {"disk": [frame]}
    assert sampled(client, "disk", [frame]) == Sampled("disk", 1, 6, stored=3, replaced=1, refused=1, missing=1)
    client.post("TRUNCATE TABLE counterflow.ledger")
    assert sampled(client, "disk", [frame]) == Sampled("disk", 1, 6, stored=0, replaced=0, refused=0, missing=6)


def test_records_that_land_while_it_counts_are_not_counted(client: ClickHouse) -> None:
    insert(client, "disk", disks("busy", *range(1, 21)))
    assert accounts(client, {"busy": 10}, {}) == [Account("busy", 1, 10, 10, 10, 0, 0, 0, 0)]


def test_a_ledger_that_has_forgotten_its_beginning_misses_nothing_before_it(client: ClickHouse) -> None:
    client.post(
        "INSERT INTO counterflow.ledger (agent_id, dataset, day, rows, seqs, landed_at) "
        "SELECT 'old', 'disk', today() - 420, count(), groupBitmapState(number), now() - INTERVAL 420 DAY "
        "FROM numbers(900, 101)"
    )
    assert accounts(client, {"old": 1000}, {}) == [Account("old", 900, 1000, 101, 101, 0, 0, 0, 0)]


def test_an_agent_whose_clock_is_years_behind_hides_no_loss(client: ClickHouse) -> None:
    rows = [{**row, "collected_at": "2020-01-01T00:00:00Z"} for row in disks("behind", *range(91, 101))]
    insert(client, "disk", rows)
    assert accounts(client, {"behind": 100}, {}) == [Account("behind", 1, 100, 100, 10, 0, 0, 90, 0)]


def test_every_job_is_audited_or_has_a_reason_not_to_be() -> None:
    jobs = {job.name for job in audited().values()}
    assert not jobs & set(NOT_AUDITED)
    assert jobs | set(NOT_AUDITED) == set(all_jobs())
    assert all(reason for reason in NOT_AUDITED.values())

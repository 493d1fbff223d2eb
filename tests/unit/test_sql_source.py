"""A SQL source on a real database: configuration, packs, members, what a release lacks, connections that are lost."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import prometheus_client
import pytest

from counterflow.base.errors import CounterflowError
from counterflow.collectors.agent.checkpoint import Committed, StreamCheckpoint
from counterflow.collectors.agent.config import load
from counterflow.collectors.agent.live import Live
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.formats.ibmi_tables.description import description
from counterflow.collectors.sources.polling.batch import Batch, Cursor, Task
from counterflow.collectors.sources.polling.reader import PollingThread
from counterflow.collectors.sources.polling.waiting import Spool
from counterflow.collectors.sources.sql import packs
from counterflow.collectors.sources.sql.drivers import DRIVERS, driver
from counterflow.collectors.sources.sql.members import Follow, Member, in_order
from counterflow.collectors.sources.sql.packs import PackError, PackQuery
from counterflow.collectors.sources.sql.samples import RepeatedQuery
from counterflow.collectors.sources.sql.session import SqlSession
from counterflow.collectors.sources.sql.verdicts import OLD_S, Verdicts, raised
from tests.support import ibmi_database
from tests.support.ibmi_database import PASSWORD, System, pool_rows
from tests.support.ibmi_source import configured, session_of
from tests.support.waiting import until
from tests.support.web import served

CONFIG = configured("db2_mirror")


@pytest.fixture
def system(tmp_path: Path) -> System:
    ibmi_database.executed.clear()
    return System(tmp_path / "prod01")


def follow(committed: dict[str, Cursor] | None = None, **options: Any) -> Follow:
    members = packs.load("collection_services").members
    assert members
    return Follow(members, 60, "PROD01", committed or {}, **options)


def query(table: str, *sql: str, **options: Any) -> RepeatedQuery:
    return RepeatedQuery(PackQuery(table=table, sql=sql, **options), 15, "PROD01", None)


def with_rows(batches: Iterator[Batch]) -> list[Batch]:
    return [batch for batch in batches if batch.rows]


def looked(system: System, times: int = 2) -> list[Batch]:
    """Follow the members of a system; return the batches with rows of so many looks."""
    session, files = session_of(system), follow()
    return [batch for _ in range(times) for batch in with_rows(files.read(session))]


# Drivers and packs


def test_a_driver_whose_client_is_not_installed_names_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyodbc", None)
    monkeypatch.delitem(sys.modules, DRIVERS["odbc"], raising=False)
    with pytest.raises(CounterflowError, match="pyodbc cannot be used") as raised:
        driver("odbc")
    assert raised.value.hint == "pip install 'counterflow[odbc]'"


@pytest.mark.parametrize("name", packs.names())
def test_our_packs_query_only_tables_that_are_described(name: str) -> None:
    pack = packs.load(name)
    assert pack.pack == name
    assert all(map(description, pack.tables))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("- a", "valid dictionary"),
        ("{pack: a", "not YAML"),
        ("{pack: a, text: t, interval_s: 0}", "interval_s"),
        ("{pack: a, text: t, interval_s: 1, queries: [{table: T, sql: [CALL QSYS.P()]}]}", "expected one query"),
        ("{pack: a, text: t, interval_s: 1, queries: [{table: T, sql: ['SELECT 1; DROP TABLE T']}]}", "semicolon"),
    ],
)
def test_a_pack_that_cannot_be_used_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content)
    with pytest.raises(PackError, match=problem):
        packs.load(str(path))


# While a verdict is raised

ODD = 'it\'s "A"'


def metrics(system: str, state: str, ends_s: float) -> str:
    """Return part of the metrics that the exporter exports of one entity."""
    family = prometheus_client.CollectorRegistry()
    of = {"rule": "roce_cap", "system": system, "entity_type": "nrg", "entity": "G"}
    states = prometheus_client.Gauge("counterflow_verdict_state", "", [*of, "state"], registry=family)
    for each in ("OK", "UNKNOWN", "CAPPED"):
        states.labels(**of, state=each).set(each == state)
    prometheus_client.Gauge("counterflow_verdict_timestamp_seconds", "", [*of], registry=family).labels(**of).set(
        ends_s
    )
    return prometheus_client.generate_latest(family).decode()


def test_a_verdict_is_raised_by_a_state_of_trouble_that_is_not_history() -> None:
    assert raised(metrics(ODD, "CAPPED", 1000), 1000 + OLD_S) == {ODD}
    assert raised(metrics(ODD, "CAPPED", 1000), 1001 + OLD_S) == set()
    assert raised(metrics(ODD, "OK", 1000), 1000) == raised(metrics(ODD, "UNKNOWN", 1000), 1000) == set()
    with pytest.raises(ValueError, match="html"):
        raised("<html>", 0)


def test_a_query_that_waits_for_a_verdict_is_sent_while_one_is_raised_and_only_then(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterflow.collectors.sources.sql.verdicts.LOOK_S", 0)
    system.nrg(1)
    session, pages = session_of(system), list[str | None]()
    session.open()
    ibmi_database.executed.clear()
    found = []
    with served(lambda _: (pages[-1] or "").encode() or None) as server:
        when = partial(Verdicts(f"{server}/metrics").raised, ODD)
        waits = RepeatedQuery(PackQuery(table="NRG_INFO", sql=("SELECT * FROM QSYS2.NRG_INFO",)), 15, ODD, None, when)
        now = time.time()
        for page in (None, metrics(ODD, "OK", now), metrics("B", "CAPPED", now), metrics(ODD, "CAPPED", now), None):
            pages.append(page)
            found.append(len(list(waits.read(session))))
    assert (found, len(ibmi_database.executed)) == ([0, 0, 0, 1, 0], 1)


# Questions


def test_a_view_that_the_release_lacks_is_reported_once_and_queried_rarely(system: System) -> None:
    session, lacking = session_of(system), query("NRG_INFO", "SELECT * FROM QSYS2.NRG_INFO")
    (batch,) = lacking.read(session)
    assert batch.trouble
    assert "no such table: QSYS2.NRG_INFO (42704)" in batch.trouble
    assert lacking.interval_s == 3600
    assert list(lacking.read(session)) == []
    again = RepeatedQuery(
        PackQuery(table="NRG_INFO", sql=("SELECT * FROM QSYS2.NRG_INFO",)), 15, "PROD01", batch.position
    )
    assert list(again.read(session)) == []  # reported before the agent was restarted
    system.nrg(1)
    (found,) = again.read(session)
    assert (len(found.rows), found.position, again.interval_s) == (1, {"n": 2}, 15)
    assert session.number == 1  # the connection was kept


def test_a_view_that_is_required_is_queried_at_every_interval(system: System) -> None:
    lacking = query("NRG_INFO", "SELECT * FROM QSYS2.NRG_INFO", required=True)
    assert [bool(batch.trouble) for batch in lacking.read(session_of(system))] == [True]
    assert lacking.interval_s == 15


def test_the_first_statement_that_the_release_knows_is_used(system: System) -> None:
    system.table("QSYS2", "SYSDISKSTAT", {"UNIT_NUMBER": 1})
    disks = query("SYSDISKSTAT", "SELECT * FROM TABLE(QSYS2.SYSDISKSTAT()) D", "SELECT * FROM QSYS2.SYSDISKSTAT")
    session = session_of(system)
    assert [len(batch.rows) for _ in range(2) for batch in disks.read(session)] == [1, 1]
    assert sum("TABLE(" in sql for sql in ibmi_database.executed) == 1


def test_figures_since_the_last_call_need_a_first_call_of_each_connection(system: System) -> None:
    system.table("QSYS2", "MEMORY_POOL()", {"SYSTEM_POOL_ID": 1})
    pools = query("MEMORY_POOL", "SELECT * FROM TABLE(QSYS2.MEMORY_POOL()) P", baseline=True)
    session = session_of(system)
    assert [len(list(pools.read(session))) for _ in range(3)] == [0, 1, 1]
    session.close()
    assert [len(list(pools.read(session))) for _ in range(2)] == [0, 1]


# Members


def test_a_library_is_read_member_by_member_and_the_active_one_when_intervals_are_whole(system: System) -> None:
    for member in ("Q322000000", "Q323000000", "Q324000000"):
        system.member("QAPMPOOLB", member, pool_rows(1, 3))
    system.active("Q324000000")
    session, files = session_of(system), follow()

    def look() -> list[tuple[str, int]]:
        return [(b.origin[-11:-1], b.rows[0][0]) for b in with_rows(files.read(session))]

    # Rows after an interval that may not be whole are later, so they wait too.
    assert look() == [("Q322000000", n) for n in (1, 2, 3)] + [("Q323000000", n) for n in (1, 2)]
    assert look() == [("Q323000000", 3), ("Q324000000", 1), ("Q324000000", 2)]
    assert look() == [("Q324000000", 3)]
    assert look() == []
    system.add("QPFRDATA", "QAPMPOOLB(Q324000000)", *pool_rows(4, 4)[:2])
    assert look() == []
    system.add("QPFRDATA", "QAPMPOOLB(Q324000000)", *pool_rows(4, 4)[2:])
    assert look() == []
    assert look() == [("Q324000000", 4)]
    system.member("QAPMPOOLB", "Q325000000", pool_rows(1, 2))
    system.active("Q325000000")
    assert look() == [("Q325000000", 1)]
    assert look() == [("Q325000000", 2)]


def test_a_finished_member_is_not_queried_again(system: System) -> None:
    for member in ("Q001000000", "Q364000000", "Q365000000"):
        system.member("QAPMPOOLB", member, pool_rows(1, 2))
    system.active("Q001000000")
    session, files = session_of(system), follow()
    for _ in range(5):
        batches = list(files.read(session))
    done = [b.position["done"] for b in batches if "done" in b.position]
    ibmi_database.executed.clear()
    assert list(files.read(session)) == []
    queried = re.findall(r"\((Q\d+)\)", " ".join(ibmi_database.executed))
    assert {*queried} == {"Q001000000", "Q365000000"}, done


def test_an_interval_that_grew_after_it_was_read_is_read_again(system: System) -> None:
    system.member("QAPMPOOLB", "Q324000000", pool_rows(1, 2))
    system.active("Q324000000")
    session, files = session_of(system), follow()
    assert [len(b.rows) for _ in range(2) for b in with_rows(files.read(session))] == [4, 4]
    late = {**pool_rows(2, 2)[0], "PONBR": "099"}
    system.add("QPFRDATA", "QAPMPOOLB(Q324000000)", late)
    assert [(b.rows[0][0], len(b.rows)) for _ in range(2) for b in with_rows(files.read(session))] == [(2, 5)]


def test_jobs_are_the_tasks_and_their_job_side_by_side(system: System) -> None:
    tasks = [
        {"INTNUM": n, "JBTDE": bytes([0, task]), "JBSTSF": 0, "JBNAME": f"JOB{task}", "JBCPU": 10 * task}
        for n in (1, 2)
        for task in (1, 2)
    ]
    jobs = [
        {"INTNUM": n, "JBTDE": bytes([0, task]), "JBSTSF": 0, "JBNAME": f"JOB{task}", "JBSSYS": "QBATCH", "JBLRD": task}
        for n in (1, 2)
        for task in (2, 3)
    ]
    system.member("QAPMJOBMI", "Q324000000", tasks)
    system.member("QAPMJOBOS", "Q324000000", jobs)
    system.active("Q324000000")
    found = looked(system)
    assert [(b.table, b.origin) for b in found] == 2 * [("QAPMJOBL", "PROD01:QPFRDATA/QAPMJOBL(Q324000000)")]
    for number, batch in enumerate(found, 1):
        rows = [dict(zip(batch.columns, row, strict=True)) for row in batch.rows]
        assert sorted((r["INTNUM"], r["JBTDE"], r["JBNAME"], r["JBCPU"], r["JBLRD"]) for r in rows) == [
            (number, "0001", "JOB1", 10, None),
            (number, "0002", "JOB2", 20, 2),
            (number, "0003", "JOB3", None, 3),
        ]


def test_a_member_that_one_of_two_files_lacks_is_read_from_the_other_and_again_when_it_comes(system: System) -> None:
    task = {"INTNUM": 1, "JBTDE": b"\x01", "JBSTSF": 0}
    system.member("QAPMJOBMI", "Q323000000", [{**task, "JBCPU": 1}])
    system.member("QAPMJOBOS", "Q323000000", [{**task, "JBLRD": 2}])
    system.member("QAPMJOBMI", "Q324000000", [{**task, "JBCPU": 3}])
    system.active("Q324000000")
    session, files = session_of(system), follow()

    def look() -> list[tuple[str, str, int]]:
        return [(b.table, b.origin[-11:-1], len(b.rows)) for b in with_rows(files.read(session))]

    assert look() + look() == [("QAPMJOBL", "Q323000000", 1)]
    assert look() == [("QAPMJOBMI", "Q324000000", 1)]
    system.member("QAPMJOBOS", "Q324000000", [{**task, "JBLRD": 4}])
    assert look() + look() == [("QAPMJOBL", "Q324000000", 1)]


@pytest.mark.parametrize(
    ("columns", "texts", "found"),
    [
        ({"JBLRD": 5, "JBXYZ": 2}, {"JBXYZ": "Logical DB reads for update", "JBLRD": "read or update"}, "JBXYZ"),
        ({"JBLRD": 5, "READS_FOR_UPDATE": 2}, {}, "READS_FOR_UPDATE"),  # a view with long names has no texts
        ({"JBX": 2, "JBY": 1}, {"JBX": "Reads for update", "JBY": "SQL reads for update"}, None),  # which of them?
    ],
)
def test_reads_for_update_are_discovered_by_the_text_or_the_name_of_their_column(
    system: System, columns: dict[str, int], texts: dict[str, str], found: str | None
) -> None:
    system.member("QAPMJOBOS", "Q324000000", [{"INTNUM": 1, "JBTDE": b"\x01", "JBSTSF": 0, **columns}], texts)
    system.active("Q324000000")
    (batch,) = looked(system)
    assert batch.named == ({"logical_reads_for_update": found} if found else {})


def test_files_without_intervals_are_read_once_a_member_and_first(system: System) -> None:
    system.member("QAPMPOOLB", "Q324000000", pool_rows(1, 2))
    system.member("QAPMCONF", "Q324000000", [{"GKEY": "B1", "GDES": "1"}, {"GKEY": "B2", "GDES": "2"}])
    system.active("Q324000000")
    found = looked(system, 3)
    assert [(b.table, len(b.rows)) for b in found] == [("QAPMCONF", 2), ("QAPMPOOLB", 4), ("QAPMPOOLB", 4)]
    assert {b.group for b in found} == {"QPFRDATA"}


def test_a_member_that_only_a_stale_catalog_knows_stops_nothing(system: System) -> None:
    system.member("QAPMPOOLB", "Q324000000", pool_rows(1, 2))
    stale = {"TABLE_SCHEMA": "QPFRDATA", "TABLE_NAME": "QAPMPOOLB", "TABLE_PARTITION": "Q300000000"}
    system.add("QSYS2", "SYSPARTITIONSTAT", stale)
    system.table("QUSRSYS", "QAPMCCCNTB", {"CCCNNAME": "Q299000000", "CCCLRID": "*CS"})
    system.active("Q324000000")
    assert [b.rows[0][0] for b in looked(system)] == [1, 2]


def test_a_member_that_only_the_list_of_collections_knows_is_read(system: System) -> None:
    system.member("QAPMPOOLB", "Q323000000", pool_rows(1, 1))
    system.run("QSYS2", "DELETE FROM SYSPARTITIONSTAT")
    system.table("QUSRSYS", "QAPMCCCNTB", {"CCCNNAME": "Q323000000", "CCCLRID": "*CS"})
    assert [b.rows[0][0] for b in looked(system)] == [1]


@pytest.mark.parametrize("name", ['X"; DROP', "Q1 Q2", "q1", "", "Q12345678901"])
def test_a_name_that_no_member_can_have_is_never_put_into_a_statement(system: System, name: str) -> None:
    system.member("QAPMPOOLB", "Q323000000", pool_rows(1, 1))
    row = {"TABLE_SCHEMA": "QPFRDATA", "TABLE_NAME": "QAPMPOOLB", "TABLE_PARTITION": name}
    system.add("QSYS2", "SYSPARTITIONSTAT", row)
    list(follow().read(session_of(system)))
    assert not any(f"({name})" in sql for sql in ibmi_database.executed)


def test_members_are_in_the_order_of_their_days_across_a_new_year() -> None:
    assert in_order(["Q001", "Q364", "Q365"], "Q002", is_known=True) == [
        Member("Q364", open=False),
        Member("Q365", open=False),
        Member("Q001", open=True),
        Member("Q002", open=True),
    ]
    assert all(member.open for member in in_order(["Q001", "Q002", "Q003"], None, is_known=False))


# Connections


@contextmanager
def polled(system: System, task: Task, most: int = 10**6) -> Iterator[tuple[PollingThread, list[str]]]:
    """Run a task, and a query of NRG_INFO every 50 ms; yield what runs them and the events that it reports."""
    groups = RepeatedQuery(PackQuery(table="NRG_INFO", sql=("SELECT * FROM QSYS2.NRG_INFO",)), 0.05, "PROD01", None)
    events: list[str] = []
    reader = PollingThread("prod", session_of(system), [task, groups], events.append, Spool(None, most, {}))
    reader.start()
    yield reader, events
    reader.stop()
    reader.join(5)


def test_a_long_back_fill_holds_up_no_sample(system: System) -> None:
    system.nrg(1)
    system.member("QAPMPOOLB", "Q324000000", pool_rows(1, 90))
    system.active("Q324000000")
    tables = []
    with polled(system, follow(), most=1) as (reader, _):
        for _ in range(130):
            batch = until(reader.waiting.next_batch)
            tables += [] if batch.trouble else [batch.table]
            time.sleep(0.005)
    first, last = tables.index("QAPMPOOLB"), len(tables) - tables[::-1].index("QAPMPOOLB")
    assert tables[first:last].count("NRG_INFO") >= 3


def test_a_defect_stops_one_question_and_is_reported_without_the_password(
    system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        interval_s = 0.05

        def read(self, session: SqlSession) -> Iterator[Batch]:
            session.open()
            raise ZeroDivisionError(f"half-way {PASSWORD}")
            yield

    system.nrg(1)
    with polled(system, Broken()) as (reader, events):
        assert [until(reader.waiting.next_batch).table for _ in range(3)] == 3 * ["NRG_INFO"]
    assert "broken" in events
    printed = "".join(capsys.readouterr())
    assert "half-way ***" in printed
    assert PASSWORD not in printed


@pytest.fixture
def live(system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """A source `prod` that queries the system PROD01 with the pack db2_mirror; not started."""
    system.nrg(1)
    monkeypatch.setitem(DRIVERS, "sqlite", "tests.support.ibmi_database")
    properties = f"properties: {{folder: {system.folder}}}"
    (tmp_path / "agent.yaml").write_text(
        CONFIG.replace("driver: mapepire", f"driver: sqlite, {properties}") + "    intervals: {NRG_INFO: 0.1}\n"
    )
    (tmp_path / "password").write_text(PASSWORD)
    source = Live(load(tmp_path / "agent.yaml").systems, Metrics())
    yield source
    source.stop()


def answers(live: Live) -> list[Batch]:
    """Return the batches of NRG_INFO that wait to be taken."""
    return [batch for _, batch in live.waiting() if batch.stream == "NRG_INFO"]


@pytest.mark.parametrize(("known", "number"), [("PROD01", 6), ("PROD02", 1)])
def test_a_source_continues_unless_it_is_pointed_at_another_system(live: Live, known: str, number: int) -> None:
    memory = Committed()
    memory.add(StreamCheckpoint("prod", known, "NRG_INFO", {"n": 5}))
    live.start(memory)
    taken = until(lambda: answers(live))
    assert taken[0].position == {"n": number}
    live.take_back(memory)  # its transaction was lost
    assert taken[0] in answers(live)
    memory.add(StreamCheckpoint("prod", "PROD01", "NRG_INFO", {"n": number}))
    live.take_back(memory)  # it had been committed, unnoticed
    assert taken[0] not in answers(live)


def test_an_answer_is_kept_until_the_commit_after_its_own(live: Live) -> None:
    memory = Committed()
    live.start(memory)
    first = until(lambda: answers(live))
    live.committed()
    second = until(lambda: answers(live))
    live.take_back(memory)  # a broker that went away has forgotten what it had acknowledged
    again: list[Batch] = []
    until(lambda: again.extend(answers(live)) or len(again) >= len(first + second))
    assert again[: len(first + second)] == first + second
    live.committed()
    live.committed()
    live.take_back(memory)
    assert first[0] not in answers(live)

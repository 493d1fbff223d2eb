"""The packs of operators and of culprits on a real database: rows as IBM documents them, nulls, queries without end."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from counterflow.collectors.agent.checkpoint import Committed
from counterflow.collectors.agent.config import Config, check, load
from counterflow.collectors.agent.live import Live, read_answer
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.records import Record, singly
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError
from counterflow.collectors.sources.sql import packs
from counterflow.collectors.sources.sql.drivers import DRIVERS
from counterflow.collectors.sources.sql.packs import PackQuery
from counterflow.collectors.sources.sql.samples import RepeatedQuery
from tests.support.ibmi_database import PASSWORD, System
from tests.support.ibmi_source import configured, session_of
from tests.support.waiting import until

PACK = packs.load("operations")
CONFIG = configured("operations")


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path / "prod01")


def query(table: str) -> RepeatedQuery:
    (found,) = [query for query in (*PACK.queries, *packs.load("culprit").queries) if query.table == table]
    return RepeatedQuery(found, 60, "PROD01", None)


def ago(seconds: int) -> str:
    """Return a time that long ago, by the clock of the database, as Db2 writes it."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S.000000")


Landed = dict[str, dict[str, Any]]
"""What lands of each instance: its counters and its settings, by name."""


def landed(system: System, table: str) -> Landed:
    """Return what the first answer to a query becomes, in `counter` and `config`."""
    (batch,) = query(table).read(session_of(system))
    assert batch.trouble is None
    config = check(CONFIG, system.folder)
    assert isinstance(config, Config)
    found: Landed = {}
    for record in singly(read_answer(config.systems[0], batch, {})):
        assert isinstance(record, Record), record
        fields = record.fields
        if record.dataset == "counter":
            found.setdefault(fields["instance"], {})[fields["counter"]] = fields["value"]
        elif record.dataset == "config":
            found.setdefault(fields["item"], {})[fields["name"]] = fields["value"]
    return found


# Messages

TEXT = 'End of "paper" on PRT01; it\'s (C G R)' + 2000 * " x"
INQUIRY = {
    "MESSAGE_KEY": b"\0\0\x0a\x40",
    "MESSAGE_ID": "CPA4002",
    "SEVERITY": 99,
    "FROM_JOB": "123456/ANN/PRT01",
    "FROM_USER": "ANN",
    "MESSAGE_TEXT": TEXT,
}


def test_an_unanswered_message_lands_with_its_age_and_the_beginning_of_its_text(system: System) -> None:
    system.table("QSYS2", "MESSAGE_QUEUE_INFO()", {**INQUIRY, "MESSAGE_TIMESTAMP": ago(90_000)})  # more than a day
    unknown = {"MESSAGE_KEY": b"\0\0\x0b\0", "MESSAGE_ID": None, "MESSAGE_TEXT": None, "MESSAGE_TIMESTAMP": ago(60)}
    system.add("QSYS2", "MESSAGE_QUEUE_INFO()", {**INQUIRY, **unknown})
    found = landed(system, "MESSAGE_QUEUE_INFO")
    assert set(found) == {"QSYS/QSYSOPR 00000A40", "QSYS/QSYSOPR 00000B00"}
    message = found["QSYS/QSYSOPR 00000A40"]
    assert message.pop("AGE") == pytest.approx(90_000, abs=30)
    assert message == {
        "UNANSWERED": 2,
        "SEVERITY": 99,
        "MESSAGE_ID": "CPA4002",
        "FROM_JOB": "123456/ANN/PRT01",
        "FROM_USER": "ANN",
        "MESSAGE_TEXT": TEXT[:500].strip(),
    }
    assert not {"MESSAGE_ID", "MESSAGE_TEXT"} & set(found["QSYS/QSYSOPR 00000B00"])


def test_a_queue_without_a_message_states_so(system: System) -> None:
    system.table("QSYS2", "MESSAGE_QUEUE_INFO()", None, *INQUIRY, "MESSAGE_TIMESTAMP")
    assert landed(system, "MESSAGE_QUEUE_INFO") == {"QSYS/QSYSOPR *NONE": {"UNANSWERED": 0, "AGE": 0}}


# Queues, storage and journals

QUEUE = {
    "JOB_QUEUE_LIBRARY": "QGPL",
    "JOB_QUEUE_NAME": "QBATCH",
    "JOB_QUEUE_STATUS": "RELEASED",
    "SUBSYSTEM_NAME": "QBATCH",
    "NUMBER_OF_JOBS": 3,
    "ACTIVE_JOBS": 1,
    "MAXIMUM_ACTIVE_JOBS": -1,
    "RELEASED_JOBS": 2,
    "HELD_JOBS": 1,
    "SCHEDULED_JOBS": 0,
}
EMPTY = {"NUMBER_OF_JOBS": 0, "RELEASED_JOBS": 0, "HELD_JOBS": 0}
UNSERVED = dict.fromkeys(("SUBSYSTEM_NAME", "ACTIVE_JOBS", "MAXIMUM_ACTIVE_JOBS"))
WAITING = {"JOB_QUEUE_LIBRARY": "QGPL", "JOB_QUEUE_NAME": "QBATCH", "JOB_QUEUE_STATUS": "RELEASED"}


def test_a_job_queue_has_the_longest_wait_of_the_jobs_that_may_run(system: System) -> None:
    system.table("QSYS2", "JOB_QUEUE_INFO", QUEUE)
    system.add(
        "QSYS2",
        "JOB_QUEUE_INFO",
        {**QUEUE, "JOB_QUEUE_NAME": "QS36", **EMPTY},
        {**QUEUE, "JOB_QUEUE_NAME": "NOBODYS", **UNSERVED},
        {**QUEUE, "JOB_QUEUE_NAME": "UNUSED", **EMPTY, **UNSERVED},
    )
    system.table("QSYS2", "JOB_INFO()", {**WAITING, "JOB_QUEUE_TIME": ago(100)})
    held = {"JOB_QUEUE_STATUS": "HELD", "JOB_QUEUE_TIME": ago(9000)}
    system.add("QSYS2", "JOB_INFO()", {**WAITING, "JOB_QUEUE_TIME": ago(700)}, {**WAITING, **held})
    found = landed(system, "JOB_QUEUE_INFO")
    assert set(found) == {"QGPL/QBATCH", "QGPL/QS36", "QGPL/NOBODYS"}
    assert found["QGPL/QBATCH"]["LONGEST_WAIT"] == pytest.approx(700, abs=30)
    assert (found["QGPL/QBATCH"]["RELEASED_JOBS"], found["QGPL/QBATCH"]["MAXIMUM_ACTIVE_JOBS"]) == (2, -1)
    assert found["QGPL/QBATCH"]["SUBSYSTEM_NAME"] == "QBATCH"
    assert found["QGPL/QS36"]["LONGEST_WAIT"] == 0
    assert not {"LONGEST_WAIT", "SUBSYSTEM_NAME", "ACTIVE_JOBS"} & set(found["QGPL/NOBODYS"])  # its jobs are not seen


RECEIVER = {"JOURNAL_LIBRARY": "APP", "JOURNAL_NAME": "QSQJRN", "STATUS": "ONLINE"}


def test_receivers_count_that_are_detached_and_hold_storage(system: System) -> None:
    system.table("QSYS2", "JOURNAL_RECEIVER_INFO", {**RECEIVER, "DETACH_TIMESTAMP": ago(7200)})
    system.add(
        "QSYS2",
        "JOURNAL_RECEIVER_INFO",
        {**RECEIVER, "STATUS": "SAVED", "DETACH_TIMESTAMP": ago(200_000)},
        {**RECEIVER, "STATUS": "FREED", "DETACH_TIMESTAMP": ago(900_000)},
        {**RECEIVER, "STATUS": "ATTACHED", "DETACH_TIMESTAMP": None},
        {**RECEIVER, "JOURNAL_NAME": None, "DETACH_TIMESTAMP": None},
        {**RECEIVER, "JOURNAL_NAME": "ODD", "STATUS": "PARTIAL", "DETACH_TIMESTAMP": None},
    )
    found = landed(system, "JOURNAL_RECEIVER_INFO")
    assert found["APP/QSQJRN"].pop("OLDEST_DETACHED") == pytest.approx(200_000, abs=30)
    assert found == {
        "APP/QSQJRN": {"DETACHED_RECEIVERS": 2, "UNSAVED_RECEIVERS": 1},
        "APP/ODD": {"DETACHED_RECEIVERS": 1, "UNSAVED_RECEIVERS": 0},
    }


DOCUMENTED = """\
SUBSYSTEM_INFO:
  rows:
    - {SUBSYSTEM_DESCRIPTION_LIBRARY: QSYS, SUBSYSTEM_DESCRIPTION: QINTER, STATUS: ACTIVE,
       CURRENT_ACTIVE_JOBS: 7, MAXIMUM_ACTIVE_JOBS: }
  landed: {QSYS/QINTER: {STATUS: ACTIVE, CURRENT_ACTIVE_JOBS: 7}}
ASP_INFO:
  rows:
    - {ASP_NUMBER: 1, ASP_STATE: NONE, ASP_TYPE: SYSTEM, DEVICE_DESCRIPTION_NAME: , TOTAL_CAPACITY: 1000,
       TOTAL_CAPACITY_AVAILABLE: 75}
    - {ASP_NUMBER: 33, ASP_STATE: VARIED OFF, DEVICE_DESCRIPTION_NAME: IASP1, TOTAL_CAPACITY: 0}
  landed:
    "1": {ASP_STATE: NONE, ASP_TYPE: SYSTEM, TOTAL_CAPACITY: 1000, TOTAL_CAPACITY_AVAILABLE: 75, USED: 92.5}
    "33": {ASP_STATE: VARIED OFF, DEVICE_DESCRIPTION_NAME: IASP1, TOTAL_CAPACITY: 0}
JOURNAL_INFO:
  rows:
    - {JOURNAL_LIBRARY: APP, JOURNAL_NAME: QSQJRN, JOURNAL_STATE: "*ACTIVE", ATTACHED_JOURNAL_RECEIVER_LIBRARY: ,
       ATTACHED_JOURNAL_RECEIVER_NAME: , DELETE_RECEIVER_OPTION: "NO", NUMBER_JOURNAL_RECEIVERS: 7,
       TOTAL_SIZE_JOURNAL_RECEIVERS: }
  landed: {APP/QSQJRN: {JOURNAL_STATE: "*ACTIVE", DELETE_RECEIVER_OPTION: "NO", NUMBER_JOURNAL_RECEIVERS: 7}}
GROUP_PTF_INFO:
  rows:
    - {PTF_GROUP_NAME: SF99960, PTF_GROUP_TARGET_RELEASE: V7R6M0, PTF_GROUP_STATUS: INSTALLED, PTF_GROUP_LEVEL: 1}
    - {PTF_GROUP_NAME: SF99960, PTF_GROUP_TARGET_RELEASE: V7R6M0, PTF_GROUP_STATUS: INSTALLED, PTF_GROUP_LEVEL: 2}
    - {PTF_GROUP_NAME: SF99960, PTF_GROUP_TARGET_RELEASE: V7R6M0, PTF_GROUP_STATUS: NOT INSTALLED, PTF_GROUP_LEVEL: 3}
    - {PTF_GROUP_NAME: , PTF_GROUP_STATUS: ERROR}
  landed: {SF99960 V7R6M0 INSTALLED: {HIGHEST_LEVEL: 2}, SF99960 V7R6M0 NOT INSTALLED: {HIGHEST_LEVEL: 3}}
RECORD_LOCK_INFO:
  rows:
    - &held {SYSTEM_TABLE_SCHEMA: APP, SYSTEM_TABLE_NAME: OR'D, LOCK_STATE: UPDATE, LOCK_STATUS: HELD,
             JOB_NAME: 000001/ANN/BATCH}
    - *held
    - {<<: *held, LOCK_STATUS: WAITING, JOB_NAME: 000002/JOE/WEB}
    - {<<: *held, SYSTEM_TABLE_NAME: ALONE}
  landed: {000001/ANN/BATCH UPDATE HELD APP/OR'D: {LOCKS: 2}, 000002/JOE/WEB UPDATE WAITING APP/OR'D: {LOCKS: 1}}
OBJECT_LOCK_INFO:
  rows:
    - {SYSTEM_OBJECT_SCHEMA: APP, SYSTEM_OBJECT_NAME: AREA, OBJECT_TYPE: "*DTAARA", LOCK_STATE: "*EXCL",
       LOCK_STATUS: HELD, JOB_NAME: 000001/ANN/BATCH}
  landed: {}
JOB_STATEMENT:
  of: ACTIVE_JOB_INFO()
  rows:
    - {JOB_NAME: 000001/ANN/BATCH, CPU_TIME: 5, TOTAL_DISK_IO_COUNT: 7, SQL_STATEMENT_STATUS: ACTIVE,
       SQL_STATEMENT_TEXT: UPDATE T SET A = 'it''s'}
  landed: {000001/ANN/BATCH: {CPU_TIME: 5, TOTAL_DISK_IO_COUNT: 7, SQL_STATEMENT_TEXT: UPDATE T SET A = 'it''s'}}
RDMA_CONNECTION_JOBS:
  of: RDMA_CONNECTION_INFO
  rows:
    - {SOURCE_ADDRESS: 10.0.0.1, SOURCE_PORT: 1, TARGET_ADDRESS: 10.0.0.2, TARGET_PORT: 2, NRG_NAME: G,
       JOB_NAME_COUNT: 1, JOB_NAME: 000001/ANN/BATCH, BYTES_IN: 1, BYTES_OUT: 2}
  landed: {10.0.0.1 1 10.0.0.2 2: {NRG_NAME: G, JOB_NAME: 000001/ANN/BATCH, BYTES_IN: 1, BYTES_OUT: 2}}
"""


@pytest.mark.parametrize(("table", "case"), yaml.safe_load(DOCUMENTED).items())
def test_rows_as_documented_land_and_what_is_null_does_not(system: System, table: str, case: dict[str, Any]) -> None:
    view = case.get("of", table)
    system.table("QSYS2", view, case["rows"][0])
    system.add("QSYS2", view, *case["rows"][1:])
    assert landed(system, table) == case["landed"]


def test_a_licence_that_ends_has_the_days_left(system: System) -> None:
    ends = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    feature = {"PRODUCT_ID": "5770WDS", "FEATURE_ID": "5050", "RELEASE_LEVEL": "V7R5M0", "INSTALLED": "YES"}
    system.table("QSYS2", "LICENSE_INFO", {**feature, "LICENSE_EXPIRATION": ends})
    absent, endless = {"FEATURE_ID": "5051", "INSTALLED": "NO"}, {"FEATURE_ID": "5052", "LICENSE_EXPIRATION": None}
    system.add("QSYS2", "LICENSE_INFO", {**feature, **absent, "LICENSE_EXPIRATION": ends}, {**feature, **endless})
    found = landed(system, "LICENSE_INFO")
    assert set(found) == {"5770WDS/5050/V7R5M0"}
    assert found["5770WDS/5050/V7R5M0"]["DAYS_LEFT"] == pytest.approx(30, abs=1)  # midnight may pass


def test_of_many_output_queues_the_longest_land_and_the_count_of_all(system: System) -> None:
    queue = {"OUTPUT_QUEUE_LIBRARY_NAME": "QUSRSYS", "OUTPUT_QUEUE_STATUS": "RELEASED", "NUMBER_OF_WRITERS": None}
    rows = [{**queue, "OUTPUT_QUEUE_NAME": f"Q{n}", "NUMBER_OF_FILES": n} for n in range(120)]
    system.table("QSYS2", "OUTPUT_QUEUE_INFO", rows[0])
    system.add("QSYS2", "OUTPUT_QUEUE_INFO", *rows[1:])
    found = landed(system, "OUTPUT_QUEUE_INFO")
    assert set(found) == {f"QUSRSYS/Q{n}" for n in range(20, 120)}
    of_one = {"NUMBER_OF_FILES": 99, "FILES_IN_ALL": 119 * 60, "OUTPUT_QUEUE_STATUS": "RELEASED"}
    assert found["QUSRSYS/Q99"] == of_one


def test_of_a_long_statement_the_beginning_lands(system: System) -> None:
    row = {"JOB_NAME": "J", "SQL_STATEMENT_STATUS": "ACTIVE", "SQL_STATEMENT_TEXT": 1000 * "xyz"}
    system.table("QSYS2", "ACTIVE_JOB_INFO()", row | dict.fromkeys(("CPU_TIME", "TOTAL_DISK_IO_COUNT")))
    assert len(landed(system, "JOB_STATEMENT")["J"]["SQL_STATEMENT_TEXT"]) == 1000


# Time-outs


def test_a_query_that_takes_too_long_is_cancelled_and_sent_less_often(system: System) -> None:
    system.hangs("QSYS2", "SUBSYSTEM_INFO")
    session = session_of(system)
    slow = RepeatedQuery(
        PackQuery(table="SUBSYSTEM_INFO", sql=("SELECT * FROM QSYS2.SUBSYSTEM_INFO",), timeout_s=0.1),
        60,
        "PROD01",
        None,
    )
    (batch,) = slow.read(session)
    assert batch.trouble == "cancelled, since it took longer than 0.1 s"
    intervals = [slow.interval_s]
    for _ in range(7):
        assert list(slow.read(session)) == []  # reported once
        intervals.append(slow.interval_s)
    assert intervals == [120, 240, 480, 960, 1920, 3600, 3600, 3600]
    system.run("QSYS2", "DROP VIEW SUBSYSTEM_INFO")
    system.table("QSYS2", "SUBSYSTEM_INFO", {"STATUS": "ACTIVE"})
    (batch,) = slow.read(session)
    assert (len(batch.rows), slow.interval_s, session.number) == (1, 60, 1)  # the connection was kept


def test_a_statement_that_ends_in_time_is_not_cancelled_later(system: System) -> None:
    system.hangs("QSYS2", "ASP_INFO")
    session = session_of(system)
    with session.limited(0.05):
        session.run("SELECT 1 FROM SYSIBM.SYSDUMMY1")
    time.sleep(0.1)
    with session.limited(0.05), pytest.raises(SessionError) as raised:
        session.run("SELECT * FROM QSYS2.ASP_INFO")
    assert raised.value.kind is ErrorKind.SLOW


def test_time_outs_of_all_queries_together_fit_into_the_shortest_interval() -> None:
    limits = [query.timeout_s or PACK.timeout_s for query in PACK.queries]
    intervals = [query.interval_s or PACK.interval_s for query in PACK.queries]
    assert sum(limit or float("inf") for limit in limits) < min(intervals)
    assert all(query.needs for query in PACK.queries)


def test_the_time_out_of_a_pack_is_that_of_its_queries(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DRIVERS, "sqlite", "tests.support.ibmi_database")
    system.hangs("QSYS2", "ASP_INFO")
    here = f"driver: sqlite, properties: {{folder: {system.folder}}}"
    (system.folder / "agent.yaml").write_text(configured("./mine.yaml").replace("driver: mapepire", here))
    queries = "queries: [{table: ASP_INFO, sql: [SELECT * FROM QSYS2.ASP_INFO]}]"
    (system.folder / "mine.yaml").write_text(f"{{pack: mine, text: t, interval_s: 60, timeout_s: 0.1, {queries}}}")
    (system.folder / "password").write_text(PASSWORD)
    live = Live(load(system.folder / "agent.yaml").systems, Metrics())
    live.start(Committed())
    [(_, batch)] = until(lambda: list(live.waiting()))
    live.stop()
    assert batch.trouble == "cancelled, since it took longer than 0.1 s"

"""A DDS that is queried over HTTP: trust, passwords, losses, and each interval once."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterflow.collectors.agent.config import SpoolFolder
from counterflow.collectors.agent.metrics import Metrics
from counterflow.collectors.sources.http.reports import Dds as Session
from counterflow.collectors.sources.http.reports import RmfReport
from counterflow.collectors.sources.http.session import LONGEST_ANSWER, HttpTarget
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError
from tests.support.dds import PASSWORD, USER, Authority, Dds
from tests.support.memory_broker import Broker, running_agent
from tests.support.waiting import until
from tests.support.web import Request, serving

OpenSession = Callable[..., Session]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def dds(authority: Authority) -> Iterator[Dds]:
    running = Dds(authority)
    yield running
    running.stop()


@pytest.fixture
def session(dds: Dds) -> Iterator[OpenSession]:
    made: list[Session] = []

    def make(password: Callable[[], str] = lambda: PASSWORD, **options: Any) -> Session:
        options = {"url": dds.url, "user": USER, "ca": dds.authority and dds.authority.authority} | options
        made.append(Session(HttpTarget(**options), password))
        return made[-1]

    yield make
    for one in made:
        one.close()


StartAgent = Callable[..., AbstractContextManager[Metrics]]


@pytest.fixture
def agent(dds: Dds, broker: Broker, tmp_path: Path) -> StartAgent:
    """Return what runs an agent with one source within `with`, in a thread, and gives its metrics."""

    @contextmanager
    def running(password: str = PASSWORD, *, on_disk: bool = False, **options: Any) -> Iterator[Metrics]:
        (tmp_path / "password").write_text(password + "\n")
        ca = str(dds.authority.authority if dds.authority else "")
        connection = {"url": dds.url, "user": USER, "password": {"file": "password"}, "ca": ca}
        source = {"kind": "http", "name": "sys1", "system": "SYS1", "connection": connection, "interval_s": 0.2}
        spool = SpoolFolder(path=tmp_path / "spool") if on_disk else None
        with running_agent(tmp_path, source | options, spool=spool) as metrics:
            yield metrics

    return running


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"counterflow_agent_{name}", {"source": "sys1", **labels})


def rows(broker: Broker, dataset: str) -> list[dict[str, Any]]:
    return [row for row in broker.rows("a") if row["dataset"] == dataset]


def shares(broker: Broker) -> list[tuple[str, float]]:
    """Return the end of each interval and the share of the general purpose processors, which differs in each."""
    return [(row["ts"][11:16], row["busy_pct"]) for row in rows(broker, "system_cpu") if row["engine_type"] == "gcp"]


# The connection


def test_a_certificate_of_another_authority_is_refused_before_the_password_is_sent(
    dds: Dds, session: OpenSession, tmp_path: Path
) -> None:
    for ca in (None, Authority(tmp_path).authority):
        with pytest.raises(SessionError, match="CERTIFICATE_VERIFY_FAILED") as raised:
            session(ca=ca).open()
        assert raised.value.kind is ErrorKind.LOST
    assert dds.passwords == []
    session(ca=None, verify=False).open()
    assert dds.passwords == [PASSWORD]


def test_a_certificate_for_another_name_is_refused(dds: Dds, session: OpenSession) -> None:
    with pytest.raises(SessionError, match="CERTIFICATE_VERIFY_FAILED"):
        session(url=dds.url.replace("127.0.0.1", "localhost")).open()


@pytest.mark.parametrize("extension", ["", ".xml"])
def test_a_dds_has_its_paths_with_or_without_an_extension(dds: Dds, session: OpenSession, extension: str) -> None:
    dds.extension = extension
    client, report = session(), RmfReport("SYSINFO", "SYS1", None, None)
    client.open()
    before = len(dds.requested)
    assert len(list(report.read(client))) == 1
    assert len(dds.requested) == before + 1  # known since the first request


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (503, ErrorKind.LOST),
        (429, ErrorKind.LOST),
        (400, ErrorKind.FAILED),
        (302, ErrorKind.FAILED),
        (403, ErrorKind.ABSENT),
    ],
)
def test_an_answer_in_place_of_a_report_has_a_kind_by_its_status(
    dds: Dds, session: OpenSession, status: int, kind: ErrorKind
) -> None:
    client = session()
    client.open()
    dds.status = status
    with pytest.raises(SessionError, match=f"/gpm/rmfm3: HTTP {status}") as raised:
        client.query("/gpm/rmfm3", {"report": "SYSINFO"})
    assert raised.value.kind is kind
    assert PASSWORD not in str(raised.value)


def test_the_interval_is_what_the_dds_reports(dds: Dds, session: OpenSession) -> None:
    dds.gathered_s = 100
    client, report = session(), RmfReport("SYSINFO", "SYS1", None, None)
    client.open()
    assert report.interval_s == 30
    list(report.read(client))
    assert report.interval_s == 50
    assert RmfReport("SYSINFO", "SYS1", 10, None).interval_s == 5


def test_without_a_user_nobody_logs_on(tmp_path: Path) -> None:
    running = Dds()
    try:
        client = Session(HttpTarget(url=running.url), None)
        client.open()
        assert len(list(RmfReport("PROCU", "SYS1", None, None).read(client))) == 1
        assert running.passwords == []
        client.close()
    finally:
        running.stop()


def test_a_packed_answer_is_unpacked_up_to_the_limit_of_an_answer() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(2**20)) for _ in range(512)) + packer.flush()
    assert len(bomb) < 2**20

    def answer(request: Request) -> None:
        request.reply(200, bomb, Content_Type="application/json", Content_Encoding="gzip")

    with serving(answer) as url:
        tracemalloc.start()
        try:
            with pytest.raises(SessionError, match=f"longer than {LONGEST_ANSWER} bytes"):
                Session(HttpTarget(url=url), None).open()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 3 * LONGEST_ANSWER


# The source


def test_another_process_continues_after_what_is_committed(dds: Dds, broker: Broker, agent: StartAgent) -> None:
    stated: dict[str, Any] = {"labels": {"lpar": "12", "role": "primary"}, "run": "base"}
    with agent(**stated) as metrics:
        until(lambda: shares(broker))
    assert value(metrics, "system_events_total", event="connected") == len(dds.clients) == 1
    assert value(metrics, "answer_duration_seconds_count", table="SYSINFO") == 1
    with agent(**stated) as metrics:
        until(lambda: value(metrics, "system_connected"))
        before = len(dds.requested)
        until(lambda: len(dds.requested) >= before + 4)
        dds.intervals = 2
        until(lambda: len(shares(broker)) > 1)
    assert shares(broker) == [("01:01", 1), ("01:02", 2)]
    labels = [(row["name"], row["value"]) for row in rows(broker, "config") if row["section"] == "labels"]
    assert labels == list(stated["labels"].items()), "once"
    assert {row["run"] for row in broker.rows("a")} == {"base"}


@pytest.mark.parametrize("on_disk", [False, True])
def test_an_answer_whose_transaction_is_lost_is_published_again_and_once(
    dds: Dds, broker: Broker, agent: StartAgent, on_disk: bool
) -> None:
    """Every third commit is lost, and the agent is replaced."""
    broker.lose = lambda number: number % 3 == 0  # a restart commits, too
    dds.intervals = 0
    with agent(on_disk=on_disk) as metrics:
        for n in range(1, 4):
            dds.intervals = n
            until(lambda: min(len(shares(broker)), len(rows(broker, "job"))) >= n)  # noqa: B023 - used up here
        lost = metrics.registry.get_sample_value("counterflow_agent_rewinds_total")
    with agent(on_disk=on_disk):
        dds.intervals = 4
        until(lambda: min(len(shares(broker)), len(rows(broker, "job"))) >= 4)
    assert lost
    assert shares(broker) == [(f"01:0{n}", n) for n in range(1, 5)]
    assert [(job["gcp_ms"], job["service_class"]) for job in rows(broker, "job")] == [
        (n, "DB2HIGH") for n in range(1, 5)
    ]
    assert rows(broker, "quality") == []
    assert [row["seq"] for row in broker.rows("a")] == list(range(1, len(broker.rows("a")) + 1))


def test_a_system_is_queried_into_the_spool_while_the_broker_is_away_and_the_agent_is_replaced(
    dds: Dds, broker: Broker, agent: StartAgent
) -> None:
    with agent(on_disk=True):
        until(lambda: shares(broker))
        broker.away = True
        for dds.intervals in (2, 3):
            before = len(dds.requested)
            until(lambda: len(dds.requested) >= before + 6)  # noqa: B023 - used up here
    with agent(on_disk=True):  # it cannot begin before the broker is back
        dds.intervals, broker.away = 4, False
        until(lambda: len(shares(broker)) == 4)
    assert shares(broker) == [(f"01:0{n}", n) for n in range(1, 5)]
    assert [row["seq"] for row in broker.rows("a")] == list(range(1, len(broker.rows("a")) + 1))


@pytest.mark.parametrize("how", ["503", "restart"])
def test_a_dds_that_is_away_is_queried_again_when_it_is_back(
    dds: Dds, broker: Broker, agent: StartAgent, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    with agent(reports=["SYSINFO"]) as metrics:
        until(lambda: shares(broker))
        if how == "503":
            dds.status = 503
        else:
            dds.stop()
        until(lambda: value(metrics, "system_connected") == 0)
        assert value(metrics, "system_events_total", event="lost")
        dds.intervals, dds.status = 7, None
        if how == "restart":
            dds.start()
        until(lambda: len(shares(broker)) == 2)
        assert value(metrics, "system_connected") == 1
    assert shares(broker) == [("01:01", 1), ("01:07", 7)]
    assert PASSWORD not in "".join(capsys.readouterr())

"""Targets that are scraped: a real node_exporter, and targets that are away, slow, endless, damaged or refuse.

The broker is one in memory, which loses commits where a test says so.
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from counterflow.collectors.agent.metrics import Metrics
from tests.support.dds import Authority
from tests.support.memory_broker import Broker, running_agent
from tests.support.ports import free_ports
from tests.support.waiting import until
from tests.support.web import Request, serving

UP = b"# TYPE jobs counter\njobs_total 5\n# EOF\n"


class Target:
    """An endpoint whose answers the test chooses: `answer` writes one to a request."""

    def __init__(self) -> None:
        self.url = ""
        self.answer = text(UP)
        self.requested: list[dict[str, str]] = []


@contextmanager
def scraped(tls: ssl.SSLContext | None = None) -> Iterator[Target]:
    """Serve a target while the context lasts."""
    target = Target()

    def answered(request: Request) -> None:
        target.requested.append({"path": request.path, **request.headers})
        target.answer(request)

    with serving(answered, tls=tls, protocol="HTTP/1.1") as url:
        target.url = f"{url}/metrics"
        yield target


def text(body: bytes, kind: str = "application/openmetrics-text", status: int = 200) -> Callable[[Request], None]:
    return lambda request: request.reply(status, body, Content_Type=kind)


def endless(piece: bytes, wait_s: float) -> Callable[[Request], None]:
    def answer(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/plain")
        request.end_headers()
        while True:
            request.wfile.write(piece)
            time.sleep(wait_s)

    return answer


@pytest.fixture
def target() -> Iterator[Target]:
    with scraped() as target:
        yield target


StartAgent = Callable[..., AbstractContextManager[Metrics]]


@pytest.fixture
def agent(tmp_path: Path) -> StartAgent:
    """Return what runs an agent that scrapes the named addresses within `with`, in a thread, and gives its metrics."""

    @contextmanager
    def running(interval_s: float = 1, timeout_s: float = 1, **urls: Any) -> Iterator[Metrics]:
        sources = [
            {
                "kind": "openmetrics",
                "name": name,
                "system": "LNX1",
                "connection": url if isinstance(url, dict) else {"url": url},
                "interval_s": interval_s,
                "timeout_s": timeout_s,
            }
            for name, url in urls.items()
        ]
        with running_agent(tmp_path, *sources) as metrics:
            yield metrics

    return running


def values(broker: Broker, counter: str, section: str = "node") -> list[float]:
    rows = (row for row in broker.rows("a") if row["dataset"] == "counter")
    return [row["value"] for row in rows if row["counter"] == counter and row["section"] == section]


def rejects(broker: Broker, reason: str = "unreadable") -> list[str]:
    return [r["detail"] for r in broker.rows("a") if r["dataset"] == "quality" and r["reason"] == reason]


def shared(broker: Broker) -> list[dict[str, Any]]:
    """Return the rows of all processors that have shares."""
    return [row for row in broker.rows("a") if row.get("engine") == "all" and "user_pct" in row]


@contextmanager
def node_exporter(port: int) -> Iterator[None]:
    """Run a real node_exporter, and kill it."""
    found = shutil.which("prometheus-node-exporter")
    assert found, "there is no prometheus-node-exporter: make node_exporter"
    command = [found, f"--web.listen-address=127.0.0.1:{port}"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def test_a_real_node_exporter_fills_the_datasets_of_its_figures_and_while_it_is_killed_is_a_gap(
    broker: Broker, agent: StartAgent
) -> None:
    (port,) = free_ports(1)
    with agent(node=f"http://127.0.0.1:{port}/metrics"):
        with node_exporter(port):
            until(lambda: len(shared(broker)) >= 2)  # the first interval may be shorter
            before = broker.rows("a")
        down = values(broker, "up").count(0.0)
        until(lambda: values(broker, "up").count(0.0) >= down + 4)
        count = len(shared(broker))
        with node_exporter(port):
            until(lambda: len(shared(broker)) > count)
    assert {"system_cpu", "disk", "link", "pool", "counter", "config"} <= {row["dataset"] for row in before}
    cpu = shared(broker)[1]
    shares = [cpu[name] for name in ("user_pct", "sys_pct", "wait_pct", "idle_pct", "steal_pct")]
    assert sum(shares) == pytest.approx(100, abs=0.1)
    pool = next(row for row in before if row["dataset"] == "pool")
    memory_kb = int(Path("/proc/meminfo").read_text().split()[1])
    assert pool["size_mb"] == pytest.approx(memory_kb / 1024)
    assert 0 < cpu["interval_s"] < 60
    assert rejects(broker) == []
    gaps = {row["ts"] for row in broker.rows("a") if row.get("reason") == "sample_missing"}
    assert gaps
    assert not gaps & {row["ts"] for row in shared(broker)}, "no amount spans it"


def test_each_answer_is_published_once_though_commits_are_lost(
    target: Target, broker: Broker, agent: StartAgent
) -> None:
    broker.lose = lambda number: number % 3 == 0
    count = iter(range(1, 1000))
    target.answer = lambda request: text(b"# TYPE n gauge\nn %d\n" % next(count), "text/plain")(request)
    with agent(node=target.url):
        until(lambda: len(values(broker, "n")) >= 4)
    found = values(broker, "n")
    assert found == [float(n) for n in range(1, len(found) + 1)]
    assert values(broker, "up") == [1.0] * len(found)


def test_a_target_that_is_away_is_down_and_delays_no_other(target: Target, broker: Broker, agent: StartAgent) -> None:
    (port,) = free_ports(1)
    with agent(away=f"http://127.0.0.1:{port}/metrics", node=target.url):
        until(lambda: len(values(broker, "up", "away")) >= 2 and len(values(broker, "jobs_total")) >= 2)
    assert set(values(broker, "up", "away")) == {0.0}
    assert set(values(broker, "up")) == {1.0}


@pytest.mark.parametrize("piece", [b"", b"# HELP drip A line.\n"])
def test_an_answer_without_an_end_is_given_up(target: Target, broker: Broker, agent: StartAgent, piece: bytes) -> None:
    target.answer = endless(piece, 0.05)
    with agent(node=target.url, timeout_s=0.5):
        until(lambda: 0.0 in values(broker, "up"))
        target.answer = text(UP)
        until(lambda: values(broker, "jobs_total"))


@pytest.mark.parametrize(
    ("answer", "reported"),
    [
        (text(b"<html>", "text/html"), "expected application/openmetrics-text or text/plain, found text/html"),
        (text(b"", status=404), "/metrics: HTTP 404 Not Found"),
        (text(b""), "/metrics: the answer is empty"),
    ],
)
def test_what_is_no_exposition_is_reported_once(
    target: Target, broker: Broker, agent: StartAgent, answer: Any, reported: str
) -> None:
    target.answer = answer
    with agent(node=target.url):
        until(lambda: len(values(broker, "up")) >= 3)
    (reject,) = rejects(broker)
    assert reported in reject
    assert set(values(broker, "up")) == {0.0}


def test_more_series_than_are_kept_cost_their_family_alone(target: Target, broker: Broker, agent: StartAgent) -> None:
    """The limits are 20,000 samples and 200,000 lines; each refuses a part."""
    many = b"".join(b'm{id="%d"} 1\n' % n for n in range(250_000))
    target.answer = text(b"# TYPE first gauge\nfirst 1\n# TYPE m gauge\n" + many, "text/plain")
    with agent(node=target.url, interval_s=30, timeout_s=30):
        until(lambda: rejects(broker, "out_of_range"))
    refused = rejects(broker, "out_of_range")
    assert sum(int(detail.split()[0]) for detail in refused[:2]) == 250_000
    assert set(values(broker, "first")) == {1.0}
    assert values(broker, "m") == []


def test_a_token_is_sent_over_tls_and_one_that_is_refused_is_not_sent_again(
    broker: Broker, agent: StartAgent, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authority = Authority(tmp_path / "authority")
    tls = authority.server_context()
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_verify_locations(authority.authority)
    (tmp_path / "token").write_text("hunter2\n")
    connection = {"ca": str(authority.authority), "token": {"file": "token"}}
    connection |= {"certificate": str(authority.certificate), "key": str(authority.key)}
    with scraped(tls) as secured:
        secured.answer = text(b"", status=401)
        with agent(node={"url": secured.url, **connection}):
            until(lambda: secured.requested and values(broker, "up"))
            secured.answer = text(UP)
            (tmp_path / "token").write_text("another\n")
            until(lambda: values(broker, "jobs_total"))
    sent = [request["Authorization"] for request in secured.requested]
    assert sent.count("Bearer hunter2") == 1
    assert "Bearer another" in sent
    assert "hunter2" not in str(broker.rows("a")) + "".join(capsys.readouterr())

"""`counterflow dev land` between a real broker and a real ClickHouse engine, killed, starved, poisoned and fenced."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import httpx
import orjson
import pytest
from confluent_kafka import Producer

from counterflow.base.clickhouse import ClickHouse
from counterflow.collectors.agent.publish import publish_files
from counterflow.pipelines.landing.rollups import refresh
from counterflow.schemas.definition import Dataset, datasets, published, topics
from counterflow.schemas.migrations import migrate
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run
from tests.support.frames import frame
from tests.support.ports import free_ports
from tests.support.recordings import RECORDINGS
from tests.support.waiting import PATIENCE_S, until
from tests.support.web import Request, serving

TOPIC = "counterflow.disk.v2"
OnInsert = Callable[[int, Callable[[], None]], None]
_agents = itertools.count(1)


@pytest.fixture(scope="module")
def line(kafka: StackSettings, clickhouse: StackSettings) -> StackSettings:
    """Topics and tables; the lander is each test's own, and none lands what tests of other files published before."""
    create_topics(kafka, topics())
    with admin(clickhouse) as client:
        migrate(client)
    land(kafka)
    return kafka


@pytest.fixture
def agent() -> str:
    """An agent of the test's own, so that its rows are distinct from those of other tests."""
    return f"agent-{next(_agents)}"


def admin(line: StackSettings) -> ClickHouse:
    return line.clickhouse("admin")


def record(agent: str, seq: int, **fields: object) -> dict[str, object]:
    at = f"2026-11-20T{seq // 3600 % 24:02}:{seq // 60 % 60:02}:{seq % 60:02}Z"
    return {
        "ts": at, "interval_s": 15, "system": agent, "source": "nmon", "agent_id": agent, "seq": seq,
        "collected_at": at, "disk": f"hdisk{seq // 86400}", "device_type": "disk", "leaf": True,
        "busy_pct": seq % 100, "reads": seq, **fields,
    }  # fmt: skip


def publish(
    line: StackSettings, agent: str, values: Sequence[bytes | None], *, topic: str = TOPIC, commit: bool = True
) -> None:
    """Write one transaction, spread over the partitions by number."""
    producer = Producer({**line.kafka("admin").client, "transactional.id": agent, "linger.ms": 5})
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    for number, value in enumerate(values):
        producer.produce(topic, value, key=agent, partition=number % 2)
        producer.poll(0)
    producer.flush(30)
    producer.commit_transaction(PATIENCE_S) if commit else producer.abort_transaction(PATIENCE_S)


def records(agent: str, *seqs: int) -> list[bytes]:
    """Return frames of one row each, so that the tests can kill and stop between any two rows."""
    return [framed(record(agent, seq)) for seq in range(*seqs)]


def disks(agent: str, count: int) -> list[dict[str, object]]:
    """Return rows of one frame."""
    at = "2026-11-20T10:00:00Z"
    return [record(agent, seq, ts=at, collected_at=at, disk=f"hdisk{seq}") for seq in range(count)]


def framed(*rows: dict[str, object], dataset: str = "disk") -> bytes:
    return orjson.dumps(frame(dataset, rows))


def start(
    line: StackSettings, *options: str, url: str | None = None, log: int | IO[str] = subprocess.DEVNULL
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "counterflow", "dev", "land", "--clickhouse-url", url or line.clickhouse_url, *options],
        stderr=log, text=True, env={**os.environ, **line.environment},
    )  # fmt: skip


def land(line: StackSettings, *options: str) -> str:
    """Land what Kafka holds, in the process of the test; return the log."""
    done = run(
        "dev", "land", "--clickhouse-url", line.clickhouse_url, "--until-caught-up", *options, **line.environment
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@contextmanager
def running(line: StackSettings, *options: str, url: str | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run a lander until the block ends, whatever happens in it."""
    log = line.home / "land.log"
    log.unlink(missing_ok=True)  # one that still runs keeps its own
    with log.open("w") as out:
        process = start(line, *options, url=url, log=out)
    try:
        yield process
    except BaseException:
        print(log.read_text())
        raise
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def exposes(port: int, sample: str) -> bool:
    """Return whether the metrics of a lander, which may still be starting, have this sample."""
    with suppress(httpx.TransportError):
        return sample in httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
    return False


def answer(line: StackSettings, sql: str, agent: str) -> dict[str, Any]:
    with admin(line) as client:
        return client.rows(sql, {"param_agent": agent})[0]


def rows_of(line: StackSettings, agent: str, table: str = "disk") -> int:
    sql = f"SELECT count() AS n FROM counterflow.{table} FINAL WHERE agent_id = {{agent:String}}"
    return int(answer(line, sql, agent)["n"])


def assert_landed(
    line: StackSettings,
    agent: str,
    count: int,
    total: int | None = None,
    deadletters: int = 0,
    refused: int | None = None,
) -> None:
    """Assert that a query finds every `seq` below `count` once, whose sum is `total`, but for `deadletters` of them.

    `refused` is the number of dead letters where it is another: those of records that landed later are kept.
    """
    total = count * (count - 1) // 2 if total is None else total
    table = answer(
        line,
        "SELECT count() n, uniqExact(seq) u, sum(seq) s FROM counterflow.disk FINAL WHERE agent_id = {agent:String}",
        agent,
    )
    landed = count - deadletters
    assert (table["n"], table["u"], table["s"]) == (landed, landed, total)
    assert rows_of(line, agent, "deadletter") == (deadletters if refused is None else refused)
    with line.clickhouse("lander") as client:
        refresh(client)
    rollup = answer(
        line,
        "SELECT sum(n) AS n, sum(total) AS s FROM counterflow.metric_hour "
        "WHERE system = {agent:String} AND metric = 'disk.reads'",
        agent,
    )
    assert (rollup["n"], rollup["s"]) == (landed, total)
    ledger = answer(line, "SELECT * FROM counterflow.loss WHERE agent_id = {agent:String}", agent)
    assert (ledger["landed"], ledger["deadletters"], ledger["lost"]) == (landed, deadletters, 0)


def repeated(line: StackSettings, agent: str) -> int:
    return int(answer(line, "SELECT repeated FROM counterflow.loss WHERE agent_id = {agent:String}", agent)["repeated"])


@contextmanager
def gate(line: StackSettings, on_insert: OnInsert) -> Iterator[tuple[str, list[bytes]]]:
    """Run a proxy before the engine, where `on_insert(number, forward)` decides what happens to each insert.

    Yield its address, and what was to be inserted.
    """
    numbers, inserts = itertools.count(1), list[bytes]()

    def answer(request: Request) -> None:
        body = request.body()
        if len(body) < int(request.headers["Content-Length"]):
            raise ConnectionAbortedError("the lander was killed while it sent")
        passed = ("X-ClickHouse-User", "X-ClickHouse-Key", "Content-Type")
        headers = {name: value for name, value in request.headers.items() if name in passed}
        reply: list[httpx.Response] = []

        def forward() -> None:
            url = line.clickhouse_url + request.path
            reply.append(httpx.post(url, content=body, headers=headers, trust_env=False))

        if httpx.URL(request.path).params.get("query", "").startswith("INSERT"):
            inserts.append(body)
            on_insert(next(numbers), forward)
        else:
            forward()
        request.reply(reply[0].status_code, reply[0].content) if reply else request.reply(503)

    with serving(answer, protocol="HTTP/1.1") as url:
        yield url, inserts


@pytest.mark.parametrize("moment", ["before the insert", "after the insert"])
def test_killed_at_each_step(line: StackSettings, agent: str, moment: str) -> None:
    publish(line, agent, records(agent, 0, 1_500))
    process: subprocess.Popen[str] | None = None

    def on_insert(number: int, forward: Callable[[], None]) -> None:
        if number % 3:
            return forward()
        if moment == "after the insert":
            forward()
        assert process
        process.kill()
        raise ConnectionAbortedError

    with gate(line, on_insert) as (url, _):
        for _ in range(30):
            process = start(line, "--batch-messages", "300", "--until-caught-up", url=url)
            if process.wait(PATIENCE_S) == 0:
                break
    assert process
    assert process.returncode == 0
    assert_landed(line, agent, 1_500)
    # where another insert was under way, its rows may be there without their offsets
    assert repeated(line, agent) > 0 or moment == "before the insert"


def test_a_file_that_is_published_again_counts_once(line: StackSettings, agent: str, tmp_path: Path) -> None:
    """By the same agent or by another, alone or among others in one batch."""
    recording = tmp_path / "short.nmon"
    recording.write_text((RECORDINGS / "linux_16n_plain.nmon").read_text().partition("ZZZZ,T0004")[0])
    tables = [d.dataset for d in datasets().values() if d.role == "counter"]

    def counted() -> dict[str, int]:
        """Return how many rows of the system queries find, by table."""
        of_system = "FINAL WHERE system = {agent:String}"
        return {
            name: int(answer(line, f"SELECT count() AS n FROM counterflow.{name} {of_system}", agent)["n"])
            for name in tables
        }

    def published(by: str, *, again: bool = False) -> int:
        sent = publish_files([recording], kafka=line.kafka("agent"), agent_id=by, system=agent, again=again)
        return sum(sent.records.values())

    records_of_one = published(agent)
    land(line)
    once = counted()
    assert once["disk"] > 0
    published(agent, again=True)
    land(line)
    assert counted() == once
    published(f"{agent}-other")
    published(agent, again=True)
    land(line)
    assert counted() == once
    loss = answer(line, "SELECT * FROM counterflow.loss WHERE agent_id = {agent:String}", agent)
    assert (loss["lost"], loss["landed"] + loss["deadletters"]) == (0, 3 * records_of_one)


def test_refused_rows_become_dead_letters_and_the_rest_lands(line: StackSettings, agent: str) -> None:
    count = 1_000
    values: list[bytes | None] = list(records(agent, 0, count))
    poison = {
        17: {"reads": "many"},
        842: {"ts": "yesterday"},
        843: {"busy_pct": "1.2.3"},
        999: {"ts": "1999-12-31T00:00:00Z"},
    }
    for seq, fields in poison.items():
        values[seq] = framed(record(agent, seq, **fields))
    values[18] = orjson.dumps(orjson.loads(values[18] or b""), option=orjson.OPT_INDENT_2)
    publish(line, agent, values)
    log = land(line)
    assert_landed(line, agent, count, sum(range(count)) - sum(poison), len(poison))
    with admin(line) as client:
        letters = client.rows(
            "SELECT *, base64Decode(payload_base64) AS payload FROM counterflow.deadletter "
            "WHERE agent_id = {agent:String} ORDER BY seq",
            {"param_agent": agent},
        )
    assert [letter["seq"] for letter in letters] == sorted(poison)
    for letter in letters:
        assert letter["payload"].encode() == values[letter["seq"]]
        assert (letter["stage"], letter["system"], letter["source"]) == ("land", agent, "nmon")
        topic, partition, offset = letter["origin"].split(":")
        assert (topic, int(partition)) == (TOPIC, letter["seq"] % 2)
        assert int(offset) >= letter["seq"] // 2
    assert [letter["reason"] for letter in letters] == [
        "CANNOT_PARSE_NUMBER",
        "CANNOT_PARSE_DATETIME",
        "CANNOT_PARSE_NUMBER",
        "VIOLATED_CONSTRAINT",
    ]
    assert '"refused"' in log


def test_one_bad_row_of_a_frame_costs_one_row(line: StackSettings, agent: str) -> None:
    """Its dead letter is a frame of that row alone, and can be replayed."""
    rows = disks(agent, 300)
    bad = {5: {"reads": "many"}, 99: {"busy_pct": "1.2.3"}, 200: {"reads": [1]}}
    for seq, fields in bad.items():
        rows[seq] |= fields
    publish(line, agent, [framed(*rows[:100]), framed(*rows[100:200]), framed(*rows[200:])])
    land(line)
    assert_landed(line, agent, 300, sum(range(300)) - sum(bad), len(bad))
    sql = "SELECT seq, payload_rows, origin, base64Decode(payload_base64) AS payload FROM counterflow.deadletter"
    with admin(line) as client:
        letters = client.rows(f"{sql} WHERE agent_id = {{agent:String}} ORDER BY seq", {"param_agent": agent})
    assert [(letter["seq"], letter["payload_rows"]) for letter in letters] == [(seq, 1) for seq in bad]
    assert [letter["origin"].rpartition(".")[2] for letter in letters] == ["6-6", "100-100", "1-1"]
    assert orjson.loads(letters[0]["payload"]) == frame("disk", [rows[5]])


def test_a_malformed_frame_is_kept_whole_and_accounts_for_its_rows(line: StackSettings, agent: str) -> None:
    """A frame whose columns differ in length stays out of the tables, and so does what was aborted."""
    unequal = orjson.dumps({**frame("disk", disks(agent, 3)), "reads": [1]})
    publish(line, agent, [unequal, framed(*(record(agent, seq) for seq in range(3, 6)))])
    publish(line, agent, [framed({**record(agent, 3, ts="2026-11-20T10:00:01Z")})], commit=False)
    land(line)
    found = answer(line, "SELECT * FROM counterflow.loss WHERE agent_id = {agent:String}", agent)
    assert (found["landed"], found["deadletters"]) == (0, 6)
    sql = "SELECT reason, payload_rows FROM counterflow.deadletter WHERE agent_id = {agent:String} AND seq = 0"
    assert answer(line, sql, agent) == {"reason": "unequal_columns", "payload_rows": 3}


def row_of(dataset: Dataset, agent: str) -> dict[str, Any]:
    """Return a row with a value in every column."""
    plain = {"String": "text", "Float64": 1.5, "Int64": -1, "UInt64": 7, "Bool": True}
    plain["DateTime64"] = "2026-11-20T10:00:00Z"
    row = {name: (column.values or (plain[column.type],))[0] for name, column in dataset.all_columns.items()}
    return {**row, "system": agent, "agent_id": agent}


def test_a_wrong_value_of_any_type_holds_up_nobody(line: StackSettings, agent: str) -> None:
    wrong = [None, True, -1, 1.5, 2**63, 2**70, -(2**70), "", "text", "1e999", "\x00", [], [True], {}, {"a": [None]}]
    columns = {
        (column.type, name in dataset.key, bool(column.null_when), bool(column.values)): (dataset, name)
        for dataset in datasets().values()
        if dataset.role == "counter" and dataset.dataset != "deadletter"
        for name, column in dataset.columns.items()
    }
    rows = [(dataset, {**row_of(dataset, agent), name: value}) for dataset, name in columns.values() for value in wrong]
    values = defaultdict(list)
    for seq, (dataset, row) in enumerate(rows):
        # orjson accepts no number so large
        values[dataset.topic].append(json.dumps(frame(dataset.dataset, [{**row, "seq": seq}])).encode())
    for topic, of_topic in values.items():
        publish(line, agent, of_topic, topic=topic)
    land(line)
    ledger = "SELECT sumIf(rows, dataset != 'deadletter') AS n FROM counterflow.ledger WHERE agent_id = {agent:String}"
    letters = "SELECT count() AS n FROM counterflow.deadletter WHERE agent_id = {agent:String} AND stage = 'land'"
    refused = int(answer(line, letters, agent)["n"])
    assert refused > len(columns)
    assert int(answer(line, ledger, agent)["n"]) + refused == len(rows)


def test_a_wrong_value_of_the_envelope_holds_up_nobody(line: StackSettings, agent: str) -> None:
    wrong = [None, True, 7.0, -1, 2**63, "", "7", [], {}, "\x00"]
    row = record(agent, 0)
    names = [name for name in row if name not in datasets()["disk"].columns]
    publish(
        line, agent, [framed({**row, "disk": f"{n}", name: value}) for n, value in enumerate(wrong) for name in names]
    )
    publish(line, agent, records(agent, 1, 5))
    land(line)
    sql = "SELECT uniqExact(seq) AS n FROM counterflow.disk WHERE agent_id = {agent:String} AND seq BETWEEN 1 AND 4"
    assert answer(line, sql, agent)["n"] == 4


def test_every_dataset_lands_in_its_table_and_a_refused_result_is_a_dead_letter(
    line: StackSettings, agent: str
) -> None:
    expected = dict.fromkeys(published(), 1)
    for dataset in published().values():
        row = row_of(dataset, agent)
        messages = [framed(row, dataset=dataset.dataset) if dataset.role == "counter" else orjson.dumps(row)]
        if dataset.role == "result":
            messages += map(orjson.dumps, ({**row, "ts": "1999-12-31T00:00:00Z"}, {**row, "n": "many"}))
            expected["deadletter"] += 2
        for message in messages:
            publish(line, agent, [message], topic=dataset.topic)  # some have one partition
    land(line)
    counted = "SELECT count() AS n FROM counterflow.{} WHERE system = {{agent:String}}"
    assert {name: answer(line, counted.format(name), agent)["n"] for name in expected} == expected


def test_sigterm_ends_the_insert_and_exits_0(line: StackSettings, agent: str) -> None:
    publish(line, agent, records(agent, 0, 1_000))
    begun, released = threading.Event(), threading.Event()

    def on_insert(number: int, forward: Callable[[], None]) -> None:
        begun.set()
        released.wait(PATIENCE_S)
        forward()

    with (
        gate(line, on_insert) as (url, inserts),
        running(line, "--batch-messages", "100", url=url) as process,
    ):
        assert begun.wait(PATIENCE_S)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        released.set()
        assert process.wait(PATIENCE_S) == 0
    under_way = len(inserts)
    assert under_way in (1, 2)
    assert rows_of(line, agent) == 100 * under_way
    land(line)
    assert_landed(line, agent, 1_000)
    assert repeated(line, agent) == 0, "its offsets were committed at the end"


def test_the_newest_of_a_name_has_the_work(line: StackSettings, agent: str) -> None:
    with running(line) as first, (line.home / "land.log").open() as of_first:
        publish(line, agent, records(agent, 0, 100))
        until(lambda: rows_of(line, agent) == 100, "the first lands")
        publish(line, agent, records(agent, 100, 200))
        land(line)
        assert first.wait(PATIENCE_S) == 1
        log = of_first.read()
    assert "error: fenced: another lander started with the id" in log
    assert "Traceback" not in log
    assert_landed(line, agent, 200)


def test_work_moves_between_landers(line: StackSettings, agent: str) -> None:
    [port] = free_ports(1)

    with running(line, "--batch-messages", "200"):
        publish(line, agent, records(agent, 0, 4_000))
        until(lambda: rows_of(line, agent) > 0, "the first lands")
        with running(line, "--instance-id", "another", "--metrics-port", str(port)) as second:
            published = 4_000
            while not exposes(port, 'counterflow_lander_rows_total{dataset="disk"}'):  # it has a partition then
                publish(line, agent, records(agent, published, published + 100))
                published += 100
                assert published < 100_000
            until(lambda: rows_of(line, agent) >= published, "both land")
            second.send_signal(signal.SIGTERM)
            assert second.wait(PATIENCE_S) == 0
    assert_landed(line, agent, published)


def test_however_much_of_a_topic_is_refused_the_rest_lands(line: StackSettings, agent: str) -> None:
    good = records(agent, 0, 2_000)
    publish(line, agent, [*good[:1_000], *[b"?"] * 8_000, *good[1_000:]])
    land(line)
    assert_landed(line, agent, 2_000)
    letters = "SELECT count() AS n FROM counterflow.deadletter FINAL WHERE payload_base64 = 'Pw=='"
    assert answer(line, letters, agent)["n"] >= 8_000

"""Over real TLS each part refuses clients without a right, and no others; no secret is anywhere but in its file."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.schemas import topics
from counterflow.schemas.definition import CHECKPOINTS
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle, supervision
from counterflow.stack.flink import client as open_flink
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.dds import Authority
from tests.support.waiting import PATIENCE_S

NewStack = Callable[[], StackSettings]
COUNTERS, RESULTS = "counterflow.disk.v2", "counterflow.io_mix.v2"
AUTHENTICATION_FAILED, NOT_ENOUGH_PRIVILEGES, READONLY, VIOLATES = 516, 497, 164, 452


@pytest.fixture(scope="module")
def line(new_stack: NewStack, tmp_path_factory: pytest.TempPathFactory) -> StackSettings:
    """A broker and an engine that speak TLS alone, with topics and tables."""
    settings = Authority(tmp_path_factory.mktemp("authority")).over_tls(new_stack())
    lifecycle.start(settings, "kafka", "clickhouse")
    create_topics(settings, topics())
    with settings.clickhouse("migrator") as migrator:
        migrate(migrator)
    return settings


# Kafka


class Client:
    """A client of the broker that keeps the reasons of its refusals, since no call reports a wrong password."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.refusals: list[KafkaError] = []
        self.settings = {**settings, "error_cb": self.refusals.append, "log_level": 0, "message.timeout.ms": 5000}

    def errors(self) -> set[int]:
        """Request the topics; return the codes of all errors, once there is one besides that of the time-out."""
        producer = Producer(self.settings)
        try:
            producer.list_topics(timeout=2)
        except KafkaException as error:
            end = time.monotonic() + 5
            while not self.refusals and time.monotonic() < end:
                producer.poll(0.1)
            return {error.args[0].code(), *(refusal.code() for refusal in self.refusals)}
        return set()

    def produce(self, topic: str) -> int | None:
        """Produce one record; return the code of the refusal."""
        found: list[KafkaError | None] = []
        producer = Producer(self.settings)
        producer.produce(topic, b"{}", on_delivery=lambda error, _: found.append(error))
        producer.flush(10)
        return found[0].code() if found[0] else None


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sasl.password": "wrong"}, KafkaError._AUTHENTICATION),
        ({"sasl.username": "nobody"}, KafkaError._AUTHENTICATION),
        ({"sasl.username": "broker", "sasl.mechanism": "PLAIN"}, KafkaError._AUTHENTICATION),
        ({"security.protocol": "SSL"}, KafkaError._TRANSPORT),  # without any password
        ({"security.protocol": "SASL_PLAINTEXT"}, KafkaError._TRANSPORT),
        ({"security.protocol": "PLAINTEXT"}, KafkaError._TRANSPORT),
        ({"ssl.ca.location": "probe"}, KafkaError._SSL),  # the broker's certificate is signed by another
    ],
)
def test_kafka_refuses_unauthenticated_clients(line: StackSettings, change: dict[str, str], code: int) -> None:
    assert Client(line.kafka("agent").client).errors() == set()
    assert code in Client(line.kafka("agent").client | change).errors()


@pytest.mark.parametrize("user", ["agent", "flink", "lander", "reader", "replay"])
def test_a_user_of_kafka_writes_its_own_topics_alone(line: StackSettings, user: str) -> None:
    client = Client(line.kafka(user).client)
    may = {"agent": {COUNTERS, CHECKPOINTS}, "replay": {COUNTERS}, "flink": {RESULTS}}.get(user, set())
    for topic in (COUNTERS, RESULTS, CHECKPOINTS):
        refused = None if topic in may else KafkaError.TOPIC_AUTHORIZATION_FAILED
        if refused or topic == COUNTERS:  # an accepted record stays: none where agents or results are read
            assert client.produce(topic) == refused, topic
    admin, new = AdminClient(client.settings), f"counterflow.{user}"  # kept: its answers go with it
    with pytest.raises(KafkaException) as raised:
        admin.create_topics([NewTopic(new, 1, 1)])[new].result()
    assert raised.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("user", "topic", "group", "code"),
    [
        ("agent", COUNTERS, "counterflow-agent", KafkaError.TOPIC_AUTHORIZATION_FAILED),
        ("lander", CHECKPOINTS, "counterflow.lander", KafkaError.TOPIC_AUTHORIZATION_FAILED),
        ("reader", COUNTERS, "counterflow.lander", KafkaError.GROUP_AUTHORIZATION_FAILED),
        ("flink", COUNTERS, "counterflow.lander", KafkaError.GROUP_AUTHORIZATION_FAILED),
    ],
)
def test_a_user_of_kafka_reads_and_commits_its_own_alone(
    line: StackSettings, user: str, topic: str, group: str, code: int
) -> None:
    """To commit for the lander would make it skip records."""
    settings = {**line.kafka(user).client, "log_level": 0}
    consumer, admin = Consumer({**settings, "group.id": group, "enable.auto.commit": False}), AdminClient(settings)
    begin = TopicPartition(topic, 0, 0)
    found: set[int] = set()
    try:
        consumer.assign([begin])
        end = time.monotonic() + PATIENCE_S
        while code not in found and time.monotonic() < end:
            message = consumer.poll(0.2)
            if message is not None and (error := message.error()):
                found.add(error.code())
            # Not by the consumer, which reports no refusal and waits for another coordinator.
            [committed] = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, [begin])]).values()
            try:
                found.update(one.error.code() for one in committed.result().topic_partitions if one.error)
            except KafkaException as error:
                found.add(error.args[0].code())
    finally:
        consumer.close()
    assert code in found


# ClickHouse


def refusal(line: StackSettings, user: str, sql: str, password: str | None = None) -> int:
    password = line.clickhouse_password(user) if password is None else password
    with (
        ClickHouse(line.clickhouse_url, user, password, ca=line.tls_ca) as client,
        pytest.raises(ClickHouseError) as refused,
    ):
        client.post(sql)
    return refused.value.code


def test_clickhouse_serves_known_users_over_tls_alone(line: StackSettings) -> None:
    for user in ("reader", "nobody"):
        assert refusal(line, user, "SELECT 1", password="wrong") == AUTHENTICATION_FAILED
    assert refusal(line, "default", "SELECT count() FROM counterflow.disk", password="") == NOT_ENOUGH_PRIVILEGES
    port = line.clickhouse_port
    with pytest.raises(httpx.HTTPError), ClickHouse(f"http://127.0.0.1:{port}", "reader", "x") as plain:
        plain.post("SELECT 1")
    with (
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
        ClickHouse(line.clickhouse_url, "reader", "x") as other,  # trusts what the machine trusts
    ):
        other.post("SELECT 1")


@pytest.mark.parametrize(
    ("user", "sql", "code"),
    [
        ("reader", "INSERT INTO counterflow.disk (ts) VALUES (now())", NOT_ENOUGH_PRIVILEGES),
        ("reader", "CREATE TABLE counterflow.x (x UInt8) ENGINE = Memory", NOT_ENOUGH_PRIVILEGES),
        ("reader", "SELECT * FROM file('/etc/passwd', LineAsString)", NOT_ENOUGH_PRIVILEGES),
        ("reader", "SELECT * FROM url('http://127.0.0.1:1/', LineAsString)", NOT_ENOUGH_PRIVILEGES),
        ("reader", "SELECT * FROM system.users", NOT_ENOUGH_PRIVILEGES),
        ("reader", "SET readonly = 0", READONLY),
        ("reader", "SELECT 1 SETTINGS max_execution_time = 3600", VIOLATES),
        ("reader", "SELECT 1 SETTINGS max_execution_time = 0", VIOLATES),
        ("reader", "SELECT 1 SETTINGS max_memory_usage = 100000000000", VIOLATES),
        ("reader", "SELECT 1 SETTINGS max_memory_usage = 0", VIOLATES),
        ("reader", "SELECT 1 SETTINGS max_result_rows = 0", VIOLATES),
        ("reader", "SELECT 1 SETTINGS max_concurrent_queries_for_user = 0", VIOLATES),
        ("lander", "DROP TABLE counterflow.disk", NOT_ENOUGH_PRIVILEGES),
        ("lander", "ALTER TABLE counterflow.disk DELETE WHERE 1", NOT_ENOUGH_PRIVILEGES),
        ("lander", "INSERT INTO FUNCTION file('/tmp/x') SELECT 1", NOT_ENOUGH_PRIVILEGES),
        ("migrator", "CREATE DATABASE other", NOT_ENOUGH_PRIVILEGES),
        ("migrator", "CREATE USER other", NOT_ENOUGH_PRIVILEGES),
        ("migrator", "SELECT * FROM file('/etc/passwd', LineAsString)", NOT_ENOUGH_PRIVILEGES),
    ],
)
def test_a_user_of_clickhouse_does_its_own_work_alone(line: StackSettings, user: str, sql: str, code: int) -> None:
    assert refusal(line, user, sql) == code


def test_a_reader_groups_more_than_its_memory_holds(line: StackSettings) -> None:
    """Groups go to disk long before they fill the memory; here both limits are a tenth of those of the user."""
    sql = "SELECT count() AS groups FROM (SELECT number, count() AS n FROM numbers(2500000) GROUP BY number)"
    small = "SETTINGS max_memory_usage = 100000000, max_bytes_before_external_group_by"
    of_profile = (
        "SELECT getSetting('max_memory_usage') AS most, getSetting('max_bytes_before_external_group_by') AS held"
    )
    with line.clickhouse("reader") as reader:
        [limits] = reader.rows(of_profile)
        assert 0 < 2 * limits["held"] <= limits["most"] == 1_000_000_000
        assert reader.rows(f"{sql} {small} = {limits['held'] // 10}") == [{"groups": 2_500_000}]
        with pytest.raises(ClickHouseError, match="MEMORY_LIMIT_EXCEEDED"):
            reader.rows(f"{sql} {small} = 0")


def test_a_password_is_changed_by_removing_its_file(line: StackSettings) -> None:
    before, old = line.kafka("agent").client, line.clickhouse_password("reader")
    for part, name in (("kafka", "kafka-agent"), ("clickhouse", "clickhouse-reader")):
        supervision.stop(line, part)
        (line.secrets / name).unlink()
    lifecycle.start(line, "kafka", "clickhouse")
    assert line.kafka("agent").client != before
    assert Client(line.kafka("agent").client).errors() == set()
    assert KafkaError._AUTHENTICATION in Client(before).errors()
    assert refusal(line, "reader", "SELECT 1", old) == AUTHENTICATION_FAILED
    with line.clickhouse("reader") as reader:
        assert reader.rows("SELECT count() > 0 AS data_stays FROM counterflow.migration") == [{"data_stays": 1}]


# Secrets


def test_the_secrets_of_the_stack_are_nowhere_but_in_their_files(stack: StackSettings) -> None:
    secrets = {path.name: path.read_bytes() for path in stack.secrets.iterdir()}
    assert {"kafka-agent", "kafka-flink", "clickhouse-lander", "flink.pem", "flink.p12"} <= secrets.keys()
    assert stack.secrets.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in stack.secrets.iterdir()} == {0o600}
    looked_at, leaks = set(), []
    for where, content in itertools.chain(files(stack), processes(stack), metrics(stack), flink(stack)):
        looked_at.add(where)
        leaks += [(where, name) for name, secret in secrets.items() if secret in content]
    config = stack.flink_home / "conf/config.yaml"  # Flink takes the password of its store from there alone
    assert leaks == [(str(config), "flink-store")]
    assert config.stat().st_mode & 0o777 == 0o600
    assert {str(stack.stack_file), str(stack.logs / "taskmanager.log"), "/jobmanager/config"} <= looked_at


def files(stack: StackSettings) -> Iterator[tuple[str, bytes]]:
    """Yield every file of the stack except the secrets, and Kafka's indexes: gigabytes of offsets and zeros."""
    for folder, _, names in os.walk(stack.home):  # ignores what is deleted meanwhile
        for path in (Path(folder) / name for name in names if not name.endswith((".index", ".timeindex"))):
            if path.is_file() and stack.secrets not in path.parents:
                with suppress(OSError):
                    yield str(path), path.read_bytes()


def processes(stack: StackSettings) -> Iterator[tuple[str, bytes]]:
    """Yield arguments and environment of every process of the stack."""
    for process in supervision.processes(stack):
        with suppress(psutil.NoSuchProcess):
            yield f"process {process.pid}", repr((process.cmdline(), process.environ())).encode()


def metrics(stack: StackSettings) -> Iterator[tuple[str, bytes]]:
    """Yield metrics and health of our own processes."""
    for port in (stack.lander_metrics_port, stack.verdicts_metrics_port, stack.health_port):
        for path in ("metrics", "healthz"):
            url = f"http://127.0.0.1:{port}/{path}"
            yield url, httpx.get(url, timeout=20, trust_env=False).content


def flink(stack: StackSettings) -> Iterator[tuple[str, bytes]]:
    """Yield the configuration, jobs and logs that Flink's REST interface returns to an authenticated client."""
    with open_flink(stack) as client:
        jobs = [job["jid"] for job in client.get("/jobs/overview").json()["jobs"]]
        managers = [manager["id"] for manager in client.get("/taskmanagers").json()["taskmanagers"]]
        assert jobs
        assert managers
        paths = ["/config", "/overview", "/jobmanager/config", "/jobmanager/environment", "/jobmanager/log"]
        of_a_job = ("", "/config", "/plan", "/exceptions", "/accumulators", "/checkpoints", "/jobmanager/environment")
        paths += [f"/jobs/{job}{path}" for job in jobs for path in of_a_job]
        paths += [f"/taskmanagers/{one}{path}" for one in managers for path in ("", "/log", "/stdout", "/thread-dump")]
        for path in paths:
            yield path, client.get(path).content

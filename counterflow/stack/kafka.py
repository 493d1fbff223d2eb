"""The broker: Apache Kafka in KRaft mode, broker and controller in one process."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Iterable

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined] # its stub forgets to export it

from counterflow.errors import CounterflowError
from counterflow.schemas.definition import Topic
from counterflow.stack.install import java
from counterflow.stack.part import Part
from counterflow.stack.settings import HOST, StackSettings

_TIME = "yyyy-MM-dd'T'HH:mm:ss,SSS"


def broker(settings: StackSettings) -> Part:
    """Describe the broker."""
    options = ("-Xms256m", "-Xmx512m", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError", "-Djava.awt.headless=true")
    logger = "-Dorg.slf4j.simpleLogger"
    logging = (f"{logger}.defaultLogLevel=warn", f"{logger}.showDateTime=true", f"{logger}.dateTimeFormat={_TIME}")
    return Part(
        name="kafka",
        command=(*_java(settings), *options, *logging, "kafka.Kafka", str(settings.kafka_home / "server.properties")),
        ready=lambda _: _ready(settings),
        ports=(settings.kafka_port, settings.kafka_controller_port),
        prepare=lambda: _prepare(settings),
        stop_s=30,
    )


def create_topics(settings: StackSettings, topics: Iterable[Topic]) -> None:
    """Create the topics that do not exist yet; what exists keeps its configuration."""
    admin = _admin(settings)
    new = [NewTopic(topic.name, topic.partitions, 1, config=topic.config) for topic in topics]
    for name, created in admin.create_topics(new).items():
        try:
            created.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise CounterflowError(f"topic {name} was not created: {error.args[0].str()}") from None


def _java(settings: StackSettings) -> tuple[str, ...]:
    return (java(), "-cp", f"{settings.parts}/jars/kafka/*")


def _ready(settings: StackSettings) -> str | None:
    try:
        metadata = _admin(settings).list_topics(timeout=2)
    except KafkaException:
        return None
    topics = sum(1 for topic in metadata.topics if not topic.startswith("__"))
    return f"{len(metadata.brokers)} broker, {topics} topics"


def _admin(settings: StackSettings) -> AdminClient:
    return AdminClient({"bootstrap.servers": settings.kafka_bootstrap, "log_level": 0})


def _prepare(settings: StackSettings) -> None:
    data = settings.kafka_home / "data"
    data.mkdir(parents=True, exist_ok=True)
    properties = settings.kafka_home / "server.properties"
    properties.write_text(_properties(settings))
    if (data / "meta.properties").exists():
        return
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
    command = (*_java(settings), "kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(properties))
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise CounterflowError(f"{data} could not be formatted: {result.stderr.strip().splitlines()[-1]}")


def _properties(settings: StackSettings) -> str:
    controller = f"{HOST}:{settings.kafka_controller_port}"
    return f"""\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{controller}
listeners=PLAINTEXT://{settings.kafka_bootstrap},CONTROLLER://{controller}
advertised.listeners=PLAINTEXT://{settings.kafka_bootstrap}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs={settings.kafka_home / "data"}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=8
offsets.retention.minutes=525600
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=8
transaction.max.timeout.ms=900000
group.initial.rebalance.delay.ms=0
# a broker that was killed is let in again after 3 s instead of 9; three heartbeats as by default
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=1000
"""

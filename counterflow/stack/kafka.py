"""The broker: Apache Kafka in KRaft mode, broker and controller in one process.

Clients authenticate with SCRAM, which reveals no password to another process that took the broker's port. The broker
itself uses PLAIN, since its own password cannot be among the data that it stores. With that password the stack sets the
others, once it sees its own process listen. The loopback takes passwords too, since every account of the machine and
any page in a browser there reaches it. It needs no TLS: only root can read that traffic, and root can read the files.
"""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined] # its stub forgets to export it

from counterflow.base.errors import CounterflowError
from counterflow.schemas.definition import Topic
from counterflow.stack.kafka_users import ADMIN, USERS, set_grants, set_passwords
from counterflow.stack.part import Part, scratch
from counterflow.stack.runtimes import java
from counterflow.stack.secret import private, secret
from counterflow.stack.settings import HOST, StackSettings

_BROKER = "broker"
_TIME = "yyyy-MM-dd'T'HH:mm:ss,SSS"


def broker(settings: StackSettings) -> Part:
    options = (
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.awt.headless=true",
        f"-Djava.io.tmpdir={scratch(settings.home, 'kafka')}",
    )
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


def create_topics(
    settings: StackSettings, topics: Iterable[Topic], *, replicas: int = 1, admin: AdminClient | None = None
) -> None:
    """Create the topics that do not exist yet, with `admin` (default: the user admin); others keep their configuration.

    Raises `CounterflowError` where the broker refuses one.
    """
    if admin is None:  # a client without open requests counts as false
        admin = AdminClient({**settings.kafka(ADMIN).client, "log_level": 0})
    new = [NewTopic(topic.name, topic.partitions, replicas, config=topic.config) for topic in topics]
    for name, created in admin.create_topics(new).items():
        try:
            created.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise CounterflowError(f"topic {name} was not created: {error.args[0].str()}") from None


def _java(settings: StackSettings) -> tuple[str, ...]:
    return (java(settings.parts), "-cp", f"{settings.parts}/jars/kafka/*")


def _ready(settings: StackSettings) -> str | None:
    """Query the broker; the first time after a start, set the users and rights of this version."""
    own: dict[str, Any] = {
        "sasl.mechanism": "PLAIN",
        "sasl.username": _BROKER,
        "sasl.password": secret(settings.secrets, f"kafka-{_BROKER}").read_text(),
        "log_level": 0,
    }
    admin = AdminClient({**settings.kafka(ADMIN).client, **own})
    try:
        metadata = admin.list_topics(timeout=2)
        if not (done := _users_set(settings)).exists():
            set_passwords(admin, ((user, secret(settings.secrets, f"kafka-{user}").read_text()) for user in USERS))
            set_grants(admin)
            done.touch()
    except KafkaException:
        return None
    topics = sum(1 for topic in metadata.topics if not topic.startswith("__"))
    return f"{len(metadata.brokers)} broker, {topics} topics"


def _users_set(settings: StackSettings) -> Path:
    return settings.kafka_home / "users.set"


def configure(settings: StackSettings) -> Path:
    """Write the broker's passwords and its `server.properties`; return the path of the latter."""
    (settings.kafka_home / "data").mkdir(parents=True, exist_ok=True)
    _users_set(settings).unlink(missing_ok=True)
    for user in (_BROKER, *USERS):
        secret(settings.secrets, f"kafka-{user}")
    properties = settings.kafka_home / "server.properties"
    private(properties, _properties(settings))
    return properties


def _prepare(settings: StackSettings) -> None:
    properties = configure(settings)
    data = settings.kafka_home / "data"
    if (data / "meta.properties").exists():
        return
    cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
    command = (*_java(settings), "kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(properties))
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise CounterflowError(f"{data} could not be formatted: {result.stderr.strip().splitlines()[-1]}")


def _properties(settings: StackSettings) -> str:
    controller = f"{HOST}:{settings.kafka_controller_port}"
    password = f"${{secrets:{settings.secrets}:kafka-{_BROKER}}}"
    plain = (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="{_BROKER}" password="{password}" user_{_BROKER}="{password}";'
    )
    protocol = "SASL_SSL" if settings.tls_certificate else "SASL_PLAINTEXT"
    return f"""\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{controller}
listeners=CLIENTS://{settings.address}:{settings.kafka_port},CONTROLLER://{controller}
advertised.listeners=CLIENTS://{settings.address}:{settings.kafka_port}
listener.security.protocol.map=CLIENTS:{protocol},CONTROLLER:SASL_PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=CLIENTS
config.providers=secrets
config.providers.secrets.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider
config.providers.secrets.param.allowed.paths={settings.secrets}
sasl.mechanism.inter.broker.protocol=PLAIN
sasl.mechanism.controller.protocol=PLAIN
listener.name.clients.sasl.enabled.mechanisms=SCRAM-SHA-512,PLAIN
listener.name.clients.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.clients.plain.sasl.jaas.config={plain}
listener.name.controller.sasl.enabled.mechanisms=PLAIN
listener.name.controller.plain.sasl.jaas.config={plain}
{_tls(settings)}authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=false
super.users=User:{_BROKER};User:{ADMIN}
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
"""


def _tls(settings: StackSettings) -> str:
    if settings.tls_certificate is None:
        return ""
    return f"""\
ssl.keystore.type=PEM
ssl.keystore.location={settings.tls_certificate}
ssl.truststore.type=PEM
ssl.truststore.location={settings.tls_ca}
"""

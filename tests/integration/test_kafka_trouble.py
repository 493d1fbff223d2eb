"""A process that Kafka refuses names the cause at the first failure: password, user, mechanism, protocol, topic."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from counterflow.base.errors import CounterflowError
from counterflow.base.kafka import Kafka, Secret
from counterflow.collectors.agent.publish import publish_files
from counterflow.schemas.definition import topics
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.command_line import run_apart
from tests.support.recordings import RECORDINGS
from tests.support.waiting import until

SAMPLE = RECORDINGS / "linux_16n_plain.nmon"


def refused(broker: StackSettings, folder: Path, case: str) -> tuple[Kafka, str]:
    """Return a connection that cannot work, and the words that name the cause."""
    wrong = folder / "wrong"
    wrong.write_text("not the password")
    works = broker.kafka("agent")
    place = broker.kafka_bootstrap
    change: dict[str, Any] = {}
    match case:
        case "password":
            change["secrets"] = {"sasl.password": Secret(file=wrong)}
            words = f"{place} refuses user `agent`: it does not know the user, or the password in {wrong} is wrong"
        case "mechanism":
            change["settings"] = {**works.settings, "sasl.mechanism": "SCRAM-SHA-256"}
            words = f"{place} does not take this sasl.mechanism: Unsupported SASL mechanism: broker's supported"
        case "tls":
            change["settings"] = {**works.settings, "security.protocol": "SASL_SSL"}
            words = f"{place} speaks no TLS: security.protocol is SASL_SSL here, its listener may want SASL_PLAINTEXT"
        case _:
            change |= {"settings": {}, "secrets": {}}
            words = (
                f"{place} closes every connection at once: security.protocol is PLAINTEXT here, its listener may want"
            )
    return works.model_copy(update=change), words


@pytest.mark.parametrize("case", ["password", "mechanism", "tls", "plaintext"])
def test_publish_ends_with_it_at_once(kafka: StackSettings, tmp_path: Path, case: str) -> None:
    connection, words = refused(kafka, tmp_path, case)
    with pytest.raises(CounterflowError) as raised:
        publish_files([SAMPLE], kafka=connection, agent_id=f"publish-{case}")
    assert words in raised.value.message
    assert raised.value.hint


def test_a_lander_with_a_wrong_password_names_it(kafka: StackSettings, tmp_path: Path) -> None:
    secrets = shutil.copytree(kafka.secrets, tmp_path / "secrets")
    (secrets / "kafka-lander").write_text("not the password")
    (secrets / "clickhouse-lander").write_text("unused")
    places = {"COUNTERFLOW_HOME": str(tmp_path), "COUNTERFLOW_SECRETS": str(secrets)}
    places |= {"COUNTERFLOW_KAFKA_BOOTSTRAP": kafka.kafka_bootstrap}
    done = run_apart("dev", "land", "--until-caught-up", **places)
    assert done.returncode != 0
    words = f"refuses user `lander`: it does not know the user, or the password in {secrets}/kafka-lander is wrong"
    assert words in done.stderr + done.stdout
    assert "%3|" not in done.stderr


def test_topics_are_created_with_the_client_that_is_given(kafka: StackSettings, tmp_path: Path) -> None:
    """The user `admin` may not exist yet: here its password is not known."""
    given = AdminClient({**kafka.kafka("admin").client, "log_level": 0})
    create_topics(kafka.model_copy(update={"secrets": tmp_path}), topics(), admin=given)
    wanted = {topic.name for topic in topics()}
    until(lambda: wanted <= given.list_topics(timeout=10).topics.keys())

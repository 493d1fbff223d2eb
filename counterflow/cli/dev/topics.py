"""`counterflow dev topics`: the topics and users that an external Kafka cluster needs."""

from __future__ import annotations

import click

from counterflow.cli._group import Group
from counterflow.cli._json import write_json

_partitions = click.option(
    "--partitions",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Per topic, except those that need global order.",
)


@click.group(cls=Group)
def command() -> None:
    """Show or create the topics and users that Kafka needs; `counterflow up` creates those of the stack."""


@command.command("list")
@_partitions
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
def listing(partitions: int, as_json: bool) -> None:
    """List the topics with their partitions and configuration."""
    from counterflow.cli._table import console, table
    from counterflow.schemas import topics

    found = topics(partitions)
    if as_json:
        write_json(topic._asdict() for topic in found)
        return
    rows = [
        {
            "topic": topic.name,
            "partitions": topic.partitions,
            "config": " ".join(f"{name}={value}" for name, value in topic.config.items()),
        }
        for topic in found
    ]
    console(soft_wrap=True).print(table(rows))


@command.command()
@_partitions
@click.option("--replicas", type=click.IntRange(1), default=3, show_default=True, help="Per partition.")
@click.option(
    "--users/--no-users",
    default=False,
    help="Grant the users of docs/security.md their rights; set passwords from `secrets/kafka-<user>` where it exists.",
)
@click.option(
    "--as", "user", default="admin", show_default=True, help="Administrator; password in `secrets/kafka-<user>`."
)
@click.option("--mechanism", default="SCRAM-SHA-512", show_default=True, help="SASL mechanism of this user.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of text.")
def create(partitions: int, replicas: int, users: bool, user: str, mechanism: str, as_json: bool) -> None:
    """Create the topics that do not exist yet; existing ones keep their configuration."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    from counterflow.base.errors import CounterflowError
    from counterflow.schemas import topics
    from counterflow.stack.kafka import create_topics
    from counterflow.stack.kafka_users import USERS, set_grants, set_passwords
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.running()
    kafka = settings.kafka(user)
    admin = AdminClient({**kafka.client, "sasl.mechanism": mechanism, "log_level": 0})
    wanted = topics(partitions)
    try:
        create_topics(settings, wanted, replicas=replicas, admin=admin)
        if users:
            files = {name: settings.secrets / f"kafka-{name}" for name in USERS}
            set_passwords(
                admin, [(name, file.read_text().rstrip("\n")) for name, file in files.items() if file.exists()]
            )
            set_grants(admin)
    except KafkaException as error:
        raise CounterflowError(
            f"Kafka at {kafka.bootstrap}: {error.args[0].str()}", hint="choose another user with --as", exit_code=2
        ) from None
    if as_json:
        write_json([{"bootstrap": kafka.bootstrap, "topics": [topic.name for topic in wanted], "users": users}])
    else:
        click.echo(f"{len(wanted)} topics exist", err=True)

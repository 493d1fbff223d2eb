"""The broker's users and their rights: one user per role, no right beyond those listed here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from confluent_kafka.admin import (  # type: ignore[attr-defined] # its stub forgets to export some
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from counterflow.pipelines.landing.broker import GROUP
from counterflow.schemas.definition import CHECKPOINTS, published

ADMIN = "admin"
USERS = (ADMIN, "agent", "flink", "lander", "reader", "replay")
"""`admin` is for people and may do everything; the others are for parts and commands."""

_ITERATIONS = 4096  # Kafka's minimum: the passwords are random, and every connection pays for iterations
_TIMEOUT_S = 20.0
_READ, _WRITE, _DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
_TOPIC, _GROUP, _TRANSACTION = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
_BEGINS = ResourcePatternType.PREFIXED
_IS = ResourcePatternType.LITERAL


class Grant(NamedTuple):
    """A user's right to a resource, or to all that have its name as prefix; READ and WRITE include DESCRIBE."""

    user: str
    operation: AclOperation
    resource: ResourceType
    pattern: ResourcePatternType
    name: str


def grants() -> Iterator[Grant]:
    for name, dataset in published().items():
        versions = f"counterflow.{name}."  # any version of the dataset
        writers = ("flink",) if dataset.role == "result" else ("agent", "replay")
        for user in writers:
            yield Grant(user, _WRITE, _TOPIC, _BEGINS, versions)
        for user in ("flink", "lander", "reader"):
            yield Grant(user, _READ, _TOPIC, _BEGINS, versions)
    yield Grant("agent", _WRITE, _TOPIC, _IS, CHECKPOINTS)
    for user in ("agent", "reader"):
        yield Grant(user, _READ, _TOPIC, _IS, CHECKPOINTS)
    yield Grant("agent", _READ, _GROUP, _BEGINS, "counterflow-agent")
    # An agent may use any transactional id, whose newest process wins.
    yield Grant("agent", _WRITE, _TRANSACTION, _IS, "*")
    yield Grant("flink", _READ, _GROUP, _BEGINS, "flink.")
    yield Grant("lander", _READ, _GROUP, _IS, GROUP)
    yield Grant("reader", _DESCRIBE, _GROUP, _BEGINS, "counterflow")


def set_passwords(admin: AdminClient, passwords: Iterable[tuple[str, str]]) -> None:
    """Create the users, or set their passwords; raises `KafkaException` when the broker refuses."""
    mechanism = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, _ITERATIONS)
    changes: list[UserScramCredentialAlteration] = [
        UserScramCredentialUpsertion(user, mechanism, password.encode()) for user, password in passwords
    ]
    if changes:  # the client refuses an empty list
        for changed in admin.alter_user_scram_credentials(changes, request_timeout=_TIMEOUT_S).values():
            changed.result()


def set_grants(admin: AdminClient) -> None:
    """Set exactly these rights for Counterflow's users; other users are left alone."""
    wanted = {_binding(grant) for grant in grants()}
    anything: tuple[Any, ...] = (
        *(ResourceType.ANY, None, ResourcePatternType.ANY),
        *(None, None, AclOperation.ANY, AclPermissionType.ANY),
    )
    found = admin.describe_acls(AclBindingFilter(*anything), request_timeout=_TIMEOUT_S).result()
    ours = {f"User:{user}" for user in USERS}
    there = {acl for acl in found if acl.principal in ours}
    if too_much := [AclBindingFilter(*_parts(acl)) for acl in there - wanted]:
        for deleted in admin.delete_acls(too_much, request_timeout=_TIMEOUT_S).values():
            deleted.result()
    if missing := sorted(wanted - there):
        for created in admin.create_acls(missing, request_timeout=_TIMEOUT_S).values():
            created.result()


def _binding(grant: Grant) -> AclBinding:
    resource = grant.resource, grant.name, grant.pattern
    return AclBinding(*resource, f"User:{grant.user}", "*", grant.operation, AclPermissionType.ALLOW)


def _parts(acl: AclBinding) -> tuple[Any, ...]:
    resource = acl.restype, acl.name, acl.resource_pattern_type
    return *resource, acl.principal, acl.host, acl.operation, acl.permission_type

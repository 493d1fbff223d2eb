"""What tests against one real server share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas import topics
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.support.tables import empty_tables

_names = itertools.count(1)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name of the test's own for its agent and topics, so that its records are distinct from those of other tests."""
    return f"{request.path.stem}-{next(_names)}"


@pytest.fixture
def broker(kafka: StackSettings) -> StackSettings:
    """A broker with all topics, and whatever other tests published."""
    create_topics(kafka, topics())
    return kafka


@pytest.fixture
def client(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The administrator's client of an engine with all tables and no rows, for one test."""
    with empty_tables(clickhouse) as admin:
        yield admin


@pytest.fixture(scope="module")
def reader(clickhouse: StackSettings) -> Iterator[ClickHouse]:
    """The user who may only read."""
    with clickhouse.clickhouse("reader") as connected:
        yield connected


@pytest.fixture
def in_environment(clickhouse: StackSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that run in the process of the test find the engine."""
    for name, value in clickhouse.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COUNTERFLOW_CLICKHOUSE_PORT", str(clickhouse.clickhouse_port))


@pytest.fixture
def lander(clickhouse: StackSettings, client: ClickHouse) -> Iterator[ClickHouse]:
    """The lander's client of the same tables."""
    with clickhouse.clickhouse("lander") as connected:
        yield connected

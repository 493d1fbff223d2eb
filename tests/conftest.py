"""Real servers for the tests that need them, each on free ports, in a home of its own, and stopped whatever happens."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from counterflow.pipelines.jobs.driving import Driver
from counterflow.stack import lifecycle, supervision
from counterflow.stack.jobs import cluster
from counterflow.stack.settings import HOST, StackSettings
from tests.support import left_over

REPOSITORY = Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Leave out Java's optimising compiler, which would take a third of all time: servers live for minutes here.

    What an interrupted run of this checkout left behind ends now, and this run marks what it starts.
    """
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    if not hasattr(config, "workerinput"):
        left_over.end_left_over()
        os.environ[left_over.VARIABLE] = left_over.mark()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what the tests started and did not stop, for one because their own process was killed."""
    if not hasattr(config, "workerinput"):
        left_over.end_left_over(os.environ.get(left_over.VARIABLE))


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one process where there are several, and those of the whole stack: see `make test`.

    Those of the whole stack come first, since they take longest, then those with servers of their own.
    """
    items.sort(key=lambda item: -len({"stack", "new_stack"}.intersection(getattr(item, "fixturenames", ()))))
    for item in items:
        whole = "stack" in getattr(item, "fixturenames", ())
        item.add_marker(pytest.mark.xdist_group("stack" if whole else item.path.stem))


@pytest.fixture(scope="session")
def new_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], StackSettings]]:
    """Settings of another stack, not started yet; the software is shared with the checkout's own stack."""
    parts = os.environ.get("COUNTERFLOW_PARTS", str(REPOSITORY / ".counterflow/parts"))
    made: list[StackSettings] = []

    def make() -> StackSettings:
        made.append(free_settings(tmp_path_factory.mktemp("stack"), Path(parts)))
        return made[-1]

    try:
        yield make
    finally:
        for settings in made:
            lifecycle.down(settings)


@pytest.fixture(scope="session")
def printed_at_start() -> list[str]:
    """What `stack` printed while it started."""
    return []


@pytest.fixture(scope="session")
def before_start() -> Callable[[StackSettings], None]:
    """What is done to the home of `stack` first: nothing; `make faults` makes disks of its folders."""
    return lambda _: None


@pytest.fixture(scope="session")
def stack(
    new_stack: Callable[[], StackSettings],
    printed_at_start: list[str],
    before_start: Callable[[StackSettings], None],
) -> StackSettings:
    """The whole stack: topics, tables, lander and jobs."""
    settings = new_stack()
    before_start(settings)
    lifecycle.up(settings, say=printed_at_start.append)
    return settings


@pytest.fixture(scope="session")
def bare(new_stack: Callable[[], StackSettings]) -> StackSettings:
    """A stack of which `kafka` and `clickhouse` start only themselves: no topics, no tables, nobody else at work."""
    return new_stack()


@pytest.fixture(scope="session")
def kafka(bare: StackSettings) -> StackSettings:
    """An empty broker, at `kafka_bootstrap`."""
    lifecycle.start(bare, "kafka")
    return bare


@pytest.fixture(scope="session")
def clickhouse(bare: StackSettings) -> StackSettings:
    """An empty ClickHouse engine, at `clickhouse_url`, with the users of `clickhouse_password`."""
    lifecycle.start(bare, "clickhouse")
    return bare


@pytest.fixture(scope="module")
def flink(kafka: StackSettings) -> Iterator[StackSettings]:
    """A broker and a Flink cluster without jobs, at `flink_url`; it ends with the tests of the file."""
    lifecycle.start(kafka, "jobmanager", "taskmanager")
    yield kafka
    for part in ("taskmanager", "jobmanager"):
        supervision.stop(kafka, part)


@pytest.fixture(scope="session")
def driver(bare: StackSettings) -> Iterator[Driver]:
    """What plans the jobs that tests give to `flink`."""
    with cluster(bare).driver() as kept:
        yield kept


def free_settings(home: Path, parts: Path) -> StackSettings:
    """Settings of a stack on free ports."""
    names = [name for name in StackSettings.model_fields if name.endswith("_port")]
    ports = dict(zip(names, _free_ports(len(names)), strict=True))
    return StackSettings.from_environment({}, home=home, parts=parts, **ports)


def _free_ports(count: int) -> list[int]:
    """Ports nobody listens on, below those the kernel gives to outgoing connections: such a one may be gone at once."""
    candidates = random.sample(range(20_000, 32_000), 40 + count)
    return [port for port in candidates if _is_free(port)][:count]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) != 0

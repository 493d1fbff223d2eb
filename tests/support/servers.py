"""Real servers for the tests that need them, each on free ports, in its own home, and stopped whatever happens."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from counterflow.stack import lifecycle, supervision
from counterflow.stack.settings import StackSettings
from tests.support import left_over
from tests.support.dds import Authority
from tests.support.ports import free_ports

REPOSITORY = Path(__file__).resolve().parents[2]

_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
settings.register_profile("few", max_examples=20, deadline=None, suppress_health_check=_SLOW)
settings.register_profile("ci", settings.get_profile("few"), derandomize=True, database=None)
settings.register_profile("fuzz", settings.get_profile("few"), max_examples=1_000)
settings.load_profile("few")


def pytest_configure(config: pytest.Config) -> None:
    """Disable Java's optimising compiler, which would take a third of the time: servers live for minutes here.

    End what an interrupted run of this checkout left behind, and mark what this run starts. A shell ignores SIGINT in
    what it starts in the background, and commands that are tested would inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    if not hasattr(config, "workerinput"):
        left_over.end_left_over()
        os.environ[left_over.VARIABLE] = left_over.mark()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what the tests started and did not stop, for example because their own process was killed."""
    if not hasattr(config, "workerinput"):
        left_over.end_left_over(os.environ.get(left_over.VARIABLE))


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one process, and those that share a server in one, when `make test` runs several.

    Tests of the whole stack come first, since they take longest; then those of Flink, and those with other servers.
    """
    shared = ("stack", "flink", "new_stack")
    used = {item: next((n for n in shared if n in getattr(item, "fixturenames", ())), None) for item in items}
    items.sort(key=lambda item: shared.index(name) if (name := used[item]) else len(shared))
    for item in items:
        group = used[item] if used[item] in ("stack", "flink") else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(trylast=True)  # after the fixtures of the test
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Stop the whole stack, and Flink, after their last test: they would take time from the tests that follow."""
    after = getattr(nextitem, "fixturenames", ())
    ended = {name: given for name, given in getattr(item, "funcargs", {}).items() if name not in after}
    if "stack" in ended:
        lifecycle.down(ended["stack"])
    if "flink" in ended:
        for part in ("taskmanager", "jobmanager"):
            supervision.stop(ended["flink"], part)


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
    """Prepare the home of `stack` before it starts. Does nothing here; `make faults` mounts disks over its folders."""
    return lambda _: None


@pytest.fixture(scope="session")
def stack(
    new_stack: Callable[[], StackSettings],
    printed_at_start: list[str],
    before_start: Callable[[StackSettings], None],
    tmp_path_factory: pytest.TempPathFactory,
) -> StackSettings:
    """The whole stack, over TLS: topics, tables, lander and jobs. It starts with another Python first on PATH."""
    settings = Authority(tmp_path_factory.mktemp("authority")).over_tls(new_stack())
    before_start(settings)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{another_python(tmp_path_factory.mktemp('python'))}{os.pathsep}{os.environ['PATH']}")
        lifecycle.up(settings, report=printed_at_start.append)
    return settings


@pytest.fixture(scope="session")
def bare(new_stack: Callable[[], StackSettings]) -> StackSettings:
    """A stack in which `kafka` and `clickhouse` start their own part only: no topics, no tables, no other part."""
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


@pytest.fixture(scope="session")
def flink(kafka: StackSettings) -> StackSettings:
    """A broker and a Flink cluster, at `flink_url`; the tests of a file cancel their jobs."""
    lifecycle.start(kafka, "jobmanager", "taskmanager")
    return kafka


def another_python(folder: Path) -> Path:
    """Make a Python whose standard library lacks `struct`, which breaks any Python that uses it; return its `bin`."""
    library = folder / "lib/python{}.{}".format(*sys.version_info)
    library.mkdir(parents=True)
    for entry in Path(sysconfig.get_path("stdlib")).iterdir():
        if entry.name != "struct.py":
            (library / entry.name).symlink_to(entry)
    program = folder / "bin/python3"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    return program.parent


def free_settings(home: Path, parts: Path) -> StackSettings:
    """Settings of a stack on free ports."""
    names = [name for name in StackSettings.model_fields if name.endswith("_port")]
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    return StackSettings.from_environment({}, home=home, parts=parts, **ports)

"""The command line as a stranger runs it, against the one real stack of the test session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from counterflow.clickhouse import ClickHouse
from counterflow.stack.settings import StackSettings

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def environment(stack: StackSettings) -> dict[str, str]:
    """The environment in which the commands find the stack."""
    return {**os.environ, "COUNTERFLOW_HOME": str(stack.home), "COUNTERFLOW_PARTS": str(stack.parts)}


@pytest.fixture(scope="session")
def counterflow(environment: dict[str, str]) -> Run:
    """Run `counterflow ARGUMENTS`; returns when it ends."""

    def run(*arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "counterflow", *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)

    return run


@pytest.fixture(scope="session")
def reader(stack: StackSettings) -> Iterator[ClickHouse]:
    """ClickHouse as the user who may only read."""
    with ClickHouse(stack.clickhouse_url, "reader", stack.clickhouse_password("reader")) as client:
        yield client

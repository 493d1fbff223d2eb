"""What every fault shares: a line under load, and the report of what it cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from counterflow.stack import lifecycle
from counterflow.stack.settings import StackSettings
from tests.faults.disks import mount
from tests.faults.line import Line, Verdict
from tests.faults.table import COUNTS
from tests.support.waiting import until


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--kills`, the number of random kills, `--disks`, and `--costs`."""
    parser.addoption("--kills", type=int, default=10, help="SIGKILLs at random over all parts")
    parser.addoption("--costs", type=Path, help="file to which what each fault cost is appended, as JSON")
    parser.addoption("--disks", action="store_true", help="data and checkpoints of the stack on disks of their own")


@pytest.fixture(scope="session")
def before_start(request: pytest.FixtureRequest) -> Callable[[StackSettings], None]:
    """Mount a disk for each folder that a fault fills, where `make faults` gives a mount namespace of its own."""
    return mount if request.config.getoption("--disks", default=False) else lambda _: None


@pytest.fixture
def line(stack: StackSettings, tmp_path: Path) -> Iterator[Line]:
    """The stack, recovered from earlier tests, under a load of its own whose first results have arrived."""
    until(lambda: all(part.state == "running" for part in lifecycle.status(stack)), within_s=300)
    with Line(stack, tmp_path) as line:
        line.back()
        yield line


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Record what a fault cost, by its number; it must have cost nothing but time.

    A test without a verdict of the oracle has found nothing lost, doubled or wrong itself.
    """

    def write(number: int, seconds: float, verdict: Verdict | None = None, expected: int = 0) -> None:
        assert verdict is None or verdict.right or verdict.lost == expected > 0, verdict
        counts = {name: getattr(verdict, name, 0) for name in COUNTS}
        if costs := request.config.getoption("--costs", default=None):
            with costs.open("a") as out:
                out.write(json.dumps({"number": number, "seconds": round(seconds, 1), **counts}) + "\n")

    return write

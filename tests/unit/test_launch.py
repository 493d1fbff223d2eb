"""When a part that ended is started again."""

from __future__ import annotations

import msgspec
import pytest

from counterflow.stack.launch import ProcessRecord, now


def waits(run: ProcessRecord, lived_s: float, ends: int) -> list[float]:
    """Return the seconds before each start of a part that ends so long after each."""
    found = []
    for _ in range(ends):
        run = msgspec.structs.replace(run.again(), started_s=now() - lived_s)
        found.append(run.wait_s)
    return found


def test_a_part_that_ends_at_once_waits_twice_as_long_each_time_up_to_fifteen_seconds() -> None:
    began = ProcessRecord(started_s=now())
    assert waits(began, lived_s=0, ends=7) == pytest.approx([1, 2, 4, 8, 15, 15, 15], abs=0.2)


def test_a_part_that_had_run_is_started_again_at_once() -> None:
    began = ProcessRecord(started_s=now() - 60, failures=5)
    assert waits(began, lived_s=60, ends=2) == [0, 0]

"""Landing that stands still though nothing is known to hold it up."""

from __future__ import annotations

from counterflow.pipelines.landing.progress import END_S, PROBLEM_S, Stillness

ONE, OTHER = ("counterflow.disk.v2", 0), ("counterflow.disk.v2", 1)


def test_a_partition_that_waits_at_one_offset_stands_still() -> None:
    stillness = Stillness()
    assert stillness.longest_s == 0
    for second in range(END_S + 2):
        stillness.look({ONE: 7, OTHER: second})  # the other lands
        assert stillness.longest_s == second
    assert PROBLEM_S < END_S < stillness.longest_s


def test_what_lands_or_has_a_known_cause_to_wait_does_not_stand_still() -> None:
    stillness = Stillness()
    for _ in range(3):
        stillness.look({ONE: 7, OTHER: 7})
    stillness.look({ONE: 8, OTHER: 7})
    assert stillness.longest_s == 3
    stillness.look({ONE: 8})  # the other has no message left, or waits for ClickHouse
    assert stillness.longest_s == 1
    stillness.look({ONE: 9, OTHER: 7})  # and waits from now on
    assert stillness.longest_s == 0
    stillness.look({ONE: 10, OTHER: 7})
    assert stillness.longest_s == 1

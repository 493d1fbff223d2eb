"""No path has become much slower than recorded; one that has is named, with the commit that it is compared with."""

from __future__ import annotations

import json

from bench import gate


def test_nothing_has_become_slower_than_recorded() -> None:
    assert gate.lasting(json.loads(gate.RECORDED.read_text())) == []


def test_a_path_that_has_become_slower_or_has_no_record_is_named() -> None:
    recorded = gate.Recorded(commit="0a1b2c", ratios={"parse": 2.0, "encode": 1.0})
    assert gate.slower({"parse": 4.1, "encode": 1.5, "new": 1.0}, recorded) == [
        "new: no ratio is recorded",
        "parse: 4.1 x the fixed task, 2.05 x the 2.0 of commit 0a1b2c",
    ]


def test_work_that_is_done_twice_is_seen() -> None:
    """The margin is no wider than a factor of two, and the clock detects that factor."""
    once = gate._cpu_s(gate._fixed_task)
    assert gate.MARGIN <= 2
    assert gate._cpu_s(lambda: [gate._fixed_task() for _ in range(20)]) > 5 * once

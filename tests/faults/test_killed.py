"""The short form, in every run of the suite: parts killed in quick succession while the line is busy, then one audit.

They are those that carry records. The JobManager is left out, since its jobs take longest to be submitted again:
`make faults` and test_jobs kill it. `make faults` kills every part, alone and at random.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

from counterflow.stack import lifecycle
from counterflow.stack.settings import StackSettings
from tests.faults.line import Line
from tests.support.waiting import until

PARTS = ["agent", "kafka", "clickhouse", "taskmanager", "lander"]


def test_nothing_is_lost_when_parts_are_killed_in_quick_succession(stack: StackSettings, tmp_path: Path) -> None:
    chance = random.Random(7)
    with Line(stack, tmp_path) as line:
        line.back()
        for part in chance.sample(PARTS, len(PARTS)):
            line.kill(part)
            time.sleep(chance.uniform(0, 1))
        line.back()
        until(lambda: all(part.state == "running" for part in lifecycle.status(stack)))
        verdict = line.oracle()
        assert verdict.right, verdict

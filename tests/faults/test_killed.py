"""The short form, in every run of the suite: each part killed while the line is busy, one oracle at the end."""

from __future__ import annotations

import random
import time
from pathlib import Path

from counterflow.stack import lifecycle
from counterflow.stack.settings import StackSettings
from tests.agents import until
from tests.faults.line import PARTS, Line, right


def test_every_part_killed_once_and_nothing_is_lost(stack: StackSettings, tmp_path: Path) -> None:
    chance = random.Random(7)
    with Line(stack, tmp_path) as line:
        line.back()
        for part in chance.sample([*PARTS, "agent"], len(PARTS) + 1):
            line.kill(part)
            time.sleep(chance.uniform(0, 1.5))
        line.back()
        until(lambda: all(part.state == "running" for part in lifecycle.status(stack)), 60)
        verdict = line.oracle()
        assert right(verdict), verdict

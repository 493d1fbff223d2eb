"""An agent that kills itself: `python -m tests.faults.agent_killed_at POINT NTH agent run --config ...`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from counterflow.cli import main
from counterflow.collectors.agent.publisher import Publisher

POINTS: dict[str, tuple[str, bool, tuple[int, ...]]] = {
    "the name is being taken over": ("_start", False, (1,)),
    "the name is taken over": ("start", True, (1,)),
    "a record is about to be sent": ("send", False, (1, 500)),
    "a record is sent": ("send", True, (1, 500)),
    "a commit begins, its checkpoint is not sent": ("_commit", False, (2, 5)),
    "a request for the topics, the name, the checkpoints, a commit is about to be made": (
        "_until",
        False,
        (1, 2, 3, 4, 5, 8),
    ),
    "the broker has answered": ("_until", True, (1, 2, 3, 4, 5, 8)),
    "a commit is done, but not yet known": ("_commit", True, (2, 5)),
}
"""Methods of the publisher, whether the process ends after them, and at which call."""


def killed(call: Callable[..., Any], nth: int, behind: bool) -> Callable[..., Any]:
    """Wrap `call` so that its n-th call ends the process."""
    times = iter(range(nth - 1, -1, -1))

    def wrapper(*arguments: Any, **named: Any) -> Any:
        last = next(times) == 0
        result = None if last and not behind else call(*arguments, **named)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return wrapper


if __name__ == "__main__":
    _, point, nth, *words = sys.argv
    name, behind, _ = POINTS[point]
    setattr(Publisher, name, killed(getattr(Publisher, name), int(nth), behind))
    sys.argv = ["counterflow", *words]
    main()

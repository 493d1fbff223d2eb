"""Notices that messages wait and none lands, for no known cause. Pure but for its clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from counterflow.pipelines.landing.lane import Key

PROBLEM_S = 30.0
"""After so long it is a problem."""
END_S = 60.0
"""After so long the lander ends, so that its supervisor starts it again, with a new connection and assignment."""


class Stillness:
    """How long each partition that has messages has stood at one offset."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stood: dict[Key, tuple[int, float]] = {}

    def look(self, waiting: Mapping[Key, int]) -> None:
        """Note the next offset to land of each partition that has messages and no known cause to wait."""
        now = self._clock()
        self._stood = {
            key: self._stood[key] if key in self._stood and self._stood[key][0] == offset else (offset, now)
            for key, offset in waiting.items()
        }

    @property
    def longest_s(self) -> float:
        """Seconds for which the partition that stood longest has stood; 0 where none waits."""
        now = self._clock()
        return max((now - since for _, since in [*self._stood.values()]), default=0.0)

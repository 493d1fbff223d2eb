"""Computes again what sums over landed rows, in the background, while rows land."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import structlog

_OF_OTHERS_S = 240.0  # what other landers landed
_OF_THIS_ONE_S = 30.0  # what this one landed: each refresh computes the hours of live systems again

log = structlog.get_logger()


class Refresher:
    """Calls `refresh` twice a minute while rows land, and every four minutes."""

    def __init__(self, refresh: Callable[[], object]) -> None:
        self._refresh = refresh
        self._running: Future[object] | None = None
        self._begun_at = float("-inf")
        self.landed = False
        """Whether rows landed since the last refresh began."""

    def start(self, pool: ThreadPoolExecutor) -> None:
        """Begin a refresh in `pool` where one is due and none runs."""
        if self._running and self._running.done():
            if error := self._running.exception():
                log.warning("refresh failed, will be retried", error=str(error)[:500])
            self._running = None
        now = time.monotonic()
        due = now - self._begun_at >= (_OF_THIS_ONE_S if self.landed else _OF_OTHERS_S)
        if due and not self._running:
            self._begun_at, self.landed = now, False
            self._running = pool.submit(self._refresh)

"""Queries one system in a thread of its own, so that a slow system delays no other.

A `PollingThread` sends the queries that are due and lets each `Batch` wait to be taken; where there is no room, it
waits. A batch carries the position that it reaches, so the publisher can commit both together, and a thread that begins
at the committed position goes on exactly there.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from threading import Event, Thread
from typing import Generic, TypeVar

import structlog
from tenacity import (
    RetryCallState,
    RetryError,
    Retrying,
    retry_if_exception_type,
    sleep_using_event,
    stop_when_event_set,
    wait_exponential_jitter,
)

from counterflow.collectors.sources.polling.batch import Batch, Task
from counterflow.collectors.sources.polling.session import Session, SessionError
from counterflow.collectors.sources.polling.waiting import Spool

log = structlog.get_logger()

FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 300.0
"""Back-off of a connection that cannot be made: it doubles between these."""

OnEvent = Callable[[str], None]
"""Called with `connected`, `lost`, `refused`, `failed` or `broken`, when that happens."""


_Polled = TypeVar("_Polled", bound=Session)


class PollingThread(Generic[_Polled]):
    """The thread of one system. Times are multiples of the interval, so that several systems are queried at once.

    Its batches wait in `waiting`.
    """

    def __init__(
        self,
        name: str,
        session: _Polled,
        tasks: Sequence[Task[_Polled]],
        on_event: OnEvent,
        waiting: Spool,
        *,
        drain: bool = False,
    ) -> None:
        """With `drain`, what the session holds once it is closed is kept, too."""
        self._name = name
        self._session = session
        self._due = dict.fromkeys(tasks, 0.0)
        self._on_event = on_event
        self._stop = Event()
        self.waiting = waiting
        self._drain = drain
        self._thread = Thread(target=self._run, name=f"polling-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Send no more queries."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        """Wait for the thread to end; one that hangs in a query is left alone."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._connect()
                self._query_due()
            except SessionError as error:
                self._postpone()
                self._on_event(error.kind.value)
                log.warning("connection lost", source=self._name, error=str(error))
            except Exception as error:  # a defect: the thread goes on
                self._postpone()
                self._report_defect(error)
            self._stop.wait(self._wait_s())
        self._session.close()
        if self._drain:
            for batch in (batch for task in self._due for batch in task.read(self._session)):
                self._put(batch)

    def _is_due(self, task: Task[_Polled], now: float) -> bool:
        """Return whether a query is due, also where the clock was set back and its time is far away."""
        return not 0 < self._due[task] - now <= task.interval_s + 1

    def _wait_s(self) -> float:
        """Return the time until a query is due, or until the shortest interval is over."""
        now = time.time()
        return max(0.0, min(min(at - now, task.interval_s) for task, at in self._due.items()))

    def _postpone(self) -> None:
        """Postpone the due queries to their next interval, so that a system that hangs up is not rushed."""
        now = time.time()
        for task in self._due:
            if self._is_due(task, now):
                self._due[task] = (now // task.interval_s + 1) * task.interval_s

    def _connect(self) -> None:
        """Connect, unless connected; retry until that succeeds or the reader is stopped."""
        number = self._session.number
        retrying = Retrying(
            retry=retry_if_exception_type(SessionError),
            wait=wait_exponential_jitter(FIRST_WAIT_S, LONGEST_WAIT_S),
            stop=stop_when_event_set(self._stop),
            sleep=sleep_using_event(self._stop),
            before_sleep=self._report,
        )
        try:
            retrying(self._session.open)
        except RetryError:
            return
        if self._session.number != number:
            self._on_event("connected")
            log.info("connected", source=self._name)

    def _report(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, SessionError):
            self._on_event(error.kind.value)
            log.warning("not connected", source=self._name, why=error.kind.value, error=str(error))

    def _query_due(self) -> None:
        """Query until nothing is due; queries with several batches take turns, batch by batch."""
        under_way: dict[Task[_Polled], Iterator[Batch]] = {}
        while not self._stop.is_set():
            now = time.time()
            due = [task for task in self._due if task not in under_way and self._is_due(task, now)]
            under_way |= {task: task.read(self._session) for task in due}
            if not under_way:
                return
            for task, answers in list(under_way.items()):
                batch = self._next(answers)
                if batch is None:
                    del under_way[task]
                    self._due[task] = (time.time() // task.interval_s + 1) * task.interval_s
                else:
                    self._put(batch)

    def _next(self, answers: Iterator[Batch]) -> Batch | None:
        try:
            batch = next(answers, None)
        except SessionError:
            raise
        except Exception as error:  # a defect: the others go on
            self._report_defect(error)
            return None
        if batch is not None and batch.trouble is not None:
            self._on_event("failed")
            log.warning("no answer", source=self._name, table=batch.table, error=batch.trouble)
        return batch

    def _report_defect(self, error: Exception) -> None:
        self._on_event("broken")
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = self._session.text(error)
        log.error("the query failed", source=self._name, error=text, file=where.filename, line=where.lineno)

    def _put(self, batch: Batch) -> None:
        """Let a batch wait as soon as there is room; without room it is dropped when the reader is stopped."""
        while not self.waiting.put(batch) and not self._stop.wait(0.02):
            pass

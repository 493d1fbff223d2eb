"""SIGTERM and SIGINT as an event on which a program's loop waits."""

from __future__ import annotations

import signal
from queue import SimpleQueue
from threading import Event, Thread


def stopping() -> Event:
    """Return an event that SIGTERM or SIGINT sets; call it from the main thread.

    Python runs a signal's handler in the main thread between any two steps, also while that thread holds the lock of
    `Event.wait`. A handler that set the event itself would then wait for that lock forever. `SimpleQueue.put` may
    interrupt anything, and another thread sets the event.
    """
    stop, received = Event(), SimpleQueue[int]()

    def pass_on() -> None:
        received.get()
        stop.set()

    Thread(target=pass_on, name="stopping", daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: received.put(number))
    return stop

"""A program ends at SIGTERM whatever it does at that moment, also while it holds the lock of the event it waits for."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE_S

LOOP = """
from counterflow.base.stopping import stopping
stop = stopping()
print(flush=True)
while not stop.wait({seconds}):
    pass
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_waits_ends(number: signal.Signals) -> None:
    ends(number, seconds=600)


def test_a_program_within_the_lock_of_its_event_ends() -> None:
    for _ in range(8):  # with a handler that sets the event, every second one hung
        ends(signal.SIGTERM, seconds=0)


def ends(number: signal.Signals, seconds: float) -> None:
    with subprocess.Popen([sys.executable, "-c", LOOP.format(seconds=seconds)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            process.stdout.readline()
            process.send_signal(number)
            assert process.wait(PATIENCE_S) == 0
        finally:
            process.kill()

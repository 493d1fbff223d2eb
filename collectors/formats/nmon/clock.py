"""When the snapshots of a run were taken, and how long each is."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict
from datetime import datetime
from typing import Any

from counterflow.collectors.formats.nmon.account import Account
from counterflow.collectors.formats.nmon.headers import Facts
from counterflow.collectors.records import Reason
from counterflow.collectors.text import stamps
from counterflow.collectors.text.lines import Line
from counterflow.collectors.text.periods import is_gap
from counterflow.collectors.text.placing import Placed, in_one_second

LINUX_FIRST_S = 1.0
"""The first snapshot of Linux nmon covers the second for which it sleeps before its first row."""


class Clock:
    """The times of the snapshots of one run.

    `number` and `instant` are those of the last snapshot that was finished, 0 and None before the first.
    """

    def __init__(self, account: Account) -> None:
        """Begin before the first snapshot."""
        self._account = account
        self.number = 0
        self.instant: datetime | None = None
        self._elapsed_s: float | None = None  # between the last two, a snapshot
        self._placed = Placed()
        self._placed_of: str | None = None

    def begin(self, system: str | None) -> None:
        """Begin a run; the stamps of the one before are remembered where it is of the same system."""
        self.number, self.instant, self._elapsed_s = 0, None, None
        if self._placed_of != system:
            self._placed, self._placed_of = Placed(), system

    @property
    def _stamp(self) -> datetime | None:
        """The time of the last snapshot that was finished, as its stamp has it."""
        return self.instant and self._placed.of(self.instant)

    def apart(self, line: Line, number: int, stamp: datetime, facts: Facts) -> datetime:
        """Return when a snapshot was taken: an interval later, where its stamp is of the second of the one before."""
        before, steps = self._stamp, number - self.number
        found = in_one_second(before, stamp, steps, facts.seconds) if before is not None and steps > 0 else None
        if found is None:
            return stamp
        detail = "two stamps in one second: this snapshot, and each such after it, is placed an interval later"
        self._account.once("same second", line, Reason.INFERRED, detail)
        return found

    def lengths_s(self, line: Line, number: int, taken: datetime, facts: Facts) -> tuple[float | None, float | None]:
        """Return how many seconds a snapshot is of, None where that is not known, and those of a gap before it.

        Behind a gap it is of the usual ones.
        """
        nominal, before = facts.seconds, self._stamp
        if before is None:
            return LINUX_FIRST_S if number == 1 and facts.os == "Linux" else nominal, None
        elapsed_s, apart_s = self._elapsed_s, (taken - before).total_seconds()
        self._elapsed_s = apart_s / (number - self.number)
        usual_s = nominal or elapsed_s
        if usual_s is not None and is_gap(self._elapsed_s, max(usual_s, elapsed_s or 0)):
            return usual_s, apart_s
        length = stamps.interval(before, taken, number - self.number, nominal)
        if length.note is not None:
            shown = "not known" if length.seconds is None else f"{length.seconds:g} s, the interval of the recording"
            self._account.reject(line, Reason.CLOCK_CHANGE, f"{length.note}; its length is {shown}", "all")
        return length.seconds, None

    def place(self, taken: datetime) -> datetime:
        """Return the instant of the next snapshot, which no snapshot before it has."""
        return self._placed.place(taken, self._stamp)

    def state(self) -> dict[str, Any]:
        """Return JSON values, from which `restore` goes on behind the last finished snapshot."""
        return {
            "number": self.number,
            "instant": stamps.iso(self.instant) if self.instant else None,
            "elapsed_s": self._elapsed_s,
            "placed": asdict(self._placed),
            "placed_of": self._placed_of,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.number = state["number"]
        self.instant = datetime.fromisoformat(state["instant"]) if state["instant"] else None
        self._elapsed_s = state["elapsed_s"]
        self._placed, self._placed_of = Placed(**deepcopy(state["placed"])), state["placed_of"]

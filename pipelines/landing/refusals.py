"""When so much of a topic is refused that landing it would only fill the dead letters. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

WINDOW = 10_000
"""Messages of a topic over which the share is taken. While fewer were seen, it is of this many all the same."""


class Outcome(NamedTuple):
    """Of one batch: its messages, and how many of them were refused."""

    messages: int
    refused: int


class TooManyRefused(Exception):  # noqa: N818 - of the data, not of the program
    """More of a topic is refused than may be: nothing of the batch was kept as a dead letter."""


def newest(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the batches, newest first as given, that together have the last `WINDOW` messages; whole batches only."""
    kept: list[Outcome] = []
    messages = 0
    for outcome in outcomes:
        if messages >= WINDOW:
            break
        kept.append(outcome)
        messages += outcome.messages
    return tuple(kept)


def share(outcomes: Iterable[Outcome]) -> float:
    """Return which share, 0 to 1, of the last `WINDOW` messages was refused; `outcomes` are newest first."""
    last = newest(outcomes)
    return sum(outcome.refused for outcome in last) / max(WINDOW, sum(outcome.messages for outcome in last))

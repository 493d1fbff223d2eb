"""Finds the topics of which so much is rejected that landing them would only fill the dead letters. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from counterflow.pipelines.landing.writer import LandedBatch

WINDOW = 10_000
"""Rows of a topic over which the share is computed; also the divisor while fewer have been seen."""


class Outcome(NamedTuple):
    """One batch: the number of its rows, and how many were rejected."""

    rows: int
    refused: int


class Refusals:
    """What was rejected of the last rows of each topic.

    Parameters
    ----------
    most : share, 0 to 1, above which a topic is paused. So many rejects are not single bad rows, and messages are safer
        in Kafka until the cause is fixed.
    """

    def __init__(self, most: float) -> None:
        self.most = most
        self.paused: dict[str, str] = {}
        """Topics with too many rejects, and the first error of the last batch."""
        self._outcomes: dict[str, tuple[Outcome, ...]] = {}

    def count(self, topic: str, landed: LandedBatch) -> bool:
        """Count a batch, and return whether its topic is paused from now on."""
        refused = sum(refusal.rows for refusal in landed.refused)
        batch = Outcome(landed.rows + refused, refused)
        self._outcomes[topic] = newest((batch, *self._outcomes.get(topic, ())))
        if not landed.refused or topic in self.paused or share(self._outcomes[topic]) <= self.most:
            return False
        first = landed.refused[0]
        self.paused[topic] = f"{refused} of the last {batch.rows}; {first.reason}: {first.error[:300]}"
        return True


def newest(outcomes: Iterable[Outcome]) -> tuple[Outcome, ...]:
    """Return the newest whole batches that cover the last `WINDOW` rows; input and output are newest first."""
    kept: list[Outcome] = []
    rows = 0
    for outcome in outcomes:
        if rows >= WINDOW:
            break
        kept.append(outcome)
        rows += outcome.rows
    return tuple(kept)


def share(outcomes: Sequence[Outcome]) -> float:
    """Return the rejected share, 0 to 1, of the rows of `outcomes`, or of `WINDOW` where they are fewer."""
    return sum(outcome.refused for outcome in outcomes) / max(WINDOW, sum(outcome.rows for outcome in outcomes))

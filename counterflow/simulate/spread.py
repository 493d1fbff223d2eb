"""Totals broken into whole counts: whatever the noise, the parts add up to the total exactly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random


def uneven(parts: int, random: Random, noise: float) -> list[float]:
    """Return weights around 1, each at most `noise` away."""
    return [random.uniform(1 - noise, 1 + noise) for _ in range(parts)]


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Return whole counts in proportion to `weights` that add up to `total`; all 0 where every weight is."""
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    ends = [round(total * reached / whole) for reached in accumulate(weights)]
    ends[-1] = total
    return [end - begin for begin, end in zip([0, *ends[:-1]], ends, strict=True)]

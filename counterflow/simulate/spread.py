"""Splits totals into whole counts: whatever the noise, the parts add up to the total exactly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, cycle, islice
from math import exp
from random import Random


def uneven(parts: int, random: Random, noise: float) -> list[float]:
    """Return weights around 1, each at most `noise` away."""
    return [random.uniform(1 - noise, 1 + noise) for _ in range(parts)]


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Return whole counts in proportion to `weights` that add up to `total`; all 0 where every weight is 0."""
    whole = sum(weights)
    if not whole:
        return [0] * len(weights)
    ends = [round(total * reached / whole) for reached in accumulate(weights)]
    ends[-1] = total
    return [end - begin for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def between(low: int, mean: float, high: int, profile: Sequence[float]) -> list[int]:
    """Return whole figures that follow `profile`: its 0 becomes `low`, its 1 `high`, and the mean is `mean`.

    The mean is that of a whole total. Between both ends the profile is bent as far as the mean requires.

    Parameters
    ----------
    low, mean, high : in this order.
    profile : values from 0 to 1, including both.
    """
    wanted = (mean - low) / (high - low)
    least, most = -10.0, 10.0
    for _ in range(100):
        bend = (least + most) / 2
        reached = sum(p ** exp(bend) for p in profile) / len(profile)
        least, most = (bend, most) if reached > wanted else (least, bend)
    bent = [round(low + (high - low) * p ** exp(bend)) for p in profile]
    missing = round(mean * len(profile)) - sum(bent)
    step = 1 if missing > 0 else -1
    free = (at for at in cycle(range(len(bent))) if low < bent[at] + step < high and low < bent[at] < high)
    for at in islice(free, abs(missing)):
        bent[at] += step
    return bent


def profile(parts: int, random: Random) -> list[float]:
    """Return figures from 0 to 1, including both, in random order."""
    inner = [random.uniform(0.02, 0.98) for _ in range(parts - 2)]
    return random.sample([0.0, 1.0, *inner], parts)

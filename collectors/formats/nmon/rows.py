"""A numeric row after it was read, and the amounts computed from its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from counterflow.collectors.formats.nmon.headers import Layout

Values = Sequence[float | None]

_DECIMALS = 1000.0
"""Amounts are kept to three decimals: no figure of a recording has more when multiplied by its interval."""


class Row(NamedTuple):
    """The values of one section in one snapshot; `gaps` means that some are missing."""

    layout: Layout
    values: Values
    gaps: bool = False


def amounts(values: Values, factor: float, *, gaps: bool = True) -> Values:
    """Return values times `factor`, rounded; without `gaps` none is missing. Values and factor are not negative.

    Beside 1.5 * 2^52 a float has no fraction, so adding it and subtracting it again rounds; round() would take four
    times as long. It rounds halves to even, but a figure of two decimals times seconds leaves none.
    """
    scale, whole = factor * _DECIMALS, 1.5 * 2**52
    if gaps:
        return [None if v is None else int(v * scale + 0.5) / _DECIMALS for v in values]
    return [v and (v * scale + whole - whole) / _DECIMALS for v in values]

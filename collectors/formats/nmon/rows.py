"""A numeric row once it was read, and the amounts made of its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from counterflow.collectors.formats.nmon.headers import Layout

Values = Sequence[float | None]

_DECIMALS = 1000
"""Amounts are kept to three decimals: no figure of a recording has more, times its interval."""


class Row(NamedTuple):
    """The values of one section in one snapshot; `gaps` means that some are missing."""

    layout: Layout
    values: Values
    gaps: bool = False


def amount(value: float, factor: float) -> float:
    """Return `value` times `factor`, rounded. Neither is negative; round() would be five times slower."""
    return int(value * factor * _DECIMALS + 0.5) / _DECIMALS


def amounts(row: Row, factor: float) -> Values:
    """Return the values of a row times `factor`, rounded."""
    scale = factor * _DECIMALS
    if row.gaps:
        return [None if v is None else int(v * scale + 0.5) / _DECIMALS for v in row.values]
    return [v and int(v * scale + 0.5) / _DECIMALS for v in row.values]

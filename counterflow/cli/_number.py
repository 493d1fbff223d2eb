"""A number of a command line, between limits."""

from __future__ import annotations

import math
from typing import Any

import click


class Number(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail: `nan` passes a range check, since every comparison with it is false."""
        number = float(super().convert(value, param, ctx))
        return self.fail(f"{value} is not a number", param, ctx) if math.isnan(number) else number

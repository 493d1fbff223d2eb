"""Where a figure is worth a look, and where it is a limit: `limits.yaml`, for findings, checks, boards and alerts."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from counterflow.base.strict import Strict
from counterflow.schemas.definition import load_yaml

_FILE = Path(__file__).with_name("limits.yaml")


class Mark(Strict):
    """A value of a figure, in the unit of the figure's name, and what reaching it means."""

    at: float
    text: str


class Limit(Strict):
    """`watch`: from here on the figure is worth a look; `limit`: it is what limits; `source`: who states the values."""

    watch: Mark
    limit: Mark | None = None
    source: str


@cache
def limits() -> dict[str, Limit]:
    """Return every limit by the name of its figure."""
    return {name: Limit(**entry) for name, entry in load_yaml(_FILE.read_text(encoding="utf-8")).items()}


@cache
def marks() -> dict[str, float]:
    """Return the value of each mark by its name, `<figure>_watch` or `<figure>_limit`."""
    return {
        f"{name}_{level}": mark.at
        for name, limit in limits().items()
        for level, mark in (("watch", limit.watch), ("limit", limit.limit))
        if mark
    }


def parameters() -> dict[str, str]:
    """Return the marks as parameters of a statement, which writes `{disk_busy_pct_watch:Float64}`."""
    return {f"param_{name}": f"{at:g}" for name, at in marks().items()}


def stated(text: str) -> str:
    """Return a text in which `${disk_busy_pct_watch}` has become the value of the mark.

    Raises
    ------
    ValueError : a mark that is not defined.
    """
    named = re.compile(r"\$\{(\w+_(?:watch|limit))\}")
    if unknown := {*named.findall(text)} - marks().keys():
        raise ValueError(f"{', '.join(sorted(unknown))}: no such mark in schemas/limits.yaml")
    return named.sub(lambda found: f"{marks()[found[1]]:g}", text)

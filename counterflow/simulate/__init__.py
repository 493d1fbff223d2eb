"""Turns published measurements into the raw counters that would have shown them.

A case describes what ran where, from a document; here it becomes files in the layouts that real systems write. No real
system was recorded. Each case names its page below docs/studies, which separates published figures from assumptions.
"""

from __future__ import annotations

import importlib
import pkgutil
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from counterflow.simulate import cases as _cases
from counterflow.simulate.case import Case, Placed

START = datetime(2026, 3, 2, 8, tzinfo=UTC)


class WrittenFile(NamedTuple):
    """One file, and the system whose counters it holds; None where the file names the systems itself."""

    system: str | None
    path: Path


class Simulation(NamedTuple):
    """What was written: files in the order of systems, and the time of each run."""

    files: list[WrittenFile]
    runs: list[Placed[Any]]


@cache
def cases() -> dict[str, Case[Any]]:
    names = (m.name for m in pkgutil.iter_modules(_cases.__path__))
    return {name.replace("_", "-"): importlib.import_module(f"{_cases.__name__}.{name}").CASE for name in names}


def simulate(name: str, out: Path, seed: int = 1, start: datetime = START) -> Simulation:
    """Write the files of a case below `out`; the same arguments give the same bytes.

    Raises
    ------
    KeyError : there is no case of that name.
    OSError : a file cannot be written.
    """
    case = cases()[name]
    placed = case.place(start.astimezone(UTC), Random(f"{seed}/{name}"))  # noqa: S311 - noise
    simulation = Simulation([], placed)
    for file in case.files(placed, f"{seed}/{name}"):
        path = out / (file.system or file.folder) / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in file.lines), encoding="ascii", newline="")
        simulation.files.append(WrittenFile(file.system, path))
    return simulation


def begin_of(name: str, end: datetime) -> datetime:
    """Return when a case must start to end by `end`; its intervals begin at multiples of their length."""
    case = cases()[name]
    length = max(placed.end for placed in case.place(START, Random())) - START  # noqa: S311 - no figure is used
    begin_s = int((end - length).timestamp())
    return datetime.fromtimestamp(begin_s - begin_s % case.interval_s, UTC)

"""A case: runs in order of time, and the files that show them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

from counterflow.simulate.files import Written
from counterflow.simulate.timeline import Placed, R


@dataclass(frozen=True)
class Case(ABC, Generic[R]):
    """Runs that follow each other.

    Parameters
    ----------
    title : with the section and the table or figure of the document.
    document : page that separates the document's figures from assumptions.
    interval_s : length of an interval.
    runs : in order of time.
    noise : greatest deviation of an interval's rates from those of its run, as a ratio.
    pause : intervals between two runs.
    """

    title: str
    document: str
    interval_s: int
    runs: tuple[R, ...]
    noise: float = 0.01
    pause: int = 0

    @abstractmethod
    def write(self, out: Path, placed: Sequence[Placed[R]], seed: str) -> list[Written]:
        """Write the files below `out`; `seed` determines the noise.

        Raises
        ------
        OSError : a file cannot be written.
        """

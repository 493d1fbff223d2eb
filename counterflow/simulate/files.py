"""A file of a simulation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Written(NamedTuple):
    """One file, and the system whose counters it holds; None where the file names the systems itself."""

    system: str | None
    path: Path


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, and the folder they are in where it is missing.

    Raises
    ------
    OSError : the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")

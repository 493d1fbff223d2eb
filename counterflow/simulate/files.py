"""Writes the files of a simulation."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Written(NamedTuple):
    """One file, and the system whose counters it holds; None where the file names the systems itself."""

    system: str | None
    path: Path


class Output:
    """Files below a folder, in one subfolder per system; those that name the systems themselves are in `SITE`."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self.files: list[Written] = []

    def add(self, system: str | None, name: str, lines: Iterable[str], *, folder: str = "SITE") -> None:
        """Write a file of a system, or, with None, of the site, in `folder`.

        Raises
        ------
        OSError : the file cannot be written.
        """
        path = self._out / (system or folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii", newline="")
        self.files.append(Written(system, path))

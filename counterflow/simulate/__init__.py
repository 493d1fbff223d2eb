"""Measurements of the Db2 Mirror document as the raw counters that would have shown them.

A case says what ran where, from the document; here it becomes files in the layouts that systems really write. No real
system was recorded. docs/studies/db2-mirror.md says what of each case is the document's and what is assumed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from counterflow.simulate import cases as _cases
from counterflow.simulate.collection import collect
from counterflow.simulate.hmc import lshwres, pcm
from counterflow.simulate.layout import write
from counterflow.simulate.model import Case, Placed, place
from counterflow.simulate.rdma import samples

START = datetime(2026, 3, 2, 8, tzinfo=UTC)


class Written(NamedTuple):
    """One file, and the system whose counters it holds; None where the file names the systems itself."""

    system: str | None
    path: Path


class Simulation(NamedTuple):
    """What was written: files in the order of systems, and when each run was."""

    files: list[Written]
    runs: list[Placed]


@cache
def cases() -> dict[str, Case]:
    """Return every case by its name."""
    names = (m.name for m in pkgutil.iter_modules(_cases.__path__) if m.name[0] != "_")
    return {name.replace("_", "-"): importlib.import_module(f"{_cases.__name__}.{name}").CASE for name in names}


def simulate(name: str, out: Path, seed: int = 1, start: datetime = START) -> Simulation:
    """Write the files of a case below `out`, a folder a system and `HMC`; the same arguments give the same bytes.

    Raises
    ------
    KeyError : there is no case of that name.
    OSError : a file cannot be written.
    """
    placed = place(cases()[name], start.astimezone(UTC), Random(f"{seed}/{name}"))  # noqa: S311 - noise
    files: list[Written] = []
    for system, addresses in _systems(placed).items():
        random = Random(f"{seed}/{name}/{system}")  # noqa: S311 - noise
        tables = collect(system, placed, random) | samples(system, addresses, placed, random)
        for table, rows in tables.items():
            path = out / system / f"{table}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            write(path, table, rows)
            files.append(Written(system, path))
    servers = [p.link.server for one in placed for p in one.run.partitions if p.link]
    for server in dict.fromkeys(servers):
        for name, lines in (
            (f"pcm_{server}.json", pcm(server, placed)),
            (f"lshwres_{server}.csv", lshwres(server, placed)),
        ):
            path = out / "HMC" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
            files.append(Written(None, path))
    return Simulation(files, placed)


def _systems(placed: Sequence[Placed]) -> dict[str, tuple[str, str]]:
    """Return the systems in order of appearance with the addresses of their end of a link and of the other.

    Partitions that have links come in pairs: what one sends the next receives.
    """
    systems = list(dict.fromkeys(partition.system for one in placed for partition in one.run.partitions))
    return {system: (f"192.0.2.{at + 1}", f"192.0.2.{(at ^ 1) + 1}") for at, system in enumerate(systems)}

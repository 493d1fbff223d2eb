"""The part `faults` of docs/guarantees.md: faults.yaml with the results.yaml of a run of `make faults`."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.yaml"
COUNTS = ("lost", "doubled", "results_wrong")


class Fault(NamedTuple):
    """One entry of faults.yaml."""

    number: int
    fault: str
    happens: str
    tests: Sequence[str]


def faults() -> list[Fault]:
    """Return the faults, in order."""
    return [Fault(**entry) for entry in yaml.safe_load((FOLDER / "faults.yaml").read_text())]


def results() -> dict[str, Any]:
    """Return what each fault cost, by its number, in which runs on which machine."""
    found: dict[str, Any] = yaml.safe_load(RESULTS.read_text())
    return found


def write(found: Sequence[Mapping[str, Any]], *, whole: bool) -> None:
    """Keep what the tests of a run found of their faults; a run that is not `whole` leaves the other faults."""
    costs: dict[int, dict[str, float]] = {} if whole else results()["costs"]
    for number in sorted({one["number"] for one in found}):
        of = [one for one in found if one["number"] == number]
        costs[number] = {"seconds": max(one["seconds"] for one in of)} | {n: sum(one[n] for one in of) for n in COUNTS}
    machine = f"{os.cpu_count()} processors, {platform.system()}"
    kept = {"run": f"{datetime.now(UTC):%F %T} UTC", "machine": machine, "costs": costs}
    RESULTS.write_text(yaml.safe_dump(kept, default_flow_style=None, sort_keys=False))


def table() -> str:
    """Return the table as Markdown."""
    kept = results()
    lines = [
        f"Of runs up to {kept['run']}, {kept['machine']}.",
        "",
        "| | fault | what happens | back after | lost | doubled | wrong | tests |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in faults():
        cost = kept["costs"].get(entry.number)
        figures = [f"{cost['seconds']:.0f} s", *(str(cost[name]) for name in COUNTS)] if cost else ["-"] * 4
        cells = (str(entry.number), entry.fault, entry.happens, *figures, _names(entry.tests))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _names(tests: Sequence[str]) -> str:
    """Return the names of the tests, grouped by file."""
    files: dict[str, list[str]] = {}
    for test in tests:
        path, _, name = test.partition("::")
        files.setdefault(Path(path).name, []).append(f"`{name}`")
    return "; ".join(f"`{file}`: {', '.join(names)}" for file, names in files.items())

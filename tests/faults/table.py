"""The part `faults` of docs/guarantees.md: faults.yaml with the results.json of a run of `make faults`."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import yaml

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"


class Fault(NamedTuple):
    """One entry of faults.yaml."""

    number: int
    fault: str
    happens: str
    tests: Sequence[str]


def faults() -> list[Fault]:
    """Return the faults, in order."""
    return [Fault(**entry) for entry in yaml.safe_load((FOLDER / "faults.yaml").read_text())]


def read(xml: Path) -> dict[str, Any]:
    """Return the outcome of each test and the cost of each fault, read from the JUnit file of a run of pytest."""
    outcomes: dict[str, str] = {}
    costs: dict[str, list[dict[str, float]]] = {}
    for case in ElementTree.parse(xml).iterfind(".//testcase[@file]"):  # a test that was interrupted has no file
        name = f"{case.get('file')}::{case.get('name')}"
        outcomes[name] = "failed" if case.find("failure") is not None or case.find("error") is not None else "passed"
        for found in case.iter("property"):
            if match := re.fullmatch(r"fault (\d+)", found.get("name", "")):
                costs.setdefault(match[1], []).append(json.loads(found.get("value", "")))
    machine = f"{os.cpu_count()} processors, {platform.system()}"
    return {"run": f"{datetime.now(UTC):%F %T} UTC", "machine": machine, "costs": costs, "tests": outcomes}


def write(results: Mapping[str, Any], *, whole: bool) -> None:
    """Keep the results of a run; a run that is not `whole` leaves the other results."""
    if not whole:
        before = json.loads(RESULTS.read_text())
        results = {**results, **{name: {**before[name], **results[name]} for name in ("costs", "tests")}}
    RESULTS.write_text(_text(results))


def _text(results: Mapping[str, Any]) -> str:
    """Return the results as JSON with a line for each fault and for each test."""
    parts = [f'"{name}": {json.dumps(results[name])}' for name in ("machine", "run")]
    for name in ("costs", "tests"):
        entries = (f"  {json.dumps(key)}: {json.dumps(of)}" for key, of in sorted(results[name].items()))
        parts.append(f'"{name}": {{\n' + ",\n".join(entries) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def table(entries: Sequence[Fault], results: Mapping[str, Any]) -> str:
    """Return the table as Markdown. A fault has no figures if one of its tests failed or was not run."""
    lines = [
        f"Of runs up to {results['run']}, {results['machine']}.",
        "",
        "| | fault | what happens | back after | lost | doubled | wrong | tests |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in entries:
        proved = all(_passed(test, results["tests"]) for test in entry.tests)
        costs = results["costs"].get(str(entry.number), []) if proved else []
        back = f"{max(cost['seconds'] for cost in costs):.0f} s" if costs else "-"
        counts = [str(sum(int(cost[name]) for cost in costs)) if proved else "-" for name in _COUNTS]
        figures = " | ".join((back, *counts))
        lines.append(f"| {entry.number} | {entry.fault} | {entry.happens} | {figures} | {_names(entry.tests)} |")
    return "\n".join(lines) + "\n"


def _passed(test: str, outcomes: Mapping[str, str]) -> bool:
    """Return whether a test was run and passed, with each of its parameters."""
    found = {outcome for name, outcome in outcomes.items() if name == test or name.startswith(f"{test}[")}
    return found == {"passed"}


def _names(tests: Sequence[str]) -> str:
    """Return the names of the tests, grouped by file."""
    files: dict[str, list[str]] = {}
    for test in tests:
        path, _, name = test.partition("::")
        files.setdefault(Path(path).name, []).append(f"`{name}`")
    return "; ".join(f"`{file}`: {', '.join(names)}" for file, names in files.items())


_COUNTS = ("lost", "doubled", "results_wrong")

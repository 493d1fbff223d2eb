"""Simulated files as the formats read them, and plain arithmetic over their rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

from counterflow.collectors.reading import read_file
from counterflow.collectors.records import Reason, Record, Reject
from counterflow.simulate import Simulation, simulate
from counterflow.simulate.timeline import Placed

Rows = list[dict[str, Any]]

NOTED = (Reason.READ_WITH_ANOTHER, Reason.COLUMN_MISSING, Reason.SAMPLE_MISSING)
"""A column without a figure is left out; between the runs of a study nothing is recorded."""
_folder = TemporaryDirectory(prefix="counterflow-simulated-")


@cache
def read(case: str) -> tuple[Simulation, dict[str, Rows]]:
    """Simulate a case; return it and the rows of each dataset, of the two files of IBM i about jobs as one."""
    rows: dict[str, Rows] = defaultdict(list)
    jobs: dict[object, dict[str, Any]] = {}
    simulation = simulate(case, Path(_folder.name) / case)
    for system, path in simulation.files:
        for item in read_file(path, ZoneInfo("UTC"), system):
            assert not isinstance(item, Reject) or item.reason in NOTED, f"{path}: {item}"
            if not isinstance(item, Record):
                continue
            if item.dataset == "job" and item.fields["source"] == "ibmi_tables":
                fields = item.fields
                jobs.setdefault((fields["system"], fields["ts"], fields["job"], fields["task"]), {}).update(fields)
            else:
                rows[item.dataset].append(item.fields)
    rows["job"] += jobs.values()
    return simulation, rows


def during(placed: Placed[Any], rows: Iterable[dict[str, Any]], system: str) -> Rows:
    """Return the rows of a system whose interval lies in a run."""
    return [r for r in rows if r["system"] == system and placed.begin < datetime.fromisoformat(r["ts"]) <= placed.end]


def total(rows: Rows, column: str) -> float:
    return float(sum(row.get(column, 0) for row in rows))


def grown(rows: Rows, column: str) -> float:
    return float(sum(row[column] - row[f"prev_{column}"] for row in rows))

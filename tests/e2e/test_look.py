"""`look` and the line give the same results of stories and of a sample: neither can drift from the other."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from counterflow.base.clickhouse import ClickHouse
from counterflow.recordings.database import Database
from counterflow.recordings.given import ReadingOptions, given
from counterflow.schemas.definition import datasets
from tests.e2e.conftest import Case

SAMPLES = Path(__file__).parents[2] / "samples/nmon"
STORIES = ("sriov-story", "log-ceiling-story", "end-of-day-story")
"""Those whose counters every job reads."""
SAMPLE = "linux_16n_full"
"""The demo publishes each sample as a system of its own."""
RESULTS = [name for name, dataset in datasets().items() if dataset.role == "result"]
RECOMPUTED_LATER = {"verdict": {"n"}}
"""How many rows a verdict had seen depends on their arrival; all else does not."""


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, str) and one.startswith("{"):
        return same(json.loads(one), json.loads(other))
    return bool(one == other)


def by_key(client: ClickHouse, dataset: str, systems: set[str]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the results of these systems by their key."""
    sql = f"SELECT * FROM counterflow.{dataset} FINAL WHERE system IN {{systems:Array(String)}}"
    rows = client.rows(sql, {"param_systems": sorted(systems)})
    return {tuple(row[name] for name in datasets()[dataset].key): row for row in rows}


def test_look_gives_the_results_of_the_line(published: Callable[[str], Case], reader: ClickHouse) -> None:
    recordings = [path for story in STORIES for path in sorted(published(story)["folder"].iterdir())]
    named = {path: None if path.name in ("HMC", "SITE") else path.name for path in recordings}
    named[SAMPLES / f"{SAMPLE}.nmon.gz"] = SAMPLE
    with Database() as database:
        for path, system in named.items():
            files, _ = given([path])
            list(database.read(files, ReadingOptions(ZoneInfo("UTC"), system)))
        database.compute()
        assert [read.path for read in database.reads if read.error] == []
        for dataset in RESULTS:
            found = database.client.rows(f"SELECT DISTINCT system FROM counterflow.{dataset}")
            systems = {row["system"] for row in found}.union(filter(None, named.values()))
            here, there = (by_key(of, dataset, systems) for of in (database.client, reader))
            assert here, dataset
            assert here.keys() == there.keys(), dataset
            for place, row in here.items():
                different = {
                    name: (value, there[place][name])
                    for name, value in row.items()
                    if name not in RECOMPUTED_LATER.get(dataset, set()) and not same(value, there[place][name])
                }
                assert not different, (dataset, place)

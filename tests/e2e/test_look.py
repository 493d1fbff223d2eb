"""`look` and the line give the same results of stories and of a sample: neither can drift from the other."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.schemas.definition import datasets
from tests.e2e.conftest import Case, Run

SAMPLES = Path(__file__).parents[2] / "samples/nmon"
STORIES = ("sriov-story", "log-ceiling-story", "end-of-day-story")
"""Those whose counters every job reads."""
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
    return bool(plain(one) == other)


def plain(value: Any) -> Any:
    """Return a value of Parquet as the server gives it in JSON."""
    return f"{value:%F %T.%f}"[:-3] if isinstance(value, datetime) else value


def looked_at(counterflow: Run, folder: Path, keep: Path, out: Path) -> None:
    for path in sorted(folder.iterdir()):
        named = () if path.name in ("HMC", "SITE") else ("--system", path.name)
        run = counterflow("look", path, *named, "--keep", keep, "--export", out, "--json")
        assert run.returncode in (0, 2), run.stderr  # 2: settings alone hold no interval


def rows(client: ClickHouse, dataset: str, systems: list[str]) -> Iterator[dict[str, Any]]:
    sql = f"SELECT * FROM counterflow.{dataset} FINAL WHERE system IN {{systems:Array(String)}} ORDER BY ALL"
    yield from client.rows(sql, {"param_systems": systems})


def assert_same_results(out: Path, reader: ClickHouse, systems: set[str]) -> None:
    """Assert that `look` exported to `out` exactly the results that the line has for these systems."""
    compared = 0
    for dataset in RESULTS:
        key = datasets()[dataset].key
        path = out / f"{dataset}.parquet"
        found = pyarrow.parquet.read_table(path).to_pylist() if path.exists() else []
        of = sorted(systems | {row["system"] for row in found})
        here = {tuple(plain(row[name]) for name in key): row for row in found}
        there = {tuple(row[name] for name in key): row for row in rows(reader, dataset, of)}
        assert here.keys() == there.keys(), dataset
        for place, row in here.items():
            left_out = RECOMPUTED_LATER.get(dataset, set())
            different = {
                name: (value, there[place][name])
                for name, value in row.items()
                if name not in left_out and not same(value, there[place][name])
            }
            assert not different, (dataset, place)
            compared += 1
    assert compared > 0


@pytest.mark.parametrize("story", STORIES)
def test_look_gives_the_results_of_the_line(
    story: str, published: Callable[[str], Case], counterflow: Run, reader: ClickHouse, tmp_path: Path
) -> None:
    files = published(story)["folder"]
    looked_at(counterflow, files, tmp_path / "kept", tmp_path / "out")
    assert_same_results(tmp_path / "out", reader, {path.name for path in files.iterdir()})


@pytest.mark.usefixtures("demo")
def test_look_gives_the_results_of_the_line_for_a_sample(counterflow: Run, reader: ClickHouse, tmp_path: Path) -> None:
    """The demo publishes each sample as a system of its own."""
    name = "linux_16n_full"
    looked = counterflow("look", SAMPLES / f"{name}.nmon.gz", "--system", name, "--export", tmp_path / "out")
    assert looked.returncode == 0, looked.stderr
    assert_same_results(tmp_path / "out", reader, {name})

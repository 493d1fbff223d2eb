"""A file that a real nmon is writing, followed through the line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from counterflow.base.clickhouse import ClickHouse
from counterflow.collectors.records import Record
from counterflow.stack.account import wait_landed
from counterflow.stack.settings import StackSettings
from tests.e2e.conftest import Run
from tests.support.agents import Agent
from tests.support.reading import read_file
from tests.support.waiting import PATIENCE_S, until

SNAPSHOTS = 6
SYSTEM = "live-nmon"


@pytest.fixture(scope="module")
def nmon() -> str:
    """The recorder; a machine without it fails these tests instead of skipping them."""
    found = shutil.which("nmon")
    assert found, "these tests record with nmon: sudo apt-get install nmon"
    return found


def test_every_snapshot_of_a_real_nmon_lands_once(
    stack: StackSettings, reader: ClickHouse, nmon: str, tmp_path: Path
) -> None:
    recording = tmp_path / "live.nmon"
    source = {"name": "live", "paths": [str(tmp_path / "*.nmon")], "zone": "UTC", "system": SYSTEM, "follow": True}
    with Agent(tmp_path, stack, "live", source) as agent:
        arguments = [nmon, "-F", str(recording), "-T", "-s", "1", "-c", str(SNAPSHOTS), "-p"]
        subprocess.run(arguments, env={**os.environ, "TZ": "UTC"}, check=True, capture_output=True, timeout=PATIENCE_S)
        until(lambda: _snapshots(reader) >= SNAPSHOTS, "every snapshot lands")
        assert _snapshots(reader) == SNAPSHOTS
        time.sleep(3)
        agent.stop()

    whole = Counter(item.dataset for item in read_file(recording, ZoneInfo("UTC"), SYSTEM) if isinstance(item, Record))
    published = sum(whole.values()) + _count(reader, "quality") + _count(reader, "deadletter")
    landed = wait_landed(reader, "live", published)
    assert landed.lost == 0
    for dataset in ("disk", "job", "link", "pool", "system_cpu", "counter", "manifest"):
        assert _count(reader, dataset) == whole[dataset], dataset


def test_watch_shows_this_machine(counterflow: Run, stack: StackSettings, nmon: str) -> None:
    run = counterflow("demo", "--live", "--interval", "1", "--seconds", "15")
    assert run.returncode == 0, run.stderr
    [recording] = (stack.home / "live").glob("*.nmon")
    [planned] = re.findall(r"^AAA,snapshots,(\d+)", recording.read_text(), re.MULTILINE)
    assert int(planned) > 10 * 365 * 86_400, "it would end by itself within ten years"
    lines = len(recording.read_bytes().splitlines())
    time.sleep(2)
    assert len(recording.read_bytes().splitlines()) == lines, "nmon still records"
    assert re.search(r"\d+ snapshots, newest", run.stdout), run.stdout
    assert "busy_pct" in run.stdout
    assert "cpu_pct_avg" in run.stdout


def _snapshots(reader: ClickHouse) -> int:
    return _count(reader, "system_cpu", "AND engine = 'all'")


def _count(reader: ClickHouse, dataset: str, where: str = "") -> int:
    rows = reader.rows(f"SELECT count() AS n FROM counterflow.{dataset} FINAL WHERE system = '{SYSTEM}' {where}")
    return int(rows[0]["n"])

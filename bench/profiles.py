"""Profiles of publishing and landing: `python -m bench.profiles`; docs/scale.md has its output.

py-spy, which uv fetches, samples processes in Python; a sample counts for our innermost function. The engine receives
the same rows for tables that do more and more with them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import orjson
import psutil

from bench import cpu, land
from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines.landing.writer import SETTINGS
from counterflow.schemas.clickhouse_insert import insert
from counterflow.schemas.definition import topics
from counterflow.schemas.migrations import migrate
from counterflow.stack import lifecycle, supervision
from counterflow.stack.kafka import create_topics
from counterflow.stack.settings import StackSettings
from tests.conftest import free_settings
from tests.support.frames import frames

SAMPLER = ("uv", "tool", "run", "--from", "py-spy==0.4.3", "py-spy", "record", "--format", "raw", "--rate", "200")
ROWS, BATCH = 500_000, 50_000
_OURS = re.compile(r"([^;\s]+) \((?:\S*/)?(?:counterflow|collectors|pipelines|schemas|bench)/(\S+?):\d+\)")
_LEAST_SHARE = 0.02


def main() -> None:
    """Print the three profiles."""
    with tempfile.TemporaryDirectory(prefix="bench-profiles-") as home:
        settings = free_settings(Path(home) / "stack", StackSettings.from_environment().parts)
        try:
            lifecycle.start(settings, "kafka", "clickhouse")
            create_topics(settings, topics())
            with ClickHouse(settings.clickhouse_url, "admin", settings.clickhouse_password("admin")) as client:
                migrate(client)
                _engine(settings, client)
                land.empty(client)
                land.publish(settings, 60)
                _sampled("counterflow dev land", land.command(settings), settings.environment, Path(home))
        finally:
            lifecycle.down(settings)
        _sampled(
            "bench.publish",
            (sys.executable, "-m", "bench.publish"),
            {},
            Path(home),
            within="collectors/agent/files.py",
        )


def _sampled(
    title: str, command: Sequence[str], environment: Mapping[str, str], folder: Path, within: str = ""
) -> None:
    """Print the share of each function in the samples of a command, among stacks that contain `within`."""
    stacks = folder / "stacks"
    subprocess.run(
        (*SAMPLER, "--output", str(stacks), "--", *command),
        check=True,
        capture_output=True,
        env={**os.environ, **environment},
    )
    counted: Counter[str] = Counter()
    for line in stacks.read_text().splitlines():
        stack, _, samples = line.rpartition(" ")
        if within in stack and (ours := _OURS.findall(stack)):
            function, file = ours[-1]
            counted[f"{function} ({file})"] += int(samples)
    print(title)
    for name, count in counted.most_common():
        if (share := count / counted.total()) >= _LEAST_SHARE:
            print(f"  {share:6.1%}  {name}")


def _engine(settings: StackSettings, client: ClickHouse) -> None:
    """Print CPU microseconds per row of an insert into nothing, into the table alone, and into all that it feeds."""
    engine = psutil.Process(supervision.states(settings)["clickhouse"].pid)
    found = [orjson.dumps(frame) for frame in frames("disk", islice(land.records(60), ROWS))]
    many = BATCH // land.DISKS
    bodies = [b"\n".join(found[n : n + many]) for n in range(0, len(found), many)]
    client.post("CREATE TABLE counterflow.read AS counterflow.disk ENGINE = Null")
    client.post("CREATE TABLE counterflow.alone AS counterflow.disk")
    print("engine, CPU us a row")
    for table, does in (("read", "read"), ("alone", "and kept"), ("disk", "and rolled up, with the ledger")):
        before = cpu.of_process(engine)
        for body in bodies:
            client.post(insert("disk").replace("counterflow.disk", f"counterflow.{table}", 1), body, SETTINGS)
        print(f"  {(cpu.of_process(engine) - before) / ROWS * 1e6:5.1f}  {does}")


if __name__ == "__main__":
    main()

"""One rate for a while: do memory or open files of any part grow, and does every record land?

SOAK_MINUTES sets the duration (`make soak`: 30; 3 by default). A part is judged by the regression line through its
samples after the first third, in which caches and heaps fill.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.figure import Figure
from bench.generate_nmon import Recording, Shape
from bench.stack import running
from counterflow.collectors.agent.checkpoint import recall
from counterflow.collectors.agent.config import Config
from counterflow.stack import supervision
from counterflow.stack.account import wait_landed
from counterflow.stack.settings import StackSettings
from tests.support.agents import Agent

MINUTES = float(os.environ.get("SOAK_MINUTES", "3"))
SNAPSHOTS_S = 200
"""These are 20,000 records/s, about half of what two cores carry."""
SHAPE = Shape(interval=1, disks=24)
"""A snapshot of the recordings."""
EVERY_S = 2.0
"""Seconds between samples."""
ROTATED_S = 60.0
"""Seconds after which a recording ends and the next begins, as recorders do at midnight."""
AGENT = "soak"


class Sample(NamedTuple):
    """Memory and open files of a part, with its child processes, at a moment."""

    at_s: float
    resident_mib: float
    handles: int


def main() -> None:
    """Bring the stack up, and sustain the rate."""
    with running() as (settings, folder), settings.clickhouse("reader") as reader:
        samples, published = _soak(settings, folder)
        found = wait_landed(reader, AGENT, published)
    _report(samples, found.acked, found.lost)


def _soak(settings: StackSettings, folder: Path) -> tuple[Mapping[str, list[Sample]], int]:
    """Return the samples of each part, and the number of records that the agent committed."""
    source = {"name": "soak", "paths": [str(folder / "soak-*.nmon")], "format": "nmon", "zone": "UTC", "settle_s": 1}
    done = threading.Event()
    writer = threading.Thread(target=_write, args=(folder, done))
    samples: dict[str, list[Sample]] = defaultdict(list)
    with Agent(folder, settings, AGENT, source, poll_s=Config.model_fields["poll_s"].default) as agent:
        writer.start()
        began = time.monotonic()
        try:
            while (at_s := time.monotonic() - began) < MINUTES * 60:
                pids = {name: state.pid for name, state in supervision.states(settings).items() if state.pid}
                for name, pid in {**pids, "agent": agent.process.pid}.items():
                    with suppress(psutil.NoSuchProcess):
                        own = psutil.Process(pid)
                        samples[name].append(_sample(at_s, own, children=name != "supervisor"))
                if at_s // 60 > (at_s - EVERY_S) // 60:
                    held = ", ".join(f"{name} {of[-1].resident_mib:.0f}" for name, of in sorted(samples.items()))
                    print(f"{at_s / 60:4.0f} min, MiB resident: {held}", flush=True)
                time.sleep(EVERY_S)
        finally:
            done.set()
            writer.join()
            time.sleep(10)  # until the agent has read the last lines, and takes their snapshot as complete
            agent.stop()
    memory = recall(settings.kafka("agent").client, AGENT)
    return samples, memory.agent.seq if memory.agent else 0


def _write(folder: Path, done: threading.Event) -> None:
    """Append snapshots of one system; each is one second later in the recording's time."""
    made = Recording(replace(SHAPE, host="soak"))
    began, number = time.monotonic(), 0
    for part in count():
        path = folder / f"soak-{part:04d}.nmon"
        with path.open("w") as out:
            out.write("\n".join((*made.header(), "")))
            while not done.is_set() and time.monotonic() - began < (part + 1) * ROTATED_S:
                number += 1
                out.write("\n".join((*made.snapshot(number), "")))
                out.flush()
                done.wait(max(0.0, began + number / SNAPSHOTS_S - time.monotonic()))
        if done.is_set():
            return
        (folder / f"soak-{part - 3:04d}.nmon").unlink(missing_ok=True)


def _sample(at_s: float, process: psutil.Process, *, children: bool) -> Sample:
    family = [process, *(process.children(recursive=True) if children else [])]
    return Sample(at_s, sum(p.memory_info().rss for p in family) / 2**20, sum(p.num_fds() for p in family))


def _growth(samples: list[Sample], column: str) -> tuple[float, float]:
    """Return the mean after the first third, and the rise of the regression line over that time."""
    kept = samples[len(samples) // 3 :]
    values = [float(getattr(sample, column)) for sample in kept]
    slope, _ = statistics.linear_regression([sample.at_s for sample in kept], values)
    return statistics.fmean(values), slope * (kept[-1].at_s - kept[0].at_s)


def _report(samples: Mapping[str, list[Sample]], published: int, wrong: int) -> None:
    worst = {"resident_mib": 0.0, "handles": 0.0}
    for name, of_part in sorted(samples.items()):
        for column in worst:
            mean, rise = _growth(of_part, column)
            percent = 100 * rise / mean
            print(f"{name:12} {column:13} {mean:9.1f} {rise:+8.1f} {percent:+6.1f} %")
            worst[column] = max(worst[column], percent)
    method = (
        f"{MINUTES:g} minutes at {published / MINUTES / 60:,.0f} records/s, {published:,} records in all; "
        f"regression line through samples every {EVERY_S:g} s after the first third, rise over that time as a share "
        "of the mean, of the part that rose most, agent and children included."
    )
    Figure("soak: rise of resident memory", round(worst["resident_mib"], 1), "%", "<= 5", method).emit()
    Figure("soak: rise of open files", round(worst["handles"], 1), "%", "<= 5", method).emit()
    Figure("soak: records lost or doubled", wrong, "records", "<= 0", method).emit()


if __name__ == "__main__":
    main()

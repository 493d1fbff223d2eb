"""`make bench`: run every bench module, print its figures, and write bench/RESULTS.md.

`python -m bench land rerun` runs some; figures of the others are kept from `bench/results.json`. A module prints its
figures as JSON lines (`bench.figure.Figure.emit`); all its other output is shown as it runs.
The figures of a bench are kept when a later one is interrupted.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import model
from bench.figure import REFERENCE_TASK_S, Figure, measured_commit

Result = dict[str, Any]
"""A figure, its bench, and on which day, commit and machine it was measured: a line of `results.json`."""

FOLDER = Path(__file__).parent
BENCHES = ("gate", "parse", "encode", "publish", "land", "line", "rerun", "panels", "look", "soak")
RETIRED = {
    "processors of the idle stack": "nobody sizes a machine by what it does when there is nothing to do",
    "cold start of the stack": "a stack is started once; docs/guarantees.md times how soon it is back after a fault",
    "a checkpoint": "its time follows from the state of a system, which is listed, and delays no result",
    "2 cores over one, 16 partitions over one": "on two cores alone neither showed how a fleet grows",
    "price of exactly once, of publishing and landing": "it is the product and cannot be switched off",
    "the whole line over TLS": "a choice of security, not of speed; the ratio was that of one JVM and its ciphers",
    "rates of single Flink jobs": "no job runs alone; `TaskManager, a record` has all together",
    "rates of the rules": "a verdict costs 14 µs, and there is one for an entity and interval",
    "nmon file to rows": "the jobs always run, so `the whole line, nmon` has that path; it was 5.7 MB/s and missed 12",
    "land, beside clickhouse-connect": "the loop without a client's library is the faster peer, and stays",
    "publish compressed files": "unpacking took 7 % of the agent's processor time, and files are packed anyway",
    "audit of 100 million records": "4.2 s, while a minute would do",
    "ad-hoc SQL": "two thirds of the time of DuckDB over Parquet; boards and panels show what users wait for",
    "dashboards check": "a check of who changes dashboards, not of who uses them; 43 s",
    "a report": "4.4 s for 28 charts, and 1.3 s until a browser shows them, far below what anybody notices",
}
"""Figures that are measured no more, with the reason."""


def main(names: list[str]) -> int:
    """Run the named benches (all without names); return 1 where one failed or a limit is not shown to be met."""
    if unknown := set(names) - set(BENCHES):
        print(f"no bench named {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    # A shell starts background jobs with SIGINT ignored.
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, signal.default_int_handler)
    store = FOLDER / "results.json"
    results: list[Result] = json.loads(store.read_text())
    failed, commit = [], measured_commit()
    for name in names or BENCHES:
        print(f"== {name}", flush=True)
        task_s = _fixed_task_s()
        figures, status = _run(name)
        task_s = max(task_s, _fixed_task_s())
        if status:
            failed.append(name)
        if figures:
            of = {"bench": name, "at": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit, "machine": _machine()}
            kept = [result for result in results if result["bench"] != name]
            made = [{**of, "fixed_task_s": task_s, "figure": figure} for figure in figures]
            results = sorted([*kept, *made], key=lambda result: BENCHES.index(result["bench"]))
        store.write_text("[\n" + ",\n".join(json.dumps(result) for result in results) + "\n]\n")
        (FOLDER / "RESULTS.md").write_text(_page(results))
    model.PAGE.write_text(model.page(model.PAGE.read_text()))
    met = [(r["figure"]["measure"], Figure(**r["figure"]).met(r["fixed_task_s"])) for r in results]
    missed = [measure for measure, answer in met if answer == "no"]
    unclear = [measure for measure, answer in met if answer == "unknown"]
    for what, which in (("failed", failed), ("limit missed", missed), ("not decided, the machine is slow", unclear)):
        if which:
            print(f"{what}: {', '.join(which)}", file=sys.stderr)
    return 1 if failed or missed or unclear else 0


def _run(name: str) -> tuple[list[dict[str, Any]], int]:
    figures: list[dict[str, Any]] = []
    command = [sys.executable, "-m", f"bench.{name}"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=FOLDER.parent,
        start_new_session=True,  # a terminal interrupts whole groups: this way the bench is interrupted once
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if line.startswith('{"figure"'):
                    figure = json.loads(line)["figure"]
                    figures.append(figure)
                    print(f"  {figure['measure']}: {_n(figure['value'])} {figure['unit']} (limit {figure['limit']})")
                else:
                    print(" ", line, end="", flush=True)
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)  # it stops the servers that it started
            process.wait()
            raise
    return figures, process.returncode


def _machine() -> str:
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.machine(),
    )
    return f"{os.cpu_count()} cores {model}, Python {platform.python_version()}"


def _fixed_task_s() -> float:
    """Return the CPU seconds of a fixed task: a shared machine is not equally fast every day."""
    document = json.dumps([{"system": f"lpar{n:05}", "reads": n / 7, "writes": n * n} for n in range(20_000)])
    begin = time.process_time()
    for _ in range(10):
        zlib.compress(json.dumps(json.loads(document), sort_keys=True).encode(), 1)
    return round(time.process_time() - begin, 2)


def _page(results: Sequence[Result]) -> str:
    lines = [
        "# Measured figures",
        "",
        "Written by `make bench`; do not edit. Each figure stands beside its limit and, where there is one, beside a",
        "peer measured in the same run. CPU seconds are user + system of the processes named. The last column has the",
        "speed of the machine: CPU seconds of a fixed task (JSON, compression), the slower of before and after.",
        "The method names the commit whose code was measured.",
        "",
        f"Limits are stated for a machine that does the fixed task in {REFERENCE_TASK_S:.2f} s. A time or rate that",
        "misses its limit by less than the machine was slower than that is **unknown**, not missed.",
        "",
        "| measure | figure | limit | met | peer in the same run | ratio | fixed task, CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    methods = []
    for result in results:
        figure = Figure(**result["figure"])
        peer = " ".join([figure.peer or "-", "" if figure.peer_value is None else _n(figure.peer_value)]).strip()
        ratio = f"{figure.value / figure.peer_value:.2f}" if figure.peer_value else "-"
        answer = figure.met(result["fixed_task_s"])
        met = "yes" if answer == "yes" else f"**{answer}**"
        shown = (f"{_n(figure.value)} {figure.unit}", figure.limit, met, peer, ratio, f"{result['fixed_task_s']:.2f}")
        lines.append(f"| {figure.measure} | {' | '.join(shown)} |")
        where = f"`bench/{result['bench']}.py`, {result['at']}, {result['commit']}, {result['machine']}"
        methods.append(f"- **{figure.measure}** ({where}): {figure.method}")
    retired = [f"- **{measure}**: {reason}." for measure, reason in RETIRED.items()]
    return "\n".join([*lines, "", "## Method", "", *methods, "", "## Retired", "", *retired, ""])


def _n(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

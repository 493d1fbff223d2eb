"""`make bench`: run every bench module, print its figures, and write bench/RESULTS.md.

`python -m bench land look` runs some; figures of the others are kept from `bench/results.json`, as are those of a bench
that is done when a later one is interrupted. A module prints its figures as JSON lines (`bench.figure.Figure.emit`);
all its other output is shown as it runs. A figure that became twice as bad as the recorded one is reported.
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

from bench.figure import REFERENCE_TASK_S, Figure

Result = dict[str, Any]
"""A figure, its bench, and on which day, commit and machine it was measured: a line of `results.json`."""

FOLDER = Path(__file__).parent
FIGURES = FOLDER / "results.json"
RESULTS = FOLDER / "RESULTS.md"
"""The page; its last section, which lists what is measured no more, is kept as it is."""
BENCHES = ("parse", "publish", "land", "line", "panels", "look", "soak")
MARGIN = 2.0
"""Factor up to which a figure counts as unchanged, corrected by the speed of the machine."""


def main(names: list[str]) -> int:
    """Run the named benches (all without names); return 1 where one failed, became worse, or misses a limit."""
    if unknown := set(names) - set(BENCHES):
        print(f"no bench named {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    # A shell starts background jobs with SIGINT ignored.
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, signal.default_int_handler)
    results: list[Result] = json.loads(FIGURES.read_text())
    notes: dict[str, list[str]] = {"failed": [], "twice as bad as before": []}
    of = {"at": f"{datetime.now(UTC):%Y-%m-%d}", "commit": _commit(), "machine": _machine()}
    for name in names or BENCHES:
        print(f"== {name}", flush=True)
        task_s = _fixed_task_s()
        figures, status = _run(name)
        task_s = max(task_s, _fixed_task_s())
        if status:
            notes["failed"].append(name)
        made: list[Result] = [{"bench": name, **of, "fixed_task_s": task_s, "figure": figure} for figure in figures]
        before = {result["figure"]["measure"]: result for result in results}
        notes["twice as bad as before"] += [new["figure"]["measure"] for new in made if _is_worse(before, new)]
        if made:
            kept = [result for result in results if result["bench"] != name]
            results = sorted([*kept, *made], key=lambda result: BENCHES.index(result["bench"]))
        FIGURES.write_text("[\n" + ",\n".join(json.dumps(result) for result in results) + "\n]\n")
        RESULTS.write_text(_page(results))
    met = [(r["figure"]["measure"], Figure(**r["figure"]).met(r["fixed_task_s"])) for r in results]
    notes["limit missed"] = [measure for measure, answer in met if answer == "no"]
    notes["not decided, the machine is slow"] = [measure for measure, answer in met if answer == "unknown"]
    for what, which in notes.items():
        if which:
            print(f"{what}: {', '.join(which)}", file=sys.stderr)
    return 1 if any(notes.values()) else 0


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


def _is_worse(before: dict[str, Result], new: Result) -> bool:
    """Return whether a figure is worse than the recorded one by more than the margin."""
    old = before.get(new["figure"]["measure"])
    if old is None:
        return False
    then, now = (Figure(**result["figure"]).at_reference(result["fixed_task_s"]) for result in (old, new))
    is_rate = new["figure"]["limit"].startswith(">=")
    return now * MARGIN < then if is_rate else now > MARGIN * then


def _commit() -> str:
    """Return the commit that is measured, with `-dirty` where tracked files differ from it."""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.check_output(git, cwd=FOLDER, text=True).strip()


def _machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), platform.machine())
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
    _, retired, reasons = RESULTS.read_text().partition("## Retired")
    return "\n".join([*lines, "", "## Method", "", *methods, "", retired + reasons])


def _n(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)

"""Verdict rules: intervals judged a second, by the pure rule and by `counterflow rules replay`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import orjson

from bench.figure import Figure
from counterflow.pipelines.rules import rules

INTERVALS = 300_000
ENTITIES = 20
LIMIT = ">= 100000"
# own OUT, IN in Gb/s, messages, all OUT, IN in Gb/s: Db2 Mirror, table 7-5 at 3 %, 8 and 10 threads, and a quiet hour
RUNS = ((4.49, 4.57, 4278626, 87.96, 88.53), (1.86, 1.90, 1759392, 89.15, 89.79), (1.2, 1.2, 1.1e6, 40.0, 40.0))


# MB/s, waits, ms a log write, share of synchronous writes: 594 MB/s over zHyperLink, and 214 as it is without
LOG_RUNS = ((300.0, 0, 0.2, 99), (594.0, 40, 0.5, 99), (214.0, 40, 0.9, 4.36))


def link_rows(count: int = INTERVALS) -> list[dict[str, Any]]:
    """Return the intervals of several links, interleaved: runs of each kind, with noise, resets and a backlog."""
    random, begin = Random(7), datetime(2026, 11, 21, tzinfo=UTC)
    found = []
    for number in range(count):
        interval, link = divmod(number, ENTITIES)
        out, in_, msgs, all_out, all_in = RUNS[0 if interval % 40 < 15 else 1 if interval % 40 < 30 else 2]
        noise, reset = random.uniform(0.98, 1.02) / 8 * 1e9, interval % 500 == 499
        found.append(
            {
                "ts": f"{begin + timedelta(seconds=30 * interval):%FT%TZ}",
                "interval_s": 30,
                "system": "a",
                "link": f"roce{link}",
                "own_out_bytes_s": None if reset else out * noise,
                "own_in_bytes_s": None if reset else in_ * noise,
                "own_msgs_s": None if reset else msgs * noise * 8 / 1e9,
                "phys_out_bytes_s": None if link % 4 == 3 else all_out * 1e9 / 8,
                "phys_in_bytes_s": None if link % 4 == 3 else all_in * 1e9 / 8,
                "line_bits_s": 100_000_000_000,
                "capacity_pct": 3,
                "link_count": 1,
                "backlog_jobs": 80,
                "reset": reset,
            }
        )
    return found


def log_rows(count: int = INTERVALS) -> list[dict[str, Any]]:
    """Return the intervals of several subsystems, interleaved: runs of each kind, with noise and resets."""
    random, begin = Random(7), datetime(2026, 11, 21, tzinfo=UTC)
    found = []
    for number in range(count):
        interval, subsystem = divmod(number, ENTITIES)
        rate, waits, log_write_ms, sync = LOG_RUNS[interval % 45 // 15]
        reset, blind = interval % 500 == 499, subsystem % 4 == 3
        found.append(
            {
                "ts": f"{begin + timedelta(seconds=60 * interval):%FT%TZ}",
                "interval_s": 60,
                "system": "SYS1",
                "subsystem": f"DB{subsystem}",
                "path": "zhl",
                "rate_mb_s": None if reset else rate * random.uniform(0.98, 1.02),
                "ceiling_mb_s": 594,
                "waits_delta": None if reset or blind else waits,
                "waiting_threads": None if reset or blind else waits * 1.5,
                "active_threads": 256,
                "log_write_ms": None if reset else log_write_ms,
                "gcp_pct": 69.4,
                "ziip_pct": 65.3,
                "zhl_sync_pct": None if reset else sync,
                "reset": reset,
            }
        )
    return found


def judge(name: str, given: list[dict[str, Any]]) -> tuple[float, set[str]]:
    """Return the CPU seconds of judging, without those of making intervals from rows, and the resulting states."""
    rule = rules()[name]
    intervals = [(rule.entity_of(row), rule.interval(row)) for row in given]
    parameters, shown = rule.parameters(), set()
    states: dict[tuple[str, ...], Any] = {}
    before = time.process_time()
    for entity, interval in intervals:
        states[entity], verdict = rule.judge(parameters, states.get(entity, rule.start), interval)
        shown.add(str(verdict.state))
    return time.process_time() - before, shown


def measure(name: str, given: list[dict[str, Any]], made: str) -> None:
    """Print the figures of one rule."""
    seconds, shown = judge(name, given)
    print(f"{name}, states shown: {', '.join(sorted(shown))}")
    Figure(
        name,
        round(INTERVALS / seconds),
        "intervals/s",
        LIMIT,
        f"{made}; the pure rule with the reason in words, CPU seconds of one process.",
    ).emit()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "intervals.jsonl")
        path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in given))
        command = [sys.executable, "-m", "counterflow", "rules", "replay", name, "--input", str(path), "--json"]
        before = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - before
    Figure(
        f"rules replay {name}",
        round(INTERVALS / seconds),
        "intervals/s",
        LIMIT,
        f"{made}; `rules replay --json` from a file to /dev/null, wall, start-up included.",
    ).emit()


def main() -> None:
    """Print the figures."""
    made = f"{INTERVALS:,} intervals of {ENTITIES}"
    measure(
        "log_ceiling",
        log_rows(),
        f"{made} subsystems: quiet, at the ceiling and fallen back in turn, every fourth without waits and threads",
    )
    measure(
        "roce_cap",
        link_rows(),
        f"{made} links: free, capped and quiet in turn, every fourth without physical load",
    )


if __name__ == "__main__":
    main()

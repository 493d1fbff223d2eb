"""Has a code path become slower than recorded? Its CPU time over that of a fixed task, in one run of `make bench`.

Ratios can be compared between machines where seconds cannot; they still vary, which is why the margin is wide.
`bench/gate.json` has the recorded ratios and their commit; `python -m bench.gate --record` writes them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import TypedDict

import orjson

from bench import generate_collection_services, generate_nmon
from bench.encode import framed
from bench.figure import measured_commit
from counterflow.collectors.reading import read_file
from counterflow.collectors.records import Record

RECORDED = Path(__file__).with_name("gate.json")
MARGIN = 2.0
"""Factor up to which a ratio counts as unchanged; beside other work a ratio rose by up to a fifth."""
ROUNDS = 5

Work = Callable[[], object]


class Recorded(TypedDict):
    """Contents of `gate.json`: the ratio of each path, and the commit on which they were measured."""

    commit: str
    ratios: dict[str, float]


@contextmanager
def paths() -> Iterator[dict[str, Work]]:
    """Yield the measured code paths by name, with their input prepared."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nmon = folder / "aix.nmon"
        with nmon.open("wb") as out:
            generate_nmon.generate(out, generate_nmon.Shape(snapshots=30))
        tables, _ = generate_collection_services.generate(folder, generate_collection_services.Shape(1, 4_000))
        records = [item for item in read_file(nmon, UTC) if isinstance(item, Record)][:20_000]
        yield {
            "nmon parse": lambda: sum(1 for _ in read_file(nmon, UTC)),
            "Collection Services parse": lambda: sum(1 for _ in read_file(tables, UTC, "BENCH")),
            "encode": lambda: _encode(records),
        }


def ratios() -> dict[str, float]:
    """Return the CPU time of each path over that of the fixed task, each the least of some rounds."""
    with paths() as measured:
        least: dict[str, float] = {}
        task = min(_cpu_s(_fixed_task) for _ in range(ROUNDS))
        for name, path in measured.items():
            for _ in range(ROUNDS):
                least[name] = min(least.get(name, 1e9), _cpu_s(path))
                task = min(task, _cpu_s(_fixed_task))
    return {name: round(seconds / task, 2) for name, seconds in least.items()}


def slower(found: Mapping[str, float], recorded: Recorded) -> list[str]:
    """Return a line for each path whose ratio exceeds the recorded one by more than the margin, or has no record."""
    commit, before = recorded["commit"], recorded["ratios"]
    return [
        *(f"{name}: no ratio is recorded" for name in found if name not in before),
        *(
            f"{name}: {ratio} x the fixed task, {ratio / before[name]:.2f} x the {before[name]} of commit {commit}"
            for name, ratio in found.items()
            if name in before and ratio > MARGIN * before[name]
        ),
    ]


def _encode(records: list[Record]) -> None:
    for _ in framed(record._replace(fields=dict(record.fields)) for record in records):
        pass


def _fixed_task() -> None:
    """Work as a parser does, without our code: split lines, convert numbers, keep them by name, write JSON.

    Rows are kept, so that the task waits for memory, as the paths do, while other processes use the caches.
    """
    line = ",".join(str(number / 10) for number in range(20)).encode()
    rows = [{f"c{n}": float(value) for n, value in enumerate(line.split(b","))} for _ in range(6_000)]
    for row in rows:
        orjson.loads(orjson.dumps(row))


def _cpu_s(work: Work) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


def main(words: list[str]) -> int:
    """Record the ratios, or return 1 where one became worse, and name it."""
    if words == ["--record"]:
        found = ratios()
        print(json.dumps(found, indent=2))
        RECORDED.write_text(json.dumps(Recorded(commit=measured_commit(), ratios=found), indent=2) + "\n")
        return 0
    worse = slower(ratios(), json.loads(RECORDED.read_text()))
    print("\n".join(worse), file=sys.stderr, end="\n" * bool(worse))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

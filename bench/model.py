"""The needs of a fleet, derived from measured figures: `python -m bench.model 100 10000 1000000`.

Nothing is measured here: rows and rates come from bench/results.json and from the modules named, and assumptions are
named as such. docs/scale.md shows the result and the limit of each part.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from bench import generate_fleet as fleet

RESULTS = Path(__file__).parent / "results.json"
PAGE = Path(__file__).parents[1] / "docs/scale.md"
FLEETS = (100, 10_000, 1_000_000)
_BEGIN, _END = "<!-- made by `make bench` -->", "<!-- end -->"


@dataclass(frozen=True)
class Measured:
    """Rates of one core, and sizes of a row."""

    rows_a_system_s: float
    land_rows_core_s: float
    partition_rows_s: float
    """A quarter of the rows/s of four partitions. One alone takes more: the cores were the limit."""
    record_bytes: float
    """Of a disk row as JSON in its frame, not compressed."""
    task_manager_row_s: float
    state_bytes: float
    """Of all jobs for a system."""
    row_bytes: float
    """Stored, rollup and ledger included."""


@dataclass(frozen=True)
class Assumed:
    """The decisions of a site. `load` is the share of its limit at which a part is planned to run."""

    load: float = 0.5
    task_manager_cores: int = 2
    kafka_copies: int = 3
    kafka_days: int = 7
    clickhouse_copies: int = 2
    clickhouse_days: int = 400


@dataclass(frozen=True)
class Plan:
    """The needs of a fleet of `systems`. Bytes are those of all copies; Kafka's are not compressed."""

    systems: int
    rows_s: float
    partitions: int
    task_managers: int
    state_gb: float
    landing_cores: int
    clickhouse_tb: float
    kafka_tb: float


def measured() -> Measured:
    """Return the inputs of the model: the generated fleet's rows in 15 s, and figures of RESULTS.md."""
    found = (result["figure"] for result in json.loads(RESULTS.read_text()))
    figures: dict[str, float] = {figure["measure"]: figure["value"] for figure in found}
    return Measured(
        rows_a_system_s=fleet.rows_an_interval() / fleet.SYSTEMS / fleet.INTERVAL_S,
        land_rows_core_s=figures["land"] / 2,
        partition_rows_s=figures["land"] / 4,
        record_bytes=figures["a record in its frame"],
        task_manager_row_s=figures["TaskManager, a record"] / 1e6,
        state_bytes=4 * 1000 * figures["state of all jobs, a system"],  # measured at one interval a minute
        row_bytes=10 * figures["stored value at 15 s, table, rollup and ledger"],  # 10 values of a disk
    )


def plan(systems: int, m: Measured, a: Assumed = Assumed()) -> Plan:
    """Return the needs of so many systems."""
    rows_s = systems * m.rows_a_system_s

    def cores(of: float) -> int:
        return max(1, math.ceil(rows_s / (of * a.load)))

    return Plan(
        systems=systems,
        rows_s=rows_s,
        partitions=max(4, cores(m.partition_rows_s)),
        task_managers=cores(a.task_manager_cores / m.task_manager_row_s),
        state_gb=systems * m.state_bytes / 1e9,
        landing_cores=cores(m.land_rows_core_s),
        clickhouse_tb=rows_s * 86_400 * a.clickhouse_days * m.row_bytes * a.clickhouse_copies / 1e12,
        kafka_tb=rows_s * 86_400 * a.kafka_days * m.record_bytes * a.kafka_copies / 1e12,
    )


def table(fleets: tuple[int, ...] = FLEETS) -> str:
    """Return the plans as a table in Markdown, a column per fleet."""
    plans = [plan(systems, measured()) for systems in fleets]
    rows = [
        ("systems", [f"{p.systems:,}" for p in plans]),
        ("rows/s", [f"{p.rows_s:,.0f}" for p in plans]),
        ("partitions of a busy topic", [f"{p.partitions:,}" for p in plans]),
        ("TaskManagers of 2 cores, all jobs", [f"{p.task_managers:,}" for p in plans]),
        ("state of all jobs on their disks, MB", [f"{1000 * p.state_gb:,.1f}" for p in plans]),
        ("cores of landers, brokers and ClickHouse, for landing", [f"{p.landing_cores:,}" for p in plans]),
        ("ClickHouse, 400 days, two copies, TB", [f"{p.clickhouse_tb:,.2f}" for p in plans]),
        ("Kafka, 7 days, three copies, not compressed, TB", [f"{p.kafka_tb:,.2f}" for p in plans]),
    ]
    lines = [f"| {name} | {' | '.join(values)} |" for name, values in rows]
    return "\n".join([lines[0], "|" + "---|" * (len(fleets) + 1), *lines[1:]])


def page(text: str) -> str:
    """Return the text of docs/scale.md with the current table."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{table()}\n{_END}{after}"


if __name__ == "__main__":
    fleets = tuple(int(word.replace(",", "")) for word in sys.argv[1:]) or FLEETS
    print(table(fleets))

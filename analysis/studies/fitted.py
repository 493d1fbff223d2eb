"""Constants of mirroring, from printed runs: IBM Db2 Mirror for i: Performance Considerations, tables 7-1 to 7-5."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from counterflow.analysis.studies.sizing import Estimate, UnmirroredNode, spread
from counterflow.simulate.published import Row, table

USERS, SQL = "users", "sql"

EXPOSURE_7_1 = 0.40
"""Writes of case study 1 (7.1.1); reads for update are not printed."""

CLIENTS = ((0.38, 1.01 / 0.81), (0.63, 1.19), (1.0, 0.992 * 1.86))
"""Exposure and processor time of a unit with mirroring / without (7.6.1 to 7.6.3).

Utilisation becomes processor time by the throughput (7.6.1) or the run time (7.6.3).
"""


class MirroredRun(NamedTuple):
    """A printed run with mirroring and its own baseline: units a second, response in s, busy processors.

    Parameters
    ----------
    pool : runs that share constants: same workload on the same disks.
    jobs : users or job sets; `jobs_before` of the baseline.
    source_busy, target_busy : busy processors; of an active-active run those of the primary and the secondary.
    active_active : each node does half of the units and applies those of the other.
    """

    table: str
    name: str
    pool: str
    kind: str
    before: UnmirroredNode
    jobs_before: float
    jobs: float
    rate: float
    response_s: float
    source_busy: float
    target_busy: float
    source_cores: float
    target_cores: float
    active_active: bool = False

    @property
    def growth(self) -> float:
        """Processors per unit at the source, relative to the baseline, less 1."""
        return self.source_busy / self.rate / (self.before.busy / self.before.rate) - 1

    @property
    def target(self) -> float:
        """Processors per unit at the target, relative to the baseline of the source."""
        return self.target_busy / self.rate / (self.before.busy / self.before.rate)


@cache
def mirrored_runs() -> tuple[MirroredRun, ...]:
    return (*_users(), *_sets("7-2", table("table_7_2")), *_sets("7-3", [_alike(row) for row in table("table_7_3")]))


@cache
def processors(like: str) -> tuple[Estimate, Estimate, str]:
    """Return the growth at the source, the part at the target, and where they come from.

    `native`: per unit of exposure; `sql`: of a mix like that of case studies 2 and 3, whose exposure is not printed.
    """
    if like == "sql":
        some = [run for run in mirrored_runs() if run.kind == SQL and not run.active_active]
        where = "spread of the 5 active-passive runs of tables 7-2 and 7-3"
        return spread([run.growth for run in some]), spread([run.target for run in some]), where
    some = [run for run in mirrored_runs() if run.kind == USERS]
    source = [run.growth / EXPOSURE_7_1 for run in some] + [(grown - 1) / share for share, grown in CLIENTS]
    target = [run.target / EXPOSURE_7_1 for run in some]
    where = "spread of the 6 runs of table 7-1; at the source also of 7.6.1, 7.6.2 and 7.6.3"
    return spread(source), spread(target), where


@cache
def pair_us() -> Estimate:
    """Return the mirrored time of a read for update with its change, µs.

    High: the whole time of a job for a row in the slowest uncapped run (table 7-4). Low: half of that in the fastest,
    as a mirrored write takes at least twice as long (2.2).
    """
    times = [1e6 * float(row["jobs"]) / float(row["rows_s"]) for row in table("table_7_4") if not capped(row)]
    low, high = min(times) / 2, max(times)
    return Estimate((low + high) / 2, low, high)


@cache
def round_trips() -> float:
    """Return the most round trips of a row change: two messages each, counted at both ends (tables 7-4, 7-5)."""
    return max(row_messages().values()) / 4


@cache
def enforcements() -> dict[str, float]:
    """Return OUT / capacity of each held port of table 7-5, by `capacity-threads`."""
    held = [row for row in table("table_7_5") if capped(row)]
    return {name(row): float(row["own_out_gb_s"]) / float(row["capacity_pct"]) for row in held}


@cache
def row_bytes() -> dict[str, float]:
    """Return bytes a row change, OUT / rows, of each uncapped run of table 7-5."""
    pairs = zip(table("table_7_4"), table("table_7_5"), strict=True)
    return {name(a): float(b["own_out_gb_s"]) * 1e9 / 8 / float(a["rows_s"]) for a, b in pairs if not capped(a)}


@cache
def row_messages() -> dict[str, float]:
    """Return messages a row change, as both ends count them, of each uncapped run of tables 7-4 and 7-5."""
    pairs = zip(table("table_7_4"), table("table_7_5"), strict=True)
    return {name(a): float(b["own_msgs_s"]) / float(a["rows_s"]) for a, b in pairs if not capped(a)}


def capped(row: Row) -> bool:
    """Return whether the hypervisor capped the port: with 10 or more interfering threads (7.5.3)."""
    return int(row["threads"]) >= 10


def name(row: Row) -> str:
    """Return `capacity-threads` of a row of tables 7-4 and 7-5."""
    return f"{row['capacity_pct']}-{row['threads']}"


def _users() -> list[MirroredRun]:
    found = []
    bases = {(r["users"], r["pair"]): r for r in table("table_7_1") if r["scenario"] == "baseline"}
    for row in table("table_7_1"):
        if row["scenario"] == "baseline":
            continue
        base, users = bases[row["users"], row["pair"]], float(row["users"])
        found.append(
            MirroredRun(
                "7-1",
                f"{row['users']} users, pair {row['pair']}, {row['scenario']}",
                f"users on pair {row['pair']}",
                USERS,
                UnmirroredNode(float(base["throughput"]) / 60, float(base["response_s"]), *_busy(base, "source")),
                users,
                users,
                float(row["throughput"]) / 60,
                float(row["response_s"]),
                _busy(row, "source")[0],
                _busy(row, "target")[0],
                float(row["source_cores"]),
                float(row["target_cores"]),
            )
        )
    return found


def _sets(number: str, rows: list[Row]) -> list[MirroredRun]:
    base, *mirrored = rows
    before = UnmirroredNode(float(base["tps"]), float(base["response_ms"]) / 1000, *_busy(base, "source"))
    return [
        MirroredRun(
            number,
            row["scenario"],
            SQL,
            SQL,
            before,
            float(base["job_sets"]),
            float(row["job_sets"]),
            float(row["tps"]),
            float(row["response_ms"]) / 1000,
            _busy(row, "source")[0],
            _busy(row, "target")[0],
            float(row["source_cores"]),
            float(row["target_cores"]),
            row["scenario"].startswith("active-active"),
        )
        for row in mirrored
    ]


def _alike(row: Row) -> Row:
    """Return a row of table 7-3 with the columns of 7-2: the mean of both nodes' response, all job sets."""
    responses = [float(row[c]) for c in ("primary_response_ms", "secondary_response_ms") if c in row]
    sets = [float(row[c]) for c in ("primary_job_sets", "secondary_job_sets") if c in row]
    renamed = {c.replace("primary", "source").replace("secondary", "target"): cell for c, cell in row.items()}
    return renamed | {"response_ms": str(math.fsum(responses) / len(responses)), "job_sets": str(math.fsum(sets))}


def _busy(row: Row, node: str) -> tuple[float, float]:
    cores = float(row[f"{node}_cores"])
    return float(row[f"{node}_cpu_pct"]) / 100 * cores, cores

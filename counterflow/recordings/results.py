"""Computes every result from the counters that landed, in place of the jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import chain
from operator import add
from typing import NamedTuple

from counterflow.base.clickhouse import ClickHouse
from counterflow.pipelines import batch
from counterflow.pipelines.jobs import Job, all_jobs, stages
from counterflow.schemas.definition import datasets


class RecordedSpan(NamedTuple):
    """What a system, or all of them, recorded.

    Parameters
    ----------
    begin, end : of its intervals, UTC.
    records : rows of counters, each once.
    datasets : those that have rows, as `<dataset>` and as `<dataset>/<format>`.
    """

    begin: datetime
    end: datetime
    records: int
    datasets: frozenset[str]

    def __add__(self, other: RecordedSpan) -> RecordedSpan:  # type: ignore[override]
        begin, end = min(self.begin, other.begin), max(self.end, other.end)
        return RecordedSpan(begin, end, self.records + other.records, self.datasets | other.datasets)


def measured(client: ClickHouse) -> dict[str, RecordedSpan]:
    counters = (name for name, dataset in datasets().items() if dataset.measured)
    found: dict[str, RecordedSpan] = {}
    for row in client.rows(" UNION ALL ".join(map(_reach, counters)), {"final": 1}):
        begin, end = (datetime.fromtimestamp(row[at], UTC) for at in ("first", "last"))
        one = RecordedSpan(begin, end, row["rows"], frozenset((row["dataset"], f"{row['dataset']}/{row['format']}")))
        found[row["system"]] = found[row["system"]] + one if row["system"] in found else one
    return found


def compute(client: ClickHouse) -> dict[str, RecordedSpan]:
    """Compute all results from what landed; return what landed for each system, empty where no interval did."""
    by_system = measured(client)
    if not by_system:
        return {}
    begin, end, _, known = reduce(add, by_system.values())
    filled = {name for name in known if "/" not in name}
    for job in chain.from_iterable(stages(all_jobs().values())):
        if job.of in filled and _counted(job, filled):
            batch.compute(client, job, begin, end + timedelta(seconds=1))
            filled |= job.writes
    return by_system


def _counted(job: Job, filled: set[str]) -> bool:
    """Return whether there are manifests of what the results of a job count, where they count any."""
    counts = [counts for dataset in job.writes if (counts := datasets()[dataset].counts) is not None]
    return all(filled & {*one.manifests} for one in counts)


def _reach(dataset: str) -> str:
    begin = "min(toUnixTimestamp64Milli(ts) / 1000 - ifNull(interval_s, 0))"
    end = "toUnixTimestamp64Milli(max(ts)) / 1000"
    of = f"system, '{dataset}' AS dataset, splitByChar('.', source)[1] AS format"
    reach = f"toUInt64(count()) AS rows, {begin} AS first, {end} AS last"
    return f"SELECT {of}, {reach} FROM counterflow.{dataset} GROUP BY system, format"

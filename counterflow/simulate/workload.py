"""Work done by a batch or a driver, as it reports at the end of each interval (format `workload_csv`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

HEADER = "time_utc,workload,run_id,unit_of_work,done,users"


class Execution(NamedTuple):
    """One execution of a workload: it begins at 0; `counts` are of the intervals that end at `ends`."""

    workload: str
    run_id: str
    units: str
    users: int
    begin: datetime
    ends: Sequence[datetime]
    counts: Sequence[int]


def lines(executions: Iterable[Execution]) -> Iterator[str]:
    yield HEADER
    for e in executions:
        for at, done in zip((e.begin, *e.ends), accumulate(e.counts, initial=0), strict=True):
            yield f"{at:%Y-%m-%dT%H:%M:%SZ},{e.workload},{e.run_id},{e.units},{done},{e.users}"

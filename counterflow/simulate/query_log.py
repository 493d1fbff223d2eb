"""Queries of users, one at a time per user, with begin and end (format `query_log`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from counterflow.simulate.spread import apportion

KINDS = (("simple", 1.0), ("intermediate", 3.0), ("complex", 9.0))
"""Kinds of query, and their relative lengths."""


def lines(
    workload: str, run_id: str, users: int, queries: int, begin: datetime, seconds: int, random: Random
) -> Iterator[str]:
    """Yield that many queries over all users; the last of each user ends with the run."""
    yield "workload,run_id,user,query,start,end"
    for user, count in enumerate(apportion(queries, [1.0] * users), 1):
        kinds = [KINDS[at % len(KINDS)] for at in range(count)]
        random.shuffle(kinds)
        lengths_ms = apportion(seconds * 1000, [length * random.uniform(0.8, 1.2) for _, length in kinds])
        start = begin
        for at, ((kind, _), length_ms) in enumerate(zip(kinds, lengths_ms, strict=True), 1):
            end = start + timedelta(milliseconds=length_ms)
            yield f"{workload},{run_id},user{user},{kind}{at},{_stamp(start)},{_stamp(end)}"
            start = end


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"

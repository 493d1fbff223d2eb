"""Computes the tables by hour again where rows were inserted: what sums over rows cannot be filled by each insert.

An insert may be repeated, so a sum that grows with each insert would count rows twice. Instead, a view on each table
notes which hours of which systems an insert touched (`hour_touched`), and `refresh` computes these hours from the
tables. It notes how far it is (`rollup_progress`) only after the hours are computed, so one that was killed is
repeated, and a repeat changes nothing: of an hour the newest computation stays.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import structlog

from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.schemas.clickhouse_rollups import due, statements
from counterflow.schemas.definition import datasets

HOURS = 200
"""Hours of one system each that a statement computes at most, which bounds its time and memory."""

_SETTINGS: Settings = {
    "do_not_merge_across_partitions_select_final": 1,  # all rows of one key are of one day
    "max_bytes_before_external_group_by": 300_000_000,
    "max_partitions_per_insert_block": 0,
    "async_insert": 0,
}
EVERY_S = 30.0
"""Seconds between two refreshes while a lander runs: each computes the hours of live systems again."""

log = structlog.get_logger()


@contextmanager
def keep_fresh(refresh: Callable[[], object]) -> Iterator[None]:
    """Call `refresh` every `EVERY_S` in a thread; at the end wait for the one that runs."""
    done = threading.Event()

    def work() -> None:
        while not done.wait(EVERY_S):
            try:
                refresh()
            except Exception as error:  # whatever it is, landing goes on
                log.warning("refresh failed, will be retried", error=str(error)[:500])

    thread = threading.Thread(target=work, name="refresh", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def refresh(client: ClickHouse, *, seconds: float | None = None) -> int:
    """Compute the hours that were touched since the last time; return how many, counted by dataset and system.

    Parameters
    ----------
    seconds : stop after the systems during which this time passes; the next call continues. None: complete it.

    Raises
    ------
    ClickHouseError : the server refused a statement; the next call continues there.
    httpx.TransportError : no response; the next call continues there.
    """
    begin, computed = time.monotonic(), 0
    [now] = client.rows("SELECT toString(now64(3, 'UTC')) AS text")
    for together in _together(client.rows(_DUE.format(due=due()))):
        dataset = together[0]["dataset"]
        of_each: Settings = {"param_systems": [row["system"] for row in together]}
        for since, until in _ranges(together):
            settings = {**_SETTINGS, **of_each, "param_since": since, "param_until": until}
            for statement in statements(datasets()[dataset]):
                client.post(statement, settings=settings)
        client.post(
            "INSERT INTO counterflow.rollup_progress (dataset, system, touched_to)\n"
            "SELECT {dataset:String}, arrayJoin({systems:Array(String)}), {now:DateTime64(3, 'UTC')}",
            settings={**of_each, "param_dataset": dataset, "param_now": now["text"], "async_insert": 0},
        )
        computed += sum(row["hours"] for row in together)
        if seconds is not None and time.monotonic() - begin > seconds:
            break
    return computed


_DUE = """\
SELECT
  dataset, system, toUInt64(uniqExact(hour)) AS hours, toUnixTimestamp(min(hour)) AS first,
  toUnixTimestamp(max(hour)) AS last
{due}
GROUP BY dataset, system
ORDER BY dataset, system"""


def _together(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield systems of one dataset that have at most `HOURS` hours together, or a single one that has more."""
    together: list[dict[str, Any]] = []
    for row in rows:
        full = sum(one["hours"] for one in together) + row["hours"] > HOURS
        if together and (full or row["dataset"] != together[0]["dataset"]):
            yield together
            together = []
        together.append(row)
    if together:
        yield together


def _ranges(together: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield ranges of hours, each after its first and up to its last, as seconds since 1970."""
    first, last = min(row["first"] for row in together) - 3600, max(row["last"] for row in together)
    step = HOURS * 3600 if sum(row["hours"] for row in together) > HOURS else last - first
    for since in range(first, last, step):
        yield since, min(since + step, last)

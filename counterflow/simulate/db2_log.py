"""A run that is bound by the log, and the running counts of that log.

A site exports them under IFCID names (format `db2_log_csv`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from counterflow.simulate.case import Placed, SimulatedRun
from counterflow.simulate.spread import apportion

SUBSYSTEM = "DBP1"
GCPS, ZIIPS, JOBS = 6, 10, 256
"""Engines of each LPAR (4.2), and batch jobs (3.2)."""
CI_BYTES, COPIES = 4096, 2
WRITTEN_PER_CREATED = 3_056_832 / 1_352_938
"""CIs written, both copies and rewrites, per CI created, from the report that IBM prints for OMEGAMON."""
CIS_PER_IO = 3_056_832 / 696_824
"""CIs per log write, from the same report."""
WAITS_PER_ACCOUNT = 10
"""Waits for a log write per account; their length follows."""
THRESHOLD_SHARE = 0.6
"""Part of the writes that a full buffer causes."""

BEFORE = ("time_utc", "sysid", "ssid", "member", "log_path", "copies", "active_threads")
COUNTERS = (
    "QJSTLOGW",
    "QJSTCIWR",
    "QJSTBFFL",
    "QJSTBFWR",
    "QJSTWTB",
    "QJSTBPAG",
    "QJSTTHRW",
    "QJSTSERW",
    "zhl_log_writes",
    "zhl_log_write_fail_sync",
    "SWACAWLG_us",
    "SWACARLG",
)


@dataclass(frozen=True, kw_only=True)
class LogRun(SimulatedRun):
    """One measurement of a batch that is bound by the log; rates are means of the run.

    Parameters
    ----------
    system : LPAR.
    cec, storage : machine, and storage of the log.
    path : zhpf or zhl.
    log_mb_s : written to one log copy, 10^6 bytes a second.
    ceiling_mb_s : of this path, machine and storage, in the site's file.
    accounts_h : accounts settled an hour.
    gcp_pct, ziip_pct : utilisation of the LPAR's engines.
    waiting_share : part of the jobs that wait for the log.
    sync_pct : zHyperLink writes done synchronously.
    buffer_waits : waits for a log output buffer in an interval.
    run_id : execution of the batch; runs of one follow each other without a pause.
    """

    cec: str
    storage: str
    path: str
    log_mb_s: float
    ceiling_mb_s: float
    accounts_h: float
    gcp_pct: float
    ziip_pct: float
    waiting_share: float
    sync_pct: float
    buffer_waits: int
    run_id: str


def lines(placed: Sequence[Placed[LogRun]], random: Random) -> Iterator[str]:
    """Yield the rows of one subsystem, whose Db2 has run for a while and idles between two runs."""
    yield ",".join((*BEFORE, *COUNTERS))
    up_s = random.randrange(10**6)
    counts = [round(rate * up_s) for rate in _rates(placed[0])]
    now = placed[0].begin
    yield _row(placed[0].run, now, counts)
    for one in placed:
        while now < one.begin:
            now += timedelta(seconds=one.intervals[0].seconds)
            yield _row(one.run, now, counts)
        grown = [apportion(round(rate * one.seconds), one.weights) for rate in _rates(one)]
        for interval, *by_interval in zip(one.intervals, *grown, strict=True):
            counts = [count + more for count, more in zip(counts, by_interval, strict=True)]
            yield _row(one.run, interval.end, counts)
        now = one.end


def _row(run: LogRun, at: datetime, counts: Sequence[int]) -> str:
    before = (f"{at:%Y-%m-%dT%H:%M:%SZ}", run.system, SUBSYSTEM, SUBSYSTEM, run.path, COPIES, JOBS)
    return ",".join(map(str, (*before, *counts)))


def _rates(one: Placed[LogRun]) -> Iterator[float]:
    """Yield the growth of each counter per second."""
    run = one.run
    written = run.log_mb_s * 1e6 * COPIES / CI_BYTES
    ios = written / CIS_PER_IO
    zhl = ios if run.path == "zhl" else 0.0
    yield from (ios, written, written / WRITTEN_PER_CREATED, ios / COPIES)
    yield from (run.buffer_waits / one.intervals[0].seconds, 0.0, THRESHOLD_SHARE * ios / COPIES, 0.0)
    yield from (zhl, zhl * (1 - run.sync_pct / 100))
    yield from (run.waiting_share * JOBS * 1e6, run.accounts_h / 3600 * WAITS_PER_ACCOUNT)

"""What would zHyperLink, a faster box or a newer processor do to a batch window that Db2's log may hold back?

The printed runs of IBM Performance Report: zHyperLink for Db2 Active Logging with SAP Core Banking (sections 5.1 to 5.3
and 6.0) applied to measured intervals of the log. docs/whatif.md has the model; `log_path_backtest` tests it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from statistics import geometric_mean
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from counterflow.analysis.studies.sizing import Estimate, corners
from counterflow.base.clickhouse import ClickHouse, Settings
from counterflow.pipelines.rules.log_ceiling import Parameters
from counterflow.simulate.published import table

STUDY = "zHyperLink for Db2 Active Logging"
ZHPF, ZHL = "zhpf", "zhl"

PATH, BOX, PROCESSOR = "path", "storage", "cec"
BETTER = {PATH: (ZHPF, ZHL), BOX: ("DS8950", "DS8A50"), PROCESSOR: ("z16", "z17")}
"""What the runs of the document changed: a column of the table, from and to."""


class UpgradeStep(NamedTuple):
    """What a change upgrades, and the sections of the report with its runs."""

    upgraded: frozenset[str]
    sections: str


CHANGES = {
    ZHPF: {
        "zHyperLink": UpgradeStep(frozenset({PATH}), "5.1 and 6.0"),
        "faster box": UpgradeStep(frozenset({BOX}), "6.0, DS8950 to DS8A50 together with z16 to z17"),
        "newer processor": UpgradeStep(frozenset({PROCESSOR}), "6.0, z16 to z17 together with DS8950 to DS8A50"),
        "all three": UpgradeStep(frozenset({PATH, BOX, PROCESSOR}), "6.0, to DS8A50 and z17"),
    },
    ZHL: {
        "faster box": UpgradeStep(frozenset({BOX}), "5.3, DS8950 to DS8A50"),
        "newer processor": UpgradeStep(frozenset({PROCESSOR}), "5.2, z16 to z17"),
        "both": UpgradeStep(frozenset({BOX, PROCESSOR}), "5.2 and 5.3, to DS8A50 and z17"),
    },
}
"""The changes that are possible from each path, by name."""

COARSEST_S = 900.0
"""A longer interval averages a log that waits with one that does not; the limit is ours."""

PRESSED_SHARE = Parameters().waiting_share
"""Least share of waiting threads at which a rate shows what the path can do, as for the rule log_ceiling."""

_Amount = Annotated[float, Field(ge=0, le=1e18)]
_Utc = Annotated[datetime, AfterValidator(lambda ts: ts if ts.tzinfo else ts.replace(tzinfo=UTC))]


class LogRow(BaseModel):
    """One interval of a log: a row of `log_load`, with the cost of the only workload of `account_cpu` at that time.

    Parameters
    ----------
    cec, storage : machine, and box of the log, as the site file states them.
    """

    model_config = ConfigDict(frozen=True)

    ts: _Utc
    interval_s: Annotated[float, Field(gt=0, le=1e9)] | None = None
    system: str
    subsystem: str
    path: str | None = None
    cec: str | None = None
    storage: str | None = None
    ceiling_mb_s: _Amount | None = None
    rate_mb_s: _Amount | None = None
    waits_delta: _Amount | None = None
    waiting_threads: _Amount | None = None
    active_threads: _Amount | None = None
    log_write_ms: _Amount | None = None
    gcp_pct: Annotated[float, Field(ge=0, le=100)] | None = None
    ziip_pct: Annotated[float, Field(ge=0, le=100)] | None = None
    accounts: _Amount | None = None
    gcp_ms_per_account: _Amount | None = None
    ziip_ms_per_account: _Amount | None = None

    @property
    def waiting_share(self) -> float:
        """Part of the active threads that waits for the log; 0 where none is active."""
        if not self.active_threads:
            return 0.0
        return min(1.0, (self.waiting_threads or 0.0) / self.active_threads)


def read_stored(client: ClickHouse, settings: Settings) -> list[LogRow]:
    """Return the intervals of the parameters `systems`, `since` and `until`."""
    return [LogRow.model_validate(row) for row in client.rows(_STORED, settings)]


# the utilisation of a system belongs to all of its workloads, so the cost is known where one ran
_STORED = """
SELECT
  l.ts AS ts, l.interval_s AS interval_s, l.system AS system, l.subsystem AS subsystem, l.path AS path,
  nullIf(c.cec, '') AS cec, nullIf(c.storage, '') AS storage,
  l.ceiling_mb_s AS ceiling_mb_s, l.rate_mb_s AS rate_mb_s, l.waits_delta AS waits_delta,
  l.waiting_threads AS waiting_threads, l.active_threads AS active_threads, l.log_write_ms AS log_write_ms,
  l.gcp_pct AS gcp_pct, l.ziip_pct AS ziip_pct, a.accounts AS accounts,
  a.gcp_ms_per_account AS gcp_ms_per_account, a.ziip_ms_per_account AS ziip_ms_per_account
FROM (
  SELECT * FROM counterflow.log_load FINAL
  WHERE ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
    AND (empty({systems:Array(String)}) OR has({systems:Array(String)}, system))
) AS l
LEFT JOIN (
  SELECT
    system, ts, any(account_cpu.accounts) AS accounts, any(account_cpu.gcp_ms_per_account) AS gcp_ms_per_account,
    any(account_cpu.ziip_ms_per_account) AS ziip_ms_per_account
  FROM counterflow.account_cpu FINAL
  WHERE basis = 'lpar' AND ts > {since:DateTime64(3)} AND ts <= {until:DateTime64(3)}
  GROUP BY system, ts
  HAVING count() = 1
) AS a ON a.system = l.system AND a.ts = l.ts
LEFT JOIN (
  SELECT
    toString(system) AS system, item, ts, anyIf(config.value, name = 'cec') AS cec,
    anyIf(config.value, name = 'storage') AS storage
  FROM counterflow.config FINAL
  WHERE section = 'log_ceiling'
  GROUP BY system, item, ts
) AS c ON c.system = l.system AND c.item = concat(l.subsystem, '/', l.path) AND c.ts = l.ceiling_since
ORDER BY l.system, l.subsystem, l.ts
"""


NEEDED = ("interval_s", "waiting_threads", "active_threads", "gcp_pct", "ziip_pct")
"""Columns without which an interval cannot be predicted."""


class PrintedRun(NamedTuple):
    """A run that the document prints: 100 million accounts by 256 jobs that wait for the log.

    Parameters
    ----------
    elapsed_h, gcp_ms, ziip_ms : time of the batch; time on processors of an account.
    log_mb_s, gcp_pct, ziip_pct : None where they are not printed.
    """

    name: str
    cec: str
    path: str
    storage: str
    elapsed_h: float
    gcp_ms: float
    ziip_ms: float
    log_mb_s: float | None
    gcp_pct: float | None
    ziip_pct: float | None


@cache
def printed_runs() -> tuple[PrintedRun, ...]:
    return tuple(
        PrintedRun(
            row["run"],
            row["cec"],
            row["path"],
            row["storage"],
            *(float(row[name]) for name in ("elapsed_h", "gcp_ms", "ziip_ms")),
            *(float(row[name]) if name in row else None for name in ("log_mb_s", "gcp_pct", "ziip_pct")),
        )
        for row in table("zhyperlink")
    )


class Left(NamedTuple):
    """What a change leaves of the elapsed time of a log-bound batch, and of the processor time of an account."""

    elapsed: Estimate
    gcp_ms: Estimate
    ziip_ms: Estimate


def left(changed: frozenset[str], path: str, runs: Sequence[PrintedRun]) -> Left:
    """Return what the change leaves of each figure of a log on `path`, as a part of 1, by these runs.

    Pairs of runs that differ in the change alone give the value: the geometric mean. Two or more of them are the
    limits. With fewer, the change brings no more than a larger one on the same path, and no less than a part of it, or
    nothing. Where no pair begins on `path`, those of the other path count.
    """
    pairs = [(before, after, how) for before in runs for after in runs if (how := _upgraded(before, after))]
    # zHyperLink added to a change would bound nothing: it takes the limit away that hides the rest
    bounding = [pair for pair in pairs if pair[2] < changed or (pair[2] >= changed and PATH not in pair[2] - changed)]
    comparable = [pair for pair in bounding if pair[0].path == path] or bounding

    def estimate(figure: str) -> Estimate:
        parts = [(getattr(after, figure) / getattr(before, figure), how) for before, after, how in comparable]
        direct = [part for part, how in parts if how == changed]
        least = min((part for part, how in parts if how >= changed), default=None)
        narrower = min((part for part, how in parts if how < changed), default=1.0)
        if len(direct) > 1:
            return Estimate(geometric_mean(direct), min(direct), max(direct))
        low = narrower if least is None else min(least, narrower)
        high = max([*direct, narrower])
        return Estimate(direct[0] if direct else geometric_mean([low, high]), low, high)

    return Left(estimate("elapsed_h"), estimate("gcp_ms"), estimate("ziip_ms"))


def _upgraded(before: PrintedRun, after: PrintedRun) -> frozenset[str] | None:
    """Return what `after` has that is better; None where something is worse, or nothing is better."""
    changes = {name: (getattr(before, name), getattr(after, name)) for name in BETTER}
    differing = {name: change for name, change in changes.items() if change[0] != change[1]}
    if not differing or any(change != BETTER[name] for name, change in differing.items()):
        return None
    return frozenset(differing)


class LogPathFigure(NamedTuple):
    """A measured figure and what a change would make of it; `reason` explains why there is none."""

    change: str
    name: str
    unit: str
    measured: float | None
    low: float | None
    likely: float | None
    high: float | None
    source: str
    reason: str | None = None
    note: str | None = None


class LogWindow(NamedTuple):
    """The figures of one log on one path; `refused` explains why there is none.

    Parameters
    ----------
    intervals, used : number of intervals, and of those that have all columns `NEEDED`.
    beyond : changes without figures, with the reason.
    """

    system: str
    subsystem: str
    path: str | None
    intervals: int
    used: int
    figures: tuple[LogPathFigure, ...]
    beyond: dict[str, str]
    refused: str | None = None


def windows(rows: Iterable[LogRow], runs: Sequence[PrintedRun] | None = None) -> list[LogWindow]:
    """Return what each change would do to each log, by the printed runs, or by `runs`."""
    groups: dict[tuple[str, str, str | None], list[LogRow]] = defaultdict(list)
    for row in rows:
        groups[row.system, row.subsystem, row.path].append(row)
    return [
        _window(group, groups[group], runs or printed_runs())
        for group in sorted(groups, key=lambda group: (group[0], group[1], group[2] or ""))
    ]


def _window(group: tuple[str, str, str | None], rows: list[LogRow], runs: Sequence[PrintedRun]) -> LogWindow:
    path = group[2]
    used = [row for row in rows if all(getattr(row, name) is not None for name in NEEDED)]
    refused = _refused(path, rows, used)
    figures: list[LogPathFigure] = []
    beyond: dict[str, str] = {}
    for change, (changed, sections) in {} if refused else CHANGES[path or ""].items():
        if reason := _beyond(changed, used):
            beyond[change] = reason
        else:
            figures += _figures(change, f"{STUDY} {sections}", used, left(changed, path or "", runs))
    return LogWindow(*group, len(rows), len(used), tuple(figures), beyond, refused)


def _beyond(changed: frozenset[str], rows: Sequence[LogRow]) -> str | None:
    """Return why no printed run begins where this log is: the site file states the better machine or box already."""
    newest = max(rows, key=lambda row: row.ts)
    there = [
        BETTER[name][1] for name in (BOX, PROCESSOR) if name in changed and getattr(newest, name) == BETTER[name][1]
    ]
    return f"the log is on {' and '.join(there)} already: of what comes after, nothing is printed" if there else None


def _refused(path: str | None, rows: Sequence[LogRow], used: Sequence[LogRow]) -> str | None:
    if path not in CHANGES:
        return "the path of the log writes is not known: name it in the site file (zhpf or zhl)"
    if not used:
        missing = [name for name in NEEDED if any(getattr(row, name) is None for row in rows)]
        return f"no interval has all inputs; null: {', '.join(missing)}"
    longest = max(row.interval_s or 0.0 for row in used)
    if longest > COARSEST_S:
        return (
            f"too coarse: an interval of {longest:g} s hides how long the log was waited for; "
            f"record {COARSEST_S:g} s or less"
        )
    return None


def elapsed_s(rows: Iterable[LogRow], elapsed: float, gcp: float, ziip: float) -> float:
    """Return the time that the work of these intervals would take, s.

    The part of its time that a thread waits for the log shrinks to `elapsed`; busy processors bound the gain.

    Parameters
    ----------
    elapsed, gcp, ziip : what is left of the wait, and of the time on both kinds of processors, as a part of 1.
    """
    return math.fsum(
        (row.interval_s or 0.0)
        * max(
            1 - row.waiting_share * (1 - elapsed),
            (row.gcp_pct or 0.0) / 100 * gcp,
            (row.ziip_pct or 0.0) / 100 * ziip,
        )
        for row in rows
    )


def _figures(change: str, source: str, rows: Sequence[LogRow], of: Left) -> list[LogPathFigure]:
    seconds = math.fsum(row.interval_s or 0.0 for row in rows)
    waiting, gcp, ziip = (
        math.fsum((getattr(row, name) or 0.0) * (row.interval_s or 0.0) for row in rows) / seconds
        for name in ("waiting_threads", "gcp_pct", "ziip_pct")
    )

    def after(elapsed: float, gcp_left: float, ziip_left: float) -> tuple[float, ...]:
        took = elapsed_s(rows, elapsed, gcp_left, ziip_left)
        faster = seconds / took
        return took / 3600, waiting * elapsed * faster, gcp * gcp_left * faster, ziip * ziip_left * faster

    window, waits, gcp_pct, ziip_pct = corners(after, *of)
    ceiling, bound = _ceiling(rows)
    ceilings = Estimate(1 / of.elapsed.value, 1 / of.elapsed.high, 1 / of.elapsed.low)
    no_ceiling = "no ceiling is configured, and no interval in which threads waited shows one"
    no_cost = "account_cpu has no cost of an account for these intervals, or of several workloads"
    no_wait = "no interval has the time of a log write"
    write_ms = _mean(rows, "log_write_ms")
    gcp_ms, ziip_ms = (_mean(rows, name, "accounts") for name in ("gcp_ms_per_account", "ziip_ms_per_account"))
    parts: list[tuple[str, str, float | None, Estimate, str]] = [
        ("elapsed_h", "h", seconds / 3600, window, ""),
        ("ceiling_mb_s", "MB/s", ceiling, ceilings.times(ceiling or 0.0), no_ceiling),
        ("log_wait_threads", "threads", waiting, waits, ""),
        ("log_write_ms", "ms", write_ms, of.elapsed.times(write_ms or 0.0), no_wait),
        ("gcp_ms", "ms", gcp_ms, of.gcp_ms.times(gcp_ms or 0.0), no_cost),
        ("ziip_ms", "ms", ziip_ms, of.ziip_ms.times(ziip_ms or 0.0), no_cost),
        ("gcp_pct", "%", gcp, gcp_pct, ""),
        ("ziip_pct", "%", ziip, ziip_pct, ""),
    ]
    found = []
    for name, unit, measured, part, reason in parts:
        note = bound if name == "ceiling_mb_s" else None
        known = (measured, part.low, part.value, part.high, source, None, note)
        unknown = (None, None, None, None, source, reason)
        found.append(LogPathFigure(change, name, unit, *(unknown if measured is None else known)))
    return found


def _ceiling(rows: Sequence[LogRow]) -> tuple[float | None, str | None]:
    """Return the newest configured ceiling, or else the highest rate under pressure, with a note that it is that."""
    configured = [row for row in rows if row.ceiling_mb_s]
    if configured:
        return max(configured, key=lambda row: row.ts).ceiling_mb_s, None
    pressed = [
        row.rate_mb_s for row in rows if row.rate_mb_s and (row.waits_delta or row.waiting_share >= PRESSED_SHARE)
    ]
    note = "no ceiling is configured: from the highest rate while threads waited, at least"
    return max(pressed, default=None), note


def _mean(rows: Iterable[LogRow], name: str, weight: str = "interval_s") -> float | None:
    known = [
        (value, by)
        for row in rows
        if (value := getattr(row, name)) is not None and (by := getattr(row, weight)) is not None
    ]
    total = math.fsum(by for _, by in known)
    return math.fsum(value * by for value, by in known) / total if total else None

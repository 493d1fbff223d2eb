"""The state of a run of YCSB, and the records of its status lines and of its summary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from counterflow.collectors.formats.ycsb.lines import OK, Kind, Status, StatusFigures, kind, number
from counterflow.collectors.records import Context, Fields, Reason, Record, Reject
from counterflow.collectors.text.periods import missing_between, remembered
from counterflow.collectors.text.stamps import AMBIGUOUS, iso, to_utc

SOURCE = "ycsb"
UNIT = "operations"

Summary = dict[str, dict[str, float | None]]
"""By name and measurement, as printed."""

_STATUS_COLUMNS = {"Avg": "response_ms", "Min": "response_min_ms", "Max": "response_max_ms"}
_STATUS_COLUMNS |= {"50": "response_p50_ms", "95": "response_p95_ms", "99": "response_p99_ms"}
_LATENCY = re.compile(r"(?P<what>Average|Min|Max|(?P<at>[\d.]+)(?:st|nd|rd|th)?Percentile)Latency\((?P<unit>us|ms)\)")
_HEADING = "Below is a summary of latency in microseconds:"
_LONGEST_MS = 1e11
_TIMES = 60
_SHOWN = 20
_APART = timedelta(milliseconds=1)
_RAW = {"Average": "Avg", "Min": "Min", "Max": "Max", "p50": "50", "p95": "95", "p99": "99"}


@dataclass
class YcsbRun:
    """A run as far as it was read. JSON values.

    `name` is the time of its first status line, and `begin` when it began, by that line or by one of ours before it;
    `ts`, `elapsed_s` and `done` are those of the last status line, `apart_s` its distances from those before; `times`
    are those of the last status lines, newest last: a clock that was set back meets them again. `failed` counts by
    operation; `settings` are of its command line. `noted` and `raw_data` count the messages and points of raw data of
    the file.
    """

    label: str = ""
    name: str | None = None
    begin: str | None = None
    ts: str | None = None
    elapsed_s: int = 0
    done: int = 0
    apart_s: list[float] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    failed: dict[str, float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    ended: bool = False
    noted: int = 0
    raw_data: int = 0

    @property
    def fresh(self) -> bool:
        """Whether neither a status line nor its summary was read yet."""
        return self.ts is None and not self.ended

    def following(self, settings: dict[str, str] | None = None) -> YcsbRun:
        begin = self.begin if self.fresh else None
        return YcsbRun(begin=begin, times=self.times, settings=settings or {}, noted=self.noted, raw_data=self.raw_data)

    def common(self, context: Context) -> Fields:
        workload = self.label or self.settings.get("workload") or SOURCE
        fields: Fields = {
            "system": context.system,
            "source": SOURCE,
            "workload": workload,
            "run_id": self.name or self.begin,
        }
        users = number(self.settings.get("threadcount", ""))
        return fields | {"unit_of_work": UNIT} | ({} if users is None else {"users": users})

    def follows(self, status: Status) -> bool:
        if self.ended or self.ts is None:
            return not self.ended
        # the clock was set back, which the seconds of the run follow
        went_back = status.done >= self.done > 0 or status.elapsed_s < 0
        return status.label == self.label and (status.elapsed_s >= self.elapsed_s or went_back)


def of_status(run: YcsbRun, status: Status, context: Context) -> Iterator[Record | Reject]:
    if status.time is None:
        detail = "the status line has no time: versions of YCSB before 0.2.0 print none"
        yield Reject(Reason.STAMP_MISSING, detail, "none")
        return
    if not 2000 < status.time.year < 2290:
        yield Reject(Reason.STAMP_INVALID, f"expected a year from 2001, found {status.time.year}", "none")
        return
    before = datetime.fromisoformat(run.ts) if run.ts else None
    instant, ambiguous = to_utc(status.time, context.zone, before)
    ts = iso(instant)
    if ts == run.ts:
        yield Reject(Reason.DUPLICATE_ROW, f"there is a status line of {ts} already", "none")
        return
    while iso(instant) in run.times:
        instant += _APART  # the clock was set back to where a status line has this time: each is a row of its own
    ts = iso(instant)
    if ambiguous:
        yield Reject(Reason.CLOCK_CHANGE, AMBIGUOUS, "all")
    if run.ts is None:
        run.name, run.begin, run.label = ts, iso(instant - timedelta(seconds=max(status.elapsed_s, 0))), status.label
        yield from _settings(run, context)
    base: Fields = {"ts": ts, **run.common(context)}
    kinds: Fields = dict(base)
    overall: Fields = {**base, "operation": "", "done": float(status.done)}
    apart_s = round((instant - before).total_seconds(), 3) if before is not None else 0.0
    missing = missing_between(apart_s, run.apart_s)
    if apart_s < 0:
        yield Reject(Reason.CLOCK_CHANGE, f"the clock went back from {run.ts}: no interval is known", "all")
    elif status.done < run.done:
        yield Reject(Reason.NEGATIVE_DELTA, f"{status.done} operations after {run.done}: they went back", "all")
    elif missing is not None:
        yield Reject(Reason.SAMPLE_MISSING, missing, "all")
    elif before is not None:
        interval: Fields = {"interval_s": apart_s, "prev_ts": run.ts}
        kinds |= interval
        overall |= interval | {"prev_done": float(run.done)}
    if apart_s > 0:
        run.apart_s = remembered(apart_s, run.apart_s)
    if status.rate is not None and (status.rate >= 0 or status.elapsed_s >= 0):
        overall["done_per_s"] = status.rate
    run.ts, run.elapsed_s, run.done, run.times = ts, status.elapsed_s, status.done, [*run.times, ts][-_TIMES:]
    found = [(kind(one.name), one) for one in status.measured]
    for of, one in found:
        if of.what == "failed":
            run.failed[of.operation] = run.failed.get(of.operation, 0.0) + (one.figures.get("Count") or 0.0)
    if run.failed:
        overall["failed"] = sum(run.failed.values())
    yield Record("workload", overall)
    for of, one in found:
        yield from _of_kind(of, one, run, kinds)
    if refused := [figure for one in status.measured for figure in one.refused]:
        yield Reject(Reason.NOT_A_NUMBER, f"{len(refused)} figures: {'; '.join(refused[:_SHOWN])}", "part")


def _of_kind(of: Kind, one: StatusFigures, run: YcsbRun, kinds: Fields) -> Iterator[Record]:
    """Yield the figures of a status line under one name."""
    figures = dict(one.figures)
    count = figures.get("Count")
    if count == 0:
        figures = {"Count": count}  # the others describe no operation: a minimum of 2^63
    if of.what == "done":
        fields = {**kinds, "operation": of.operation}
        figures.pop("Count", None)
        if count is not None:
            fields["done_delta"] = count
        if of.operation in run.failed:
            fields["failed"] = run.failed[of.operation]
        for name, column in _STATUS_COLUMNS.items():
            if (value := figures.pop(name, None)) is not None:
                fields[column] = value / 1000
        yield Record("workload", fields)
    yield from _counters(one.name, figures, kinds)


def of_summary(run: YcsbRun, summary: Summary, context: Context) -> Iterator[Record | Reject]:
    """Yield the records of the summary; the run has ended.

    The summary prints no time: it is dated at the begin plus the run's length, and after the last status line.
    """
    run.ended = True
    overall = summary.get("OVERALL", {})
    runtime_ms = overall.get("RunTime(ms)")
    if run.begin is None and context.given_at is not None:
        run.begin = iso(context.given_at)
    if run.begin is None:
        detail = (
            "the output has no time: run with -s, write a line with its begin before it, 2026-11-21T18:50:00Z, or --at"
        )
        yield Reject(Reason.STAMP_MISSING, detail, "none")
        return
    if runtime_ms is None or abs(runtime_ms) >= _LONGEST_MS:
        detail = "expected [OVERALL], RunTime(ms) of up to three years in the summary"
        yield Reject(Reason.STAMP_MISSING, f"{detail}, found {'none' if runtime_ms is None else runtime_ms}", "none")
        return
    if runtime_ms < 0:
        detail = f"RunTime(ms) is {runtime_ms:g}: the clock was set back during the run, no interval is known"
        yield Reject(Reason.CLOCK_CHANGE, detail, "part")
    end = datetime.fromisoformat(run.begin) + timedelta(milliseconds=max(runtime_ms, 0.0))
    if run.times:
        end = max(end, max(map(datetime.fromisoformat, run.times)) + _APART)
    base: Fields = {"ts": iso(end), **run.common(context)}
    if runtime_ms > 0:
        base["interval_s"] = runtime_ms / 1000
    rest = {name: dict(figures) for name, figures in summary.items()}
    rest["OVERALL"].pop("RunTime(ms)")
    failed = _failed(summary)
    fields: Fields = {**base, "operation": "", "final": True}
    rate = rest["OVERALL"].pop("Throughput(ops/sec)", None)
    if rate is not None:
        fields["done"] = float(round(rate * runtime_ms / 1000))
        if runtime_ms >= 0:
            fields["done_per_s"] = rate
    if failed is not None:
        fields["failed"] = sum(failed.values(), 0.0)
    yield Record("workload", fields)
    for name, figures in rest.items():
        of = kind(name)
        count = figures.get("Operations", figures.get("Total Operations"))
        figures.pop(_HEADING, None)
        if count == 0:  # the latencies describe no operation: a minimum of 2^63, and 0
            figures = {name: value for name, value in figures.items() if not _is_latency(name)}
        if of.what == "done" and count is not None:
            fields = {**base, "operation": of.operation, "final": True, "done_delta": count}
            if failed is not None:
                fields["failed"] = failed.get(of.operation, 0.0)
            for measurement in list(figures):
                column, divisor = _column(measurement)
                value = figures[measurement]
                if column is not None and value is not None:
                    fields[column] = value / divisor
                    del figures[measurement]
            figures.pop("Operations", figures.pop("Total Operations", None))
            yield Record("workload", fields)
        yield from _counters(name, figures, base)


def _failed(summary: Summary) -> dict[str, float] | None:
    """Return how many of each operation failed: by their return codes, else by the measurements of failures.

    None where neither was printed.
    """
    found: dict[str, float] = {}
    printed = False
    for name, figures in summary.items():
        of = kind(name)
        returned = {m[7:]: value or 0.0 for m, value in figures.items() if m.startswith("Return=")}
        if of.what == "done" and returned:
            printed = True
            found[of.operation] = sum((value for code, value in returned.items() if code not in OK), 0.0)
    for name, figures in summary.items():
        of = kind(name)
        if of.what == "failed":
            printed = True
            found.setdefault(of.operation, figures.get("Operations") or 0.0)
    return found if printed else None


def _is_latency(measurement: str) -> bool:
    return measurement in _RAW or _LATENCY.fullmatch(measurement) is not None


def _column(measurement: str) -> tuple[str | None, float]:
    """Return the column that a measurement of the summary fills, and how much of it is a millisecond."""
    if measurement in _RAW:
        return _STATUS_COLUMNS[_RAW[measurement]], 1000.0
    found = _LATENCY.fullmatch(measurement)
    if found is None:
        return None, 1.0
    name = found["at"] or {"Average": "Avg"}.get(found["what"], found["what"])
    return _STATUS_COLUMNS.get(name), 1000.0 if found["unit"] == "us" else 1.0


def _counters(name: str, figures: Mapping[str, float | None], base: Fields) -> Iterator[Record]:
    """Yield the figures that no column holds."""
    envelope: Fields = {key: base[key] for key in ("ts", "interval_s", "system", "source") if key in base}
    for counter, value in figures.items():
        if value is not None:
            named = {"section": "YCSB", "instance": name, "counter": counter, "value": value}
            yield Record("counter", {**envelope, **named})


def _settings(run: YcsbRun, context: Context) -> Iterator[Record]:
    common = {"ts": run.name, "system": context.system, "source": SOURCE, "section": "YCSB", "item": run.name}
    for name, value in run.settings.items():
        if value:
            yield Record("config", {**common, "name": name, "value": value})

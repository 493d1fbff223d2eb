"""Queries of a workload with their begin and end, as CSV.

Queries overlap, and a log may be in order of begin or of end, so the number done at a given time is known only once all
of it was read. Queries an hour = completed x 3600 / (last end - first begin): a run has a record with nothing done at
its first begin, and one at each end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject
from counterflow.collectors.text.csv_rows import CsvRow, CsvRows, is_csv_of, utc
from counterflow.collectors.text.lines import placed_in
from counterflow.collectors.text.stamps import iso

SOURCE = "query_log"

REQUIRED = ("workload", "query", "start", "end")
OPTIONAL = ("run_id", "user", "status")
WAY_OUT = f"a first line with the columns {','.join(REQUIRED)}[,{','.join(OPTIONAL)}]"

COMPLETED = frozenset(("", "0", "ok", "success", "completed"))
"""Values of `status` of a completed query, in lower case; any other failed."""

MAX_QUERIES = 100_000
"""Queries of a log that are held until all of it was read."""
MAX_RUNS = 1000
"""Runs of a file that are remembered."""


class LoggedQuery(NamedTuple):
    query: str
    user: str
    begin: datetime
    end: datetime
    completed: bool


QueryRun = tuple[str, str]
Runs = dict[str, Any]


def recognises(head: bytes) -> bool:
    return is_csv_of(head, _is_header)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield the records of each run in order of time, once the data is complete."""
    if not context.complete:
        return
    rows = CsvRows(stream, context, position, _is_header, WAY_OUT, known=(*REQUIRED, *OPTIONAL))
    runs: dict[QueryRun, list[LoggedQuery]] = {}
    seen: set[tuple[QueryRun, LoggedQuery]] = set()
    end: Position | None = None
    for item in rows.items():
        if isinstance(item, Position):
            end = item
        elif isinstance(item, Reject):
            yield item
        elif isinstance(found := _query(item, rows.memory), Reject):
            yield placed_in(item.line, found)
        elif found in seen:
            yield placed_in(item.line, Reject(Reason.DUPLICATE_ROW, "the log has this query already", "none"))
        elif len(seen) >= MAX_QUERIES:
            detail = f"more than the {MAX_QUERIES} queries that are read of one log: give each run a file"
            yield placed_in(item.line, Reject(Reason.OUT_OF_RANGE, detail, "none"))
        else:
            seen.add(found)
            runs.setdefault(found[0], []).append(found[1])
    has_status = "status" in (rows.columns or ())
    for run, queries in runs.items():
        for record in _records(run, queries, rows.memory, str(context.system)):
            if not has_status:
                del record.fields["failed"]
            yield record
    while len(rows.memory) > MAX_RUNS:
        del rows.memory[next(iter(rows.memory))]
    if end is not None:
        yield Position(end.byte_offset, end.line, end.state | {"memory": rows.memory})


def _is_header(names: Collection[str]) -> bool:
    return set(REQUIRED) <= set(names)


def _query(row: CsvRow, memory: Runs) -> tuple[QueryRun, LoggedQuery] | Reject:
    values = {"run_id": "", "user": "", "status": ""} | row.values
    if not values["workload"]:
        return Reject(Reason.OUT_OF_RANGE, "expected workload, found nothing", "none")
    if not values["end"]:
        return Reject(Reason.STAMP_MISSING, "the query has no end: it is not counted", "none")
    times = []
    for name in ("start", "end"):
        try:
            times.append(utc(values[name]))
        except (ValueError, OverflowError) as error:
            reason = Reason.STAMP_INVALID if values[name] else Reason.STAMP_MISSING
            return Reject(reason, f"{name}: {error}", "none")
    begin, end = times
    if end < begin:
        return Reject(Reason.OUT_OF_RANGE, f"the query ends at {iso(end)}, before its start at {iso(begin)}", "none")
    run = values["workload"], values["run_id"]
    before = memory.get(repr(run))
    if before is not None and end <= datetime.fromisoformat(before["ts"]):
        detail = f"the run was read up to {before['ts']} before, when nothing was added to the log for a while"
        return Reject(Reason.LATE_ROW, detail, "none")
    return run, LoggedQuery(values["query"], values["user"], begin, end, values["status"].lower() in COMPLETED)


def _records(run: QueryRun, queries: list[LoggedQuery], memory: Runs, system: str) -> Iterator[Record]:
    """Yield the work done at the run's first begin and at each end; `memory` holds its state from earlier reads."""
    workload, run_id = run
    common: Fields = {"system": system, "source": SOURCE, "workload": workload, "run_id": run_id}
    common |= {"unit_of_work": "queries", "operation": ""}
    known = memory.pop(repr(run), None)
    begin = min(query.begin for query in queries)
    first = begin if known is None else min(begin, datetime.fromisoformat(known["begin"]))
    if (known is None or iso(first) != known["begin"]) and all(query.end > first for query in queries):
        yield Record("workload", {"ts": iso(first), **common, "done": 0.0, "failed": 0.0})
    state = known or {"ts": iso(first), "done": 0, "failed": 0}
    ended: dict[str, list[LoggedQuery]] = defaultdict(list)
    for query in queries:
        ended[iso(query.end)].append(query)
    for ts in sorted(ended, key=datetime.fromisoformat):
        completed = [query for query in ended[ts] if query.completed]
        done, failed = state["done"] + len(completed), state["failed"] + len(ended[ts]) - len(completed)
        fields: Fields = {"ts": ts, **common, "done": float(done), "failed": float(failed)}
        elapsed = (datetime.fromisoformat(ts) - datetime.fromisoformat(state["ts"])).total_seconds()
        if elapsed > 0:
            fields |= {"interval_s": round(elapsed, 3), "prev_ts": state["ts"], "prev_done": float(state["done"])}
        if completed:
            took_ms = [(query.end - query.begin).total_seconds() * 1000 for query in completed]
            fields["response_ms"] = round(sum(took_ms) / len(took_ms), 3)
        yield Record("workload", fields)
        state = {"ts": ts, "done": done, "failed": failed}
    memory[repr(run)] = state | {"begin": iso(first)}

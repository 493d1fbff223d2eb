"""Work done by a batch or a driver, as CSV in a layout of Counterflow.

No counter of accounts or transactions is public, so a scheduler, a job log or a driver writes them in this form: the
number done since the run began, which only ever grows within one `run_id`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, BinaryIO

from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject, Unusable
from counterflow.collectors.text.csv_rows import CsvRows, is_csv_of, read_items, utc
from counterflow.collectors.text.keys import is_new
from counterflow.collectors.text.numbers import number_within
from counterflow.collectors.text.running_counts import Sample, beside
from counterflow.collectors.text.stamps import iso

SOURCE = "workload_csv"

REQUIRED = ("time_utc", "workload", "run_id", "unit_of_work", "done")
OPTIONAL = ("failed", "rows", "users", "response_ms")
WAY_OUT = f"a first line with the columns {','.join(REQUIRED)}[,{','.join(OPTIONAL)}]"

MAX_RUNS = 1000
"""Runs of a file that are remembered; older ones are forgotten."""


def recognises(head: bytes) -> bool:
    return is_csv_of(head, _is_header)


def parse(stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
    """Yield a record per row, with the run's count at its preceding row."""
    rows = CsvRows(stream, context, position, _is_header, WAY_OUT, known=(*REQUIRED, *OPTIONAL))
    yield from read_items(rows, lambda values: _records(values, rows))


def _is_header(names: Collection[str]) -> bool:
    return set(REQUIRED) <= set(names)


def _records(values: dict[str, str], rows: CsvRows) -> Iterator[Record | Reject]:
    for name in ("workload", "unit_of_work"):
        if not values[name]:
            yield Reject(Reason.OUT_OF_RANGE, f"expected {name}, found nothing", "none")
            return
    try:
        instant = utc(values["time_utc"])
    except (ValueError, OverflowError) as error:
        reason = Reason.STAMP_INVALID if values["time_utc"] else Reason.STAMP_MISSING
        yield Reject(reason, f"time_utc: {error}", "none")
        return
    figures: Fields = {}
    for name in ("done", *OPTIONAL):
        try:
            number = number_within(values.get(name), lambda: rows.points_group, whole=name != "response_ms")
            if number is not None and number < 0:
                yield Reject(Reason.OUT_OF_RANGE, f"{name}: expected 0 or more, found {number:g}", "part")
            elif number is not None:
                figures[name] = number
        except Unusable as error:
            yield Reject(error.reason, f"{name}: {error}", "part")
    fields: Fields = {"ts": iso(instant), "system": rows.context.system, "source": SOURCE}
    fields |= {name: values[name] for name in ("workload", "run_id", "unit_of_work")} | {"operation": ""}
    before, reject = _beside(fields, instant, figures.get("done"), rows.memory)
    if reject is not None:
        yield reject
        if reject.kept == "none":
            return
    yield Record("workload", fields | before | figures)


def _beside(
    fields: Fields, instant: datetime, done: float | None, memory: dict[str, Any]
) -> tuple[Fields, Reject | None]:
    """Return the run's count at its preceding row, and why the row has none or is noted; remember the row.

    The first row with a smaller count than the row before is refused: it may be misplaced. If the next row continues
    from there, the run id was used again.
    """
    run_id, unit = fields["run_id"], fields["unit_of_work"]
    runs: dict[str, Any] = memory.setdefault(fields["workload"], {})
    run = runs.get(run_id)
    if run is None:
        run = runs[run_id] = {"unit": unit, "refused": None, "sample": None, "times": {}}
        if sum(map(len, memory.values())) > MAX_RUNS:
            workload, oldest = next(iter(memory.items()))
            oldest.pop(next(iter(oldest)))
            if not oldest:
                del memory[workload]
    elif run["unit"] != unit:
        detail = f"run {run_id!r} counts {run['unit']!r}: give what counts {unit!r} another name"
        return {}, Reject(Reason.OUT_OF_RANGE, detail, "none")
    before: Sample | None = run["sample"]
    if done is None:
        return {}, None if is_new(run["times"], "", fields["ts"]) else _again(fields)
    try:
        found = beside(before, instant, {"done": done})
    except Unusable as error:
        return {}, Reject(error.reason, f"run {run_id!r}: {error}", "none")
    if before is not None and found.reason is Reason.RESTARTED:
        went = f"{done:.15g} done after {before['counts']['done']:.15g} at {before['ts']}"
        if run["refused"] is None or done < run["refused"]:
            run["refused"] = done
            return {}, Reject(Reason.NEGATIVE_DELTA, f"run {run_id!r} went back: {went}", "none")
        run |= {"refused": None, "sample": beside(None, instant, {"done": done}).sample}
        return {}, Reject(Reason.RESTARTED, f"run id {run_id!r} was used again, it begins anew here: {went}", "all")
    if not is_new(run["times"], "", fields["ts"]):
        return {}, _again(fields)
    run |= {"refused": None, "sample": found.sample}
    return found.fields, Reject(found.reason, f"run {run_id!r}: {found.detail}", "all") if found.reason else None


def _again(fields: Fields) -> Reject:
    detail = f"run {fields['run_id']!r}: there is a row of {fields['ts']} already"
    return Reject(Reason.DUPLICATE_ROW, detail, "none")

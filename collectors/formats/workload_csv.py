"""What a batch or a driver says that it has done, as CSV of a layout of our own; see docs/formats/workload_csv.md.

No counter of accounts or transactions is public, so a scheduler, a job log or a driver writes them in this form: how
many are done since the run began, which only ever grows within one `run_id`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, BinaryIO

from counterflow.collectors.formats.csv_rows import CsvRows, is_csv_of, read_items, utc
from counterflow.collectors.formats.ibmi_tables.times import iso
from counterflow.collectors.formats.ibmi_tables.values import number_of
from counterflow.collectors.records import Context, Fields, Item, Position, Reason, Record, Reject

REQUIRED = ("time_utc", "workload", "run_id", "unit_of_work", "done")
OPTIONAL = ("failed", "rows", "users", "response_ms")
WAY_OUT = f"a first line with the columns {','.join(REQUIRED)}[,{','.join(OPTIONAL)}]"

MAX_RUNS = 1000
"""Runs of a file that are remembered; of older ones it is not known any more that they were there."""


class WorkloadCsv:
    """CSV of work done."""

    name = "workload_csv"

    def recognises(self, head: bytes) -> bool:
        """Say whether the first line of `head` names the columns."""
        return is_csv_of(head, _is_header)

    def parse(self, stream: BinaryIO, context: Context, position: Position | None = None) -> Iterator[Item]:
        """Yield a record a row, with what the run had done at the row before it."""
        rows = CsvRows(stream, context, position, _is_header, WAY_OUT, known=(*REQUIRED, *OPTIONAL))
        yield from read_items(rows, lambda values: _records(values, context, rows.memory))


def _is_header(names: Collection[str]) -> bool:
    return set(REQUIRED) <= set(names)


def _records(values: dict[str, str], context: Context, memory: dict[str, Any]) -> Iterator[Record | Reject]:
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
            number = number_of(values.get(name))
            if number is not None and number < 0:
                yield Reject(Reason.OUT_OF_RANGE, f"{name}: expected 0 or more, found {number:g}", "part")
            elif number is not None:
                figures[name] = number
        except ValueError:
            yield Reject(Reason.NOT_A_NUMBER, f"{name}: expected a number, found {values[name][:40]!r}", "part")
    fields: Fields = {"ts": iso(instant), "system": context.system, "source": WorkloadCsv.name}
    fields |= {name: values[name] for name in ("workload", "run_id", "unit_of_work")} | {"operation": ""}
    if "done" in figures:
        beside = _beside(fields, instant, figures["done"], memory)
        if isinstance(beside, Reject):
            yield beside
            if beside.kept == "none":
                return
        else:
            fields |= beside
    yield Record("workload", fields | figures)


def _beside(fields: Fields, instant: datetime, done: float, memory: dict[str, Any]) -> Fields | Reject:
    """Return what the run had done at the row before, or why nothing is set beside the row; remember the row.

    The first row that is less than the one before is refused: it may be misplaced. If the next goes on from there, the
    name of the run was given again.
    """
    ts, workload, run_id = fields["ts"], fields["workload"], fields["run_id"]
    runs: dict[str, Any] = memory.setdefault(workload, {})
    sample = {"ts": ts, "done": done, "unit": fields["unit_of_work"]}
    before = runs.get(run_id)
    if before is None:
        runs[run_id] = sample
        _forget(memory)
        return {}
    if before["unit"] != sample["unit"]:
        detail = f"run {run_id!r} counts {before['unit']!r}: give what counts {sample['unit']!r} another name"
        return Reject(Reason.OUT_OF_RANGE, detail, "none")
    elapsed = round((instant - datetime.fromisoformat(before["ts"])).total_seconds(), 3)
    if elapsed == 0:
        return Reject(Reason.DUPLICATE_ROW, f"run {run_id!r} has a row of {ts} already", "none")
    if elapsed < 0:
        return Reject(Reason.LATE_ROW, f"the row of run {run_id!r} before is of {before['ts']}: sort by time", "none")
    if done >= before["done"]:
        runs[run_id] = sample
        return {"interval_s": elapsed, "prev_ts": before["ts"], "prev_done": before["done"]}
    went = f"{done:.15g} done after {before['done']:.15g} at {before['ts']}"
    if done < before.get("refused", float("inf")):
        before["refused"] = done
        return Reject(Reason.NEGATIVE_DELTA, f"run {run_id!r} went back: {went}", "none")
    runs[run_id] = sample
    return Reject(Reason.RESTARTED, f"run id {run_id!r} was used again, it begins anew here: {went}", "all")


def _forget(memory: dict[str, Any]) -> None:
    """Forget the oldest run where there are too many."""
    if sum(map(len, memory.values())) > MAX_RUNS:
        workload = next(iter(memory))
        memory[workload].pop(next(iter(memory[workload])))
        if not memory[workload]:
            del memory[workload]


FORMAT = WorkloadCsv()

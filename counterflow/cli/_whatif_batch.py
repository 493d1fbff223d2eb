"""`counterflow whatif batch`: what faster processors, faster disks or a split job would do to a night of batch jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.cli._reader import command_line, on_option, period, period_options, reader
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.whatif.batch import BatchJob, BatchNight, Levers, ModelledJob

MOST_BESIDE = 20
"""Jobs that are printed beside the chain."""


@click.command("batch")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a system.")
@click.option("--input", "file", type=click.Path(path_type=Path), help="JSON lines with columns of `batch_job_within`.")
@click.option("--disk-ms", type=click.FloatRange(0, 1e4), help="Each wait for a disk takes so long, queue included.")
@click.option("--cpu-speed", type=click.FloatRange(0.01, 100), default=1.0, show_default=True, help="Of processors.")
@click.option("--as", "split", type=click.IntRange(2, 1000), help="The job of --job runs as so many.")
@click.option("--job", "job_name", metavar="NAME", help="Name of the job that is split; needs --as.")
@period_options
@on_option
def command(
    systems: tuple[str, ...],
    begin: datetime | None,
    end: datetime | None,
    file: Path | None,
    job_name: str | None,
    split: int | None,
    cpu_speed: float,
    disk_ms: float | None,
    as_json: bool,
) -> None:
    """Which jobs decide when my night ends, what does their time consist of, and what would shorten it?

    The night is --from and --to. Without a lever the answer is what was measured. docs/whatif.md has the model, and
    docs/studies/batch.md its errors on simulated nights.
    """
    from counterflow.analysis.whatif.batch import Levers, nights

    if (job_name is None) != (split is None):
        raise click.UsageError("--job and --as belong together")
    levers = Levers(cpu_speed, disk_ms, job_name, split or 1)
    found = nights(_rows(systems, begin, end, file), levers)
    if as_json:
        sys.stdout.buffer.writelines(orjson.dumps(_as_dict(night), option=orjson.OPT_APPEND_NEWLINE) for night in found)
    else:
        _print(found, levers)


def _rows(systems: tuple[str, ...], begin: datetime | None, end: datetime | None, file: Path | None) -> list[BatchJob]:
    """Return the jobs of the period, of a file or as they landed; without one, the command ends."""
    from counterflow.analysis.studies.mixes import read_lines
    from counterflow.analysis.whatif import batch, batch_rows

    if file is None:
        with reader() as client:
            rows = batch_rows.read_stored(client, period(systems, begin, end))
        hint = command_line("sql 'SELECT system, job_type, max(ts) FROM counterflow.job GROUP BY system, job_type'")
    else:
        rows = [
            row
            for row in read_lines(file, batch.BatchJob)
            if (begin is None or row.end_ts >= begin)
            and (end is None or row.begin_ts < end)
            and (not systems or row.system in systems)
        ]
        hint = f"{file} needs one JSON object a line, with the columns of `batch_job_within` that docs/whatif.md lists"
    if not rows:
        raise CounterflowError("no batch job of IBM i of these systems in that period", hint=hint, exit_code=2)
    return rows


def _as_dict(night: BatchNight) -> dict[str, Any]:
    jobs = [{**one._asdict(), "job": one.job.model_dump()} for one in night.jobs]
    return {**night._asdict(), "jobs": jobs}


def _print(found: list[BatchNight], levers: Levers) -> None:
    out = console()
    for night in found:
        out.print(f"{night.system}: {len(night.jobs)} batch jobs, {night.servers} more run throughout", markup=False)
        out.print(_end(night, levers), markup=False)
        deciding = {*night.chain, *night.chain_after}
        chain = [one for one in night.jobs if one.job.job in deciding]
        beside = [one for one in night.jobs if one.job.job not in deciding]
        beside.sort(key=lambda one: -one.job.elapsed_s)
        if chain:
            out.print(table(list(_lines(chain, levers)), "the chain that decides, s"))
        if beside:
            out.print(table(list(_lines(beside[:MOST_BESIDE], levers)), "beside it, the longest first, s"))
        if len(beside) > MOST_BESIDE:
            out.print(f"and {len(beside) - MOST_BESIDE} more: --json", style="dim", markup=False)
        for one in [*chain, *beside[:MOST_BESIDE]]:
            if one.reason:
                out.print(f"{one.job.job}: unknown, because {one.reason}", markup=False)
        for note in night.notes:
            out.print(note, markup=False)
        out.print()


def _end(night: BatchNight, levers: Levers) -> str:
    if night.end_ts is None:
        return f"end of the night: unknown, because {night.reason}"
    if levers.is_none:
        return f"the night ends {_time(night.end_ts)}, which a chain of {len(night.chain)} jobs decides"
    ended = f"the night ended {_time(night.end_ts)}; with the levers"
    if night.end_after_ts is None:
        return f"{ended}: unknown, because {night.reason}"
    earlier_min = (night.end_ts - night.end_after_ts).total_seconds() / 60
    word = "earlier" if earlier_min >= 0 else "later"
    return f"{ended} {_time(night.end_after_ts)}, {abs(earlier_min):.1f} min {word}"


def _lines(jobs: list[ModelledJob], levers: Levers) -> Iterator[dict[str, Any]]:
    from counterflow.analysis.whatif.batch import PARTS

    for one in jobs:
        begin, end = one.job.begin_ts, one.job.end_ts
        yield {
            "job": one.job.job,
            **({"begin": f"{begin:%H:%M:%S}", "end": f"{end:%H:%M:%S}"} if levers.is_none else {}),
            "elapsed": _short(one.job.elapsed_s),
            **({} if levers.is_none else {"modelled": _short(one.elapsed_s), "ends": f"{one.end_ts:%H:%M:%S}"}),
            **{name.removesuffix("_s"): _short(getattr(one.job, name)) for name in PARTS},
        }


def _short(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds)


def _time(at: datetime) -> str:
    return f"{at:%m-%d %H:%M:%S}"

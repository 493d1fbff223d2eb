"""`counterflow whatif batch`: what faster processors, faster disks or a split job would do to a night of batch jobs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli._json import write_json
from counterflow.cli._reader import Number, command_line, on_option, period, period_options, reader
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.whatif.batch import BatchNight, ModelledJob

MOST_BESIDE = 20
"""Jobs that are printed below the chain, the longest first."""


@click.command("batch")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a system, with all jobs.")
@click.option("--disk-ms", type=Number(0, 1e4), help="Each wait for a disk takes so long, queue included.")
@click.option("--cpu-speed", type=Number(0.01, 100), default=1.0, show_default=True, help="Of processors.")
@click.option("--as", "split", type=click.IntRange(2, 1000), help="The job of --job runs as so many.")
@click.option("--job", "job_name", metavar="NAME", help="Name of the job that is split; needs --as.")
@period_options
@on_option
def command(
    systems: tuple[str, ...],
    begin: datetime | None,
    end: datetime | None,
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
    from counterflow.analysis.whatif.batch import Levers, nights, read_stored

    if (job_name is None) != (split is None):
        raise click.UsageError("--job and --as belong together")
    with reader() as client:
        rows = read_stored(client, period(systems, begin, end))
    if not rows:
        error = "no batch job of IBM i of these systems in that period"
        hint = command_line("sql 'SELECT system, job_type, max(ts) FROM counterflow.job GROUP BY system, job_type'")
        raise CounterflowError(error, hint=hint, exit_code=2)
    levers = Levers(cpu_speed, disk_ms, job_name, split or 1)
    for night in nights(rows, levers):
        if as_json:
            write_json([_as_dict(night)])
        else:
            _print(night, levers != Levers())


def _as_dict(night: BatchNight) -> dict[str, Any]:
    return {**night._asdict(), "jobs": [{**one._asdict(), "job": one.job.model_dump()} for one in night.jobs]}


def _print(night: BatchNight, modelled: bool) -> None:
    out = console()
    out.print(f"{night.system}: {len(night.jobs)} batch jobs, {night.servers} more run throughout", markup=False)
    out.print(_end(night, modelled), markup=False)
    deciding = {*night.chain, *night.chain_after}
    beside = sorted((one for one in night.jobs if one.job.job not in deciding), key=lambda one: -one.job.elapsed_s)
    shown = [*(one for one in night.jobs if one.job.job in deciding), *beside[:MOST_BESIDE]]
    out.print(table(list(_lines(night, shown, modelled)), "the chain that decides, then the longest beside it; s"))
    if len(beside) > MOST_BESIDE:
        out.print(f"and {len(beside) - MOST_BESIDE} more: --json", style="dim", markup=False)
    unknown = [f"{one.job.job}: unknown, because {one.reason}" for one in shown if one.reason]
    for line in [*unknown, *night.notes, ""]:
        out.print(line, markup=False)


def _end(night: BatchNight, modelled: bool) -> str:
    if night.end_ts is None:
        return f"end of the night: unknown, because {night.reason}"
    if not modelled:
        return f"the night ends {_time(night.end_ts)}, which a chain of {len(night.chain)} jobs decides"
    ended = f"the night ended {_time(night.end_ts)}; with the levers"
    if night.end_after_ts is None:
        return f"{ended}: unknown, because {night.reason}"
    earlier_min = (night.end_ts - night.end_after_ts).total_seconds() / 60
    word = "earlier" if earlier_min >= 0 else "later"
    return f"{ended} {_time(night.end_after_ts)}, {abs(earlier_min):.1f} min {word}"


def _lines(night: BatchNight, jobs: list[ModelledJob], modelled: bool) -> Iterator[dict[str, Any]]:
    from counterflow.analysis.whatif.batch import PARTS

    decides = night.chain_after if modelled else night.chain
    for one in jobs:
        begin, end = one.job.begin_ts, one.job.end_ts
        yield {
            "": "*" if one.job.job in decides else "",
            "job": one.job.job,
            **({} if modelled else {"begin": f"{begin:%H:%M:%S}", "end": f"{end:%H:%M:%S}"}),
            "elapsed": _short(one.job.elapsed_s),
            **({"modelled": _short(one.elapsed_s), "ends": f"{one.end_ts:%H:%M:%S}"} if modelled else {}),
            **{name.removesuffix("_s"): _short(getattr(one.job, name)) for name in PARTS},
        }


def _short(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds)


def _time(at: datetime) -> str:
    return f"{at:%m-%d %H:%M:%S}"

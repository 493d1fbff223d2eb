"""`counterflow whatif`: estimates the cost of a change from measured workloads and published figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli import _whatif_batch, _whatif_log_path
from counterflow.cli._group import Group
from counterflow.cli._json import write_json
from counterflow.cli._reader import F, Number, command_line, on_option, period, period_options, reader, refuse_both
from counterflow.cli._table import console, table

if TYPE_CHECKING:
    from counterflow.analysis.studies.mirror import Mix, Plan, Workload
    from counterflow.base.clickhouse import Settings


@click.group(cls=Group)
def command() -> None:
    """Estimate the cost of a change from measured workloads.

    Published measurements are applied to them; each figure has its assumption and source.
    """


command.add_command(_whatif_batch.command)
command.add_command(_whatif_log_path.command)


def _of_workloads(command: F) -> F:
    """Give a command the options that choose workloads, and how they are printed."""
    file_help = "JSON lines with columns of `io_mix`, not ClickHouse."
    grouping_help = "Grouping of `io_mix`, one workload a name."
    for option in (
        click.option("--json", "as_json", is_flag=True, help="All workloads, one JSON object a line."),
        click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Workloads per table."),
        click.option("--grouping", default="generic_job", show_default=True, help=grouping_help),
        click.option("--input", "file", type=click.Path(path_type=Path), help=file_help),
        period_options,
        on_option,
    ):
        command = option(command)
    return command


def _of_distance(command: F) -> F:
    """Give a command the options of the distance between the nodes."""
    trips = click.option("--round-trips", type=Number(2, 100), default=2.0, show_default=True, help="Per row change.")
    return click.option("--km", type=Number(0, 20_000), help="Length of the line between the nodes.")(trips(command))


@command.command()
@_of_distance
@_of_workloads
def mirror(**chosen: Any) -> None:
    """How much of each workload would Db2 Mirror touch, and how long would it wait?

    Each figure comes with its assumption and source, and a wait from low to high. docs/whatif.md has the model.
    """
    _answer("workloads", **chosen)


@command.command()
@click.option("--line-gbits", type=Number(0.001, 1e5), help="Rate of the RoCE port each way, Gb/s.")
@click.option("--row-bytes", type=Number(1, 1e6), default=1301.0, show_default=True, help="Length of a row.")
@click.option("--headroom", type=Number(0, 1000), default=20.0, show_default=True, help="Reserve above the peak, %.")
@click.option(
    "--enforcement",
    type=Number(0.01, 1),
    default=0.62,
    show_default=True,
    help="Part of its nominal capacity that a capped port gets; 0.62 to 0.74 were measured.",
)
@_of_workloads
def line(headroom: float, **chosen: Any) -> None:
    """What must the line between the nodes carry at the peak, and which capacity does that take?"""
    _answer("line", headroom_pct=headroom, **chosen)


@command.command()
@click.option("--units-per-s", type=Number(1e-9, 1e9), help="Units of work a second, without mirroring.")
@click.option("--response-ms", type=Number(1e-6, 1e9), help="Response of a unit, without mirroring.")
@click.option("--busy-pct", type=Number(0.001, 99.9), help="Processor utilisation, without mirroring.")
@click.option("--cores", type=Number(0.01, 1e4), help="Processors of each node.")
@click.option("--jobs", type=Number(1e-3, 1e7), help="Jobs or users that the units come from.")
@click.option("--like", type=click.Choice(["native", "sql"]), help="Published runs that it resembles.")
@click.option("--cpw", type=(Number(1, 1e9), Number(1, 1e9)), metavar="FROM TO", help="CPW here, and elsewhere.")
@click.option("--rperf", type=(Number(0.01, 1e6), Number(0.01, 1e6)), metavar="FROM TO", help="Or rPerf of both.")
@_of_distance
@_of_workloads
def nodes(cpw: tuple[float, float] | None, rperf: tuple[float, float] | None, **chosen: Any) -> None:
    """Which response, throughput and processors would both nodes have, here or on another machine?

    Needs --km and the measured work of the partition without mirroring. docs/whatif.md has the model.
    """
    if cpw and rperf:
        raise click.UsageError("give --cpw or --rperf, not both")
    rating, (here, there) = ("CPW", cpw) if cpw else ("rPerf", rperf) if rperf else (None, (1.0, 1.0))
    shown = f"{rating} {here:g} to {there:g}" if rating else None
    _answer("nodes", capacity=there / here, rating=shown, **chosen)


def _answer(
    question: str,
    systems: tuple[str, ...],
    begin: datetime | None,
    end: datetime | None,
    file: Path | None,
    grouping: str,
    top: int,
    as_json: bool,
    **assumed: Any,
) -> None:
    """Print the figures that answer a question of the chosen workloads; those that have none of them are left out.

    `assumed` are fields of the plan.
    """
    from counterflow.analysis.studies import mixes
    from counterflow.analysis.studies.mirror import Mix, Plan, as_dict, figures_of, study

    refuse_both(file)
    plan = Plan(**assumed)
    names = figures_of(question)
    needed = "line_gbits" if question == "line" else "km"
    line: dict[str, dict[str, float]] = {}
    if file:
        read = list(mixes.read_lines(file, Mix))
        within = (mix for mix in read if mixes.is_read(mix.system, mix.ts, systems, begin, end))
        chosen = [mix for mix in within if mix.grouping in ("partition", grouping)]
    else:
        settings: Settings = {**period(systems, begin, end), "param_grouping": grouping}
        with reader() as client:
            chosen = read = mixes.read_stored(client, settings)
            if getattr(plan, needed) is None:
                line = mixes.read_line(client, settings)
    by_system = groupby(sorted(chosen, key=attrgetter("system")), attrgetter("system"))
    landed = {system: known[needed] for system, known in line.items() if needed in known}
    found = [
        one for system, of in by_system for one in study(of, _with_landed(plan, needed, landed.get(system), system))
    ]
    if not found:
        raise _nothing(file, read)
    figures = ({name: figure for name, figure in w.figures.items() if name in names} for w in found)
    asked = [w._replace(figures=of) for w, of in zip(found, figures, strict=True) if of]
    if not asked:
        raise CounterflowError("io_mix has no row of the partition", hint=f"it has {grouping} alone", exit_code=2)
    if as_json:
        write_json(map(as_dict, asked))
    else:
        _print(asked, top)


def _with_landed(plan: Plan, needed: str, landed: float | None, system: str) -> Plan:
    """Return the plan with what landed of a system's line, if anything, and print a note of that."""
    if landed is None:
        return plan
    option = needed.replace("_", "-")
    click.echo(f"note: {system}: {option} {landed:g}, as it landed; --{option} replaces it", err=True)
    replaced: dict[str, Any] = {needed: landed}
    return plan._replace(**replaced)


def _nothing(file: Path | None, read: list[Mix]) -> CounterflowError:
    """Return the error that no row is left of those that were read."""
    error = "no mix of logical database I/O for these systems in that period"
    if file is None:
        hint = command_line("sql 'SELECT system, max(ts) FROM counterflow.io_mix GROUP BY system'")
        return CounterflowError(error, hint=hint, exit_code=2)
    if not read:
        hint = "give one JSON object a line, with the columns of `io_mix` that docs/whatif.md lists"
        return CounterflowError(f"{file}: it holds no row", hint=hint, exit_code=2)
    systems, groupings = (", ".join(sorted({getattr(mix, name) for mix in read})) for name in ("system", "grouping"))
    first, last = (of(mix.ts for mix in read).isoformat() for of in (min, max))
    hint = f"it has rows of {systems} from {first} to {last}, with the grouping {groupings}"
    return CounterflowError(f"{file}: {error} and grouping", hint=hint, exit_code=2)


def _print(found: list[Workload], top: int) -> None:
    out = console()
    for system in dict.fromkeys(w.system for w in found):
        of = [w for w in found if w.system == system]
        names = dict.fromkeys(name for w in of for name in w.figures)
        for name in names:
            having = [w for w in of if name in w.figures]
            first = having[0].figures[name]
            title = f"{system}, {name} ({first.unit}): {first.assumption} [{first.source}]"
            out.print(table(list(_rows(having[:top], name)), title))
            if len(having) > top:
                out.print(f"and {len(having) - top} more with fewer row changes: --top", style="dim", markup=False)
            out.print()


def _rows(workloads: Sequence[Workload], name: str) -> Iterator[dict[str, Any]]:
    has_limits = any(workload.figures[name].origin for workload in workloads)
    for workload in workloads:
        figure = workload.figures[name]
        yield {
            "grouping": workload.grouping,
            "name": workload.name,
            name: _rounded(figure.value),
            **({"low": _rounded(figure.low), "high": _rounded(figure.high)} if has_limits else {}),
            "note": "; ".join(
                filter(None, (figure.reason, figure.note if figure.value is not None else None, figure.origin))
            ),
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)

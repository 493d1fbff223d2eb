"""`counterflow study simulate`: writes published measurements as raw counters."""

from __future__ import annotations

from datetime import datetime
from difflib import get_close_matches
from pathlib import Path

import click
from rich.table import Column, Table

from counterflow.base.errors import CounterflowError
from counterflow.cli._folder import Folder
from counterflow.cli._json import write_json
from counterflow.cli._table import console
from counterflow.cli._times import TIME
from counterflow.simulate import START, Simulation, cases, simulate

BEGIN = f"{START:%Y-%m-%dT%H:%M:%S}"


@click.command()
@click.argument("case", required=False)
@click.option("--out", type=Folder(), help="Folder; each system gets a subfolder.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the noise; the means stay the same.")
@click.option("--start", type=TIME, default=BEGIN, show_default=True, help="Simulated start, UTC.")
@click.option("--list", "list_cases", is_flag=True, help="List the cases.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: files and runs.")
def command(case: str | None, out: Path | None, seed: int, start: datetime, list_cases: bool, as_json: bool) -> None:
    """Write raw counters that reproduce the published figures of CASE; nothing is recorded from a real system.

    The case's page below docs/studies, which --list names, separates the document's figures from assumptions.
    """
    if list_cases:
        _list(as_json)
        return
    if case is not None and case not in cases():
        near = get_close_matches(case, cases(), 1)
        hint = f"{f'did you mean {near[0]}? ' if near else ''}one of {', '.join(cases())}"
        raise CounterflowError(f"there is no case `{case}`", hint=hint, exit_code=2)
    if case is None or out is None:
        raise click.UsageError("needs CASE and --out DIR, or --list")
    try:
        simulated = simulate(case, out, seed, start)
    except OSError as error:
        raise CounterflowError(f"{error.filename or out}: {error.strerror}", hint="choose another folder") from None
    if as_json:
        write_json([_as_dict(case, seed, simulated)])
    else:
        _print(simulated)


def _list(as_json: bool) -> None:
    if as_json:
        write_json([{name: case.title for name, case in cases().items()}])
        return
    table = Table("case", "what", Column("assumed", no_wrap=True), box=None, header_style="dim")
    for name, case in cases().items():
        table.add_row(name, case.title, case.document)
    console().print(table)


def _as_dict(case: str, seed: int, simulated: Simulation) -> dict[str, object]:
    return {
        "case": case,
        "title": cases()[case].title,
        "seed": seed,
        "generated": True,
        "files": [{"system": written.system, "path": str(written.path)} for written in simulated.files],
        "runs": [
            {
                "run": placed.run.name,
                "after": placed.begin,
                "until": placed.end,
                "systems": list(placed.run.systems),
                "published": placed.run.published,
                "implied": placed.run.implied,
            }
            for placed in simulated.runs
        ],
    }


def _print(simulated: Simulation) -> None:
    out = console(soft_wrap=True)
    table = Table("run", "after", "until", "systems", box=None, header_style="dim")
    for placed in simulated.runs:
        systems = ", ".join(placed.run.systems)
        table.add_row(placed.run.name, f"{placed.begin:%Y-%m-%d %H:%M:%S}", f"{placed.end:%H:%M:%S}", systems)
    out.print(table)
    out.print(f"{len(simulated.files)} files generated; no real system was recorded. Publish each folder:")
    for folder in dict.fromkeys(written.path.parent for written in simulated.files):
        named = {written.system for written in simulated.files if written.path.parent == folder} - {None}
        out.print(f"  counterflow publish {folder}" + "".join(f" --system {system}" for system in named), markup=False)

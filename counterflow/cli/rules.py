"""`counterflow rules`: lists the verdict rules and their parameters, and replays them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from counterflow.cli._group import Group
from counterflow.cli._json import write_json
from counterflow.cli._reader import F, on_option, reader, refuse_both
from counterflow.cli._table import console, table
from counterflow.cli._times import TIME
from counterflow.pipelines.rules import Rule, rules, with_settings

if TYPE_CHECKING:
    from counterflow.analysis.replay import Given


_rule = click.argument(
    "rule", metavar="RULE", type=click.Choice(list(rules())), callback=lambda _, __, name: rules()[name]
)
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead of a table.")
_source = click.option(
    "--input", "source", type=click.File("rb"), help="Intervals as JSON lines; `-` is standard input."
)
_begin = click.option("--from", "begin", type=TIME, help="First stored interval end; UTC by default.")
_end = click.option("--to", "end", type=TIME, help="Up to, but excluding, this interval end.")
_settings = click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Set a parameter; may be repeated."
)


def _intervals(command: F) -> F:
    """Give a command RULE, the source of its intervals, and the parameters to set."""
    for option in (_settings, _end, _begin, _source, _rule, on_option):
        command = option(command)
    return command


@click.group(cls=Group)
def command() -> None:
    """Show the verdict rules, and replay them."""


@command.command("list")
@_json
def listing(as_json: bool) -> None:
    """List the rules and the questions that they answer."""
    _print([{"rule": rule.name, "question": rule.question} for rule in rules().values()], as_json)


@command.command()
@_rule
@_json
def show(rule: Rule[Any, Any, Any], as_json: bool) -> None:
    """Show the parameters of RULE: name, default, meaning and source of the default."""
    _print([{"parameter": f.name, "default": f.default, **f.metadata} for f in fields(rule.parameters)], as_json)


@command.command()
@_intervals
@click.option(
    "--score", "spells", type=click.Path(path_type=Path), help="Compare with the labelled spells of this file."
)
@click.option(
    "--sweep", "sweeps", metavar="NAME=A..B", multiple=True, help="With --score: five values from A to B, or A,B,C."
)
@_json
def replay(
    rule: Rule[Any, Any, Any],
    source: BinaryIO | None,
    begin: datetime | None,
    end: datetime | None,
    settings: tuple[str, ...],
    spells: Path | None,
    sweeps: tuple[str, ...],
    as_json: bool,
) -> None:
    """Judge intervals with RULE, from a file or as stored, each entity from a cold start; one line per interval.

    With --score, one line for each set of parameters: precision, recall, minutes of lead and of false alarm.
    """
    from counterflow.analysis.replay import replayed

    parameters = _parameters(rule, settings)
    if sweeps and spells is None:
        raise click.UsageError("--sweep goes with --score")
    rows = _given_rows(rule, source, begin, end)
    if spells is not None:
        _print(list(_scores(rule, settings, sweeps, list(rows), spells)), as_json)
    else:
        _print(replayed(rule, parameters, rows), as_json)


def _given_rows(
    rule: Rule[Any, Any, Any], source: BinaryIO | None, begin: datetime | None, end: datetime | None
) -> Iterator[Given]:
    from counterflow.analysis.replay import read_lines, read_stored

    refuse_both(source)
    if source is not None and begin is None and end is None:
        return read_lines(rule, source.name, source)
    if source is None and begin is not None and end is not None:
        if end <= begin:
            raise click.BadParameter(f"{end} is not after {begin}", param_hint="--to")
        with reader() as client:
            return iter(read_stored(rule, client, begin, end))
    raise click.UsageError("give either --input FILE or both --from and --to")


def _scores(
    rule: Rule[Any, Any, Any], settings: tuple[str, ...], sweeps: tuple[str, ...], rows: list[Given], spells: Path
) -> Iterator[dict[str, Any]]:
    from counterflow.analysis.replay import raised
    from counterflow.analysis.score import read_spells, score

    labelled = read_spells(spells)
    for point in product(*(_values(sweep) for sweep in sweeps)):
        found = score(raised(rule, _parameters(rule, (*settings, *point)), rows), labelled)
        figures = {name: round(v, 4) if isinstance(v, float) else v for name, v in found._asdict().items()}
        yield {**dict(setting.split("=", 1) for setting in point), **figures}


def _values(sweep: str) -> list[str]:
    """Return `NAME=VALUE` for each value of NAME=A..B or NAME=A,B,C."""
    name, equals, values = sweep.partition("=")
    first, dots, last = values.partition("..")
    try:
        if not equals or not values:
            raise ValueError
        steps = [float(first) + (float(last) - float(first)) * n / 4 for n in range(5)] if dots else None
    except ValueError:
        raise click.BadParameter(f"expected NAME=A..B or NAME=A,B,C, found `{sweep}`", param_hint="--sweep") from None
    return [f"{name}={value:g}" for value in steps] if steps else [f"{name}={value}" for value in values.split(",")]


def _parameters(rule: Rule[Any, Any, Any], settings: tuple[str, ...]) -> Any:
    pairs = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise click.BadParameter(f"expected NAME=VALUE, found `{setting}`", param_hint="--set")
        pairs[name.strip()] = value.strip()
    try:
        return with_settings(rule.parameters(), pairs)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--set") from None


def _print(rows: Iterable[dict[str, Any]], as_json: bool) -> None:
    """Print rows as they come as JSON lines; as a table, which needs them all, once they are complete."""
    if as_json:
        write_json(rows)
    else:
        shown = list(rows)
        console().print(table(shown) if shown else "no rows")

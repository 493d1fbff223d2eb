"""`counterflow rules`: lists the verdict rules and their parameters, and replays them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click
import orjson

from counterflow.base.errors import CounterflowError
from counterflow.cli._group import Group
from counterflow.cli._reader import F, on_option, reader
from counterflow.cli._table import console, table
from counterflow.cli._times import TIME
from counterflow.pipelines.rules import Rule, rules, with_settings

if TYPE_CHECKING:
    from counterflow.analysis.replay import Given
    from counterflow.pipelines.rules.learned import Limit


class RuleName(click.ParamType[Rule[Any, Any, Any]]):
    name = "rule"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Rule[Any, Any, Any]:
        found = rules().get(value)
        return found or self.fail(f"there is no rule `{value}`; there is {', '.join(rules())}", param, ctx)


_rule = click.argument("rule", metavar="RULE", type=RuleName())
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
    """Show the verdict rules, replay them, and learn their limits."""


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
@click.option("--picture", type=click.Path(path_type=Path), help="Draw the states over time as this SVG file.")
@_json
def replay(
    rule: Rule[Any, Any, Any],
    source: BinaryIO | None,
    begin: datetime | None,
    end: datetime | None,
    settings: tuple[str, ...],
    spells: Path | None,
    sweeps: tuple[str, ...],
    picture: Path | None,
    as_json: bool,
) -> None:
    """Judge intervals with RULE, from a file or as stored, each entity from a cold start; one line per interval.

    With --score, one line for each set of parameters: precision, recall, minutes of lead and of false alarm.
    """
    from counterflow.analysis.replay import replayed

    parameters = _parameters(rule, settings)
    if sweeps and spells is None:
        raise click.UsageError("--sweep goes with --score")
    if spells is not None or picture is not None:
        given = list(_given_rows(rule, source, begin, end))
        if picture is not None:
            _draw(rule, parameters, given, picture)
        if spells is not None:
            _print(list(_scores(rule, settings, sweeps, given, spells)), as_json)
        return
    rows = replayed(rule, parameters, _given_rows(rule, source, begin, end))
    _print(rows, as_json)


@command.command()
@_intervals
@click.option("--site", type=click.Path(path_type=Path), help="Write each learned ceiling into this site file.")
@_json
def learn(
    rule: Rule[Any, Any, Any],
    source: BinaryIO | None,
    begin: datetime | None,
    end: datetime | None,
    settings: tuple[str, ...],
    site: Path | None,
    as_json: bool,
) -> None:
    """Show the limit that RULE learns for each entity and configuration, from a file or as stored.

    A learned limit warns at most. One that --site has written is configured: it may be critical from then on.
    """
    from counterflow.analysis.replay import learned

    if site is not None and rule.name != "log_ceiling":
        raise click.BadParameter("the site file has ceilings of logs alone", param_hint="--site")
    parameters = _parameters(rule, settings)
    rows = []
    for row, limit, ts in learned(rule, parameters, _given_rows(rule, source, begin, end)):
        rows.append({**row, "until": ts.astimezone(UTC).isoformat(), **limit.as_json(rule.learned_as)})
        if site is not None and limit.usable:
            _write_ceiling(site, row, ts, limit)
    _print(rows, as_json)


def _write_ceiling(site: Path, row: dict[str, Any], ts: datetime, limit: Limit) -> None:
    from counterflow.collectors.formats.site.writing import add_ceiling

    comment = f"learned from {limit.intervals} intervals, spread {limit.spread:.2g}, confidence {limit.confidence}"
    try:
        text = site.read_text(encoding="utf-8")
        text = add_ceiling(text, row["system"], row["subsystem"], row["path"], ts, limit.value, comment)
        site.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CounterflowError(f"{site}: {error}", hint="collectors/formats/site/README.md", exit_code=2) from None


def _given_rows(
    rule: Rule[Any, Any, Any], source: BinaryIO | None, begin: datetime | None, end: datetime | None
) -> Iterator[Given]:
    from counterflow.analysis.replay import read_lines, read_stored

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
    from counterflow.analysis.replay import judged
    from counterflow.analysis.score import read_spells, score

    labelled = read_spells(spells)
    for point in product(*(_values(sweep) for sweep in sweeps)):
        found = score(judged(rule, _parameters(rule, (*settings, *point)), rows), labelled)
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


def _draw(rule: Rule[Any, Any, Any], parameters: Any, rows: list[Given], picture: Path) -> None:
    """Draw the states of each entity as bars over time."""
    import vl_convert

    from counterflow.analysis.replay import judged
    from counterflow.dashboards.definition import looks

    values = [
        {
            "from": (one.ts - timedelta(seconds=one.interval_s)).isoformat(),
            "to": one.ts.isoformat(),
            "entity": f"{one.system} / {one.entity}",
            "state": one.state,
        }
        for one in judged(rule, parameters, rows)
    ]
    colours = {state: looks().colours[looks().states[state]] for state in rule.states}
    picture.write_text(
        vl_convert.vegalite_to_svg(
            {
                "width": 900,
                "height": {"step": 24},
                "data": {"values": values},
                "mark": "bar",
                "encoding": {
                    "x": {"field": "from", "type": "temporal", "scale": {"type": "utc"}, "title": "UTC"},
                    "x2": {"field": "to"},
                    "y": {"field": "entity", "type": "nominal", "title": None},
                    "color": {
                        "field": "state",
                        "type": "nominal",
                        "scale": {"domain": [*colours], "range": [*colours.values()]},
                        "title": rule.name,
                    },
                },
            }
        ),
        encoding="utf-8",
    )


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
        sys.stdout.buffer.writelines(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    else:
        shown = list(rows)
        console().print(table(shown) if shown else "no rows")

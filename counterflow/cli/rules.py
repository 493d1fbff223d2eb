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
from counterflow.pipelines.rules import Rule, Verdict, rules, with_settings

if TYPE_CHECKING:
    from counterflow.analysis.score import Judged
    from counterflow.pipelines.rules.learned import Limit

# the judged entity, its interval, and the columns printed beside the verdict
Given = tuple[tuple[str, ...], Any, dict[str, Any]]


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
    judged = _replayed(rule, parameters, _given_rows(rule, source, begin, end))
    if as_json:
        sys.stdout.buffer.writelines(_json_lines(judged))
    else:
        _print(list(judged), as_json)


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
    if site is not None and rule.name != "log_ceiling":
        raise click.BadParameter("the site file has ceilings of logs alone", param_hint="--site")
    parameters = _parameters(rule, settings)
    states: dict[tuple[str, ...], Any] = {}
    found: dict[Any, tuple[Limit, datetime]] = {}
    for entity, interval, _ in _given_rows(rule, source, begin, end):
        states[entity], _ = rule.judge(parameters, states.get(entity, rule.start), interval)
        limit = rule.learned(parameters, states[entity])
        if limit is not None:
            found[entity, states[entity].learned.configuration] = limit, interval.ts
    rows = []
    for (entity, configuration), (limit, ts) in found.items():
        row = dict(zip(rule.entity, entity, strict=False)) | dict(zip(rule.configuration, configuration, strict=False))
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
    if source is not None and begin is None and end is None:
        return _lines(rule, source.name, source)
    if source is None and begin is not None and end is not None:
        if end <= begin:
            raise click.BadParameter(f"{end} is not after {begin}", param_hint="--to")
        return _stored(rule, begin, end)
    raise click.UsageError("give either --input FILE or both --from and --to")


def _judged(rule: Rule[Any, Any, Any], parameters: Any, rows: Iterable[Given]) -> Iterator[Judged]:
    from counterflow.analysis.score import Judged

    states: dict[tuple[str, ...], Any] = {}
    for entity, interval, _ in rows:
        states[entity], verdict = rule.judge(parameters, states.get(entity, rule.start), interval)
        alarm = str(verdict.state) in rule.alarms
        yield Judged(entity[0], entity[1], interval.ts, interval.interval_s or 0.0, str(verdict.state), alarm)


def _scores(
    rule: Rule[Any, Any, Any], settings: tuple[str, ...], sweeps: tuple[str, ...], rows: list[Given], spells: Path
) -> Iterator[dict[str, Any]]:
    from counterflow.analysis.score import read_spells, score

    labelled = read_spells(spells)
    for point in product(*(_values(sweep) for sweep in sweeps)):
        found = score(_judged(rule, _parameters(rule, (*settings, *point)), rows), labelled)
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

    from counterflow.dashboards.definition import looks

    values = [
        {
            "from": (one.ts - timedelta(seconds=one.interval_s)).isoformat(),
            "to": one.ts.isoformat(),
            "entity": f"{one.system} / {one.entity}",
            "state": one.state,
        }
        for one in _judged(rule, parameters, rows)
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


def _replayed(rule: Rule[Any, Any, Any], parameters: Any, rows: Iterator[Given]) -> Iterator[dict[str, Any]]:
    """Judge each row with the state of its entity; yield the columns to print."""
    states: dict[tuple[str, ...], Any] = {}
    for entity, interval, shown in rows:
        verdict: Verdict
        states[entity], verdict = rule.judge(parameters, states.get(entity, rule.start), interval)
        shown["state"], shown["signal"], shown["stale"], shown["reason"], _ = verdict
        yield shown


def _lines(rule: Rule[Any, Any, Any], name: str, lines: Iterable[bytes]) -> Iterator[Given]:
    """Read JSON lines of a file; blank ones are skipped."""
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        place = f"{name}:{number}"
        try:
            columns = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise CounterflowError(f"{place}: expected a JSON object, found {error}", exit_code=2) from None
        if not isinstance(columns, dict):
            raise CounterflowError(f"{place}: expected a JSON object, found {line[:80]!r}", exit_code=2)
        yield _given(rule, columns, place)


def _given(rule: Rule[Any, Any, Any], columns: dict[str, Any], place: str) -> Given:
    """Return the entity and interval of a row by column name, and the columns to print."""
    try:
        shown = {column: columns.get(column) for column in ("ts", *rule.entity)}
        return rule.entity_of(columns), rule.interval(columns), shown
    except ValueError as error:
        raise CounterflowError(f"{place}: {error}", hint="fix or remove it", exit_code=2) from None


def _stored(rule: Rule[Any, Any, Any], begin: datetime, end: datetime) -> Iterator[Given]:
    """Read the rows that the rule's job judges, in order of time; columns are named as in the JSON lines."""
    from counterflow.pipelines.jobs import all_jobs

    order = ", ".join(("ts", *rule.entity, *([rule.kind] if rule.kind else [])))
    statement = f"SELECT * FROM ({all_jobs()[rule.name].batch}) ORDER BY {order}"
    times = {
        f"param_{name}": f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
        for name, moment in (("from", begin), ("to", end))
    }
    with reader() as client:
        rows = client.rows(statement, {**times, "date_time_output_format": "iso"})
    for columns in rows:
        yield _given(rule, columns, f"counterflow.{rule.dataset}, {columns['ts']}")


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


def _print(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        sys.stdout.buffer.writelines(_json_lines(rows))
    else:
        console().print(table(rows) if rows else "no rows")


def _json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    return (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)

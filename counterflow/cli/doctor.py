"""`counterflow doctor`: what cannot be judged, which published rules warn, and what changed when a limit was hit."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.base.errors import CounterflowError
from counterflow.cli._reader import FIRST, command_line, kept, nothing_recorded, on_option, period, reader, require
from counterflow.cli._times import TIME, stated

if TYPE_CHECKING:
    from counterflow.analysis.answer import Answer
    from counterflow.analysis.checks.facts import Facts
    from counterflow.analysis.culprit import Period
    from counterflow.base.clickhouse import ClickHouse

_ABOUT_INPUT = {"verdict": "verdicts", "kpi": "KPIs", "alert": "alerts", "board": "boards"}


@click.command()
@click.argument("systems", metavar="[SYSTEM]...", nargs=-1)
@on_option
@click.option("--from", "begin", type=TIME, help="Judge SYSTEM by intervals from this end; UTC by default.")
@click.option("--to", "end", type=TIME, help="Up to, but excluding, this end; with --at, its end.")
@click.option("--facts", "facts_file", type=click.Path(path_type=Path), help="YAML or JSON: what no counter provides.")
@click.option("--at", type=TIME, help="Rank what changed on SYSTEM at this time.")
@click.option("--rule", help="In place of --at: when this rule last raised its alarm.")
@click.option("--entity", help="With --rule: of this link or log.")
@click.option("--before", "before_min", type=click.IntRange(1), help="Minutes of quiet time before it.  [default: 60]")
@click.option("--sql", "show_sql", is_flag=True, help="With --at: print the statement behind each measure.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an answer, one a line.")
@click.pass_context
def command(
    ctx: click.Context,
    systems: tuple[str, ...],
    begin: datetime | None,
    end: datetime | None,
    facts_file: Path | None,
    at: datetime | None,
    rule: str | None,
    entity: str | None,
    before_min: int | None,
    show_sql: bool,
    as_json: bool,
) -> None:
    """Report what cannot be judged and why, and what is wrong.

    Alone: the parts, and whether the input of each verdict, KPI, alert and board arrives. With SYSTEM: published rules
    too, over a representative period. With --at: what changed most on SYSTEM against the quiet time before.

    Exit status 0: nothing calls for action; 1: an input is missing or has stopped, or a rule warns; 2: a part does not
    work, or nothing was examined.
    """
    if at is not None or rule is not None:
        if len(systems) != 1 or (at and rule) or begin or facts_file or (end and (not at or end <= at)):
            raise click.UsageError("give one SYSTEM, and either --at, with or without a later --to, or --rule")
        _rank(systems[0], at, end, rule, entity, timedelta(minutes=before_min or 60), show_sql, as_json)
        return
    if entity or before_min or show_sql:
        raise click.UsageError("--entity, --before and --sql are of --at or --rule")
    if not systems and (begin or facts_file):
        raise click.UsageError("--from and --facts are of published rules: name a SYSTEM")
    from counterflow.analysis.answer import Answer
    from counterflow.stack.examination import parts
    from counterflow.stack.settings import StackSettings

    troubles = [] if kept() else list(parts(StackSettings.running()))
    answers = [Answer("part", None, one.part, None, "fail", True, None, one.why, None, one.advice) for one in troubles]
    if not any(trouble.part == "clickhouse" for trouble in troubles):
        answers += _judged(systems, begin, end, facts_file)
    if as_json:
        _write(answers)
    else:
        _print(answers, named=bool(systems))
    ctx.exit(2 if troubles else 1 if any(one.raises for one in answers) else 0)


def _judged(
    systems: Sequence[str], begin: datetime | None, end: datetime | None, facts_file: Path | None
) -> Iterator[Answer]:
    """Yield the answers about the inputs and, of named systems, about published rules."""
    from counterflow.analysis.checks.facts import load
    from counterflow.analysis.doctor import examine

    facts = load(facts_file) if facts_file else None
    with reader() as client:
        require(client, [system for system in systems if facts is None or system not in facts.systems])
        now = end or (FIRST if kept() else None)  # nothing arrives in a folder
        yield from (one.answer for one in examine(client, systems, now))
        if systems:
            yield from _rules(client, systems, begin, end, facts)


def _rules(
    client: ClickHouse, systems: Sequence[str], begin: datetime | None, end: datetime | None, facts: Facts | None
) -> Iterator[Answer]:
    from counterflow.analysis.answer import Answer
    from counterflow.analysis.checks.report import answers, measured, with_facts

    found = list(answers(with_facts(measured(client, period(systems, begin, end)), facts, systems)))
    yield from found
    why = "no IBM i counters of the system in that period, and no facts about it"
    way_out = command_line("sql systems")
    for system in sorted({*systems} - {one.system for one in found}):
        yield Answer("rule", system, "published rules", None, "unknown", False, None, why, None, f"see {way_out}")


def _print(answers: Collection[Answer], *, named: bool) -> None:
    """Print parts and inputs that call for action and, of named systems, all; alerts and boards are counted alone."""
    from counterflow.cli._answers import show, wrapped

    if not kept() and not any(one.kind == "part" for one in answers):
        click.echo("All parts work.")
    show([one for one in answers if one.kind not in ("alert", "board") and (named or one.raises)])
    about = [one for one in answers if one.kind in _ABOUT_INPUT]
    counted: Counter[tuple[str, str]] = Counter(
        (one.kind, one.status) for one in about if one.details["input"] != "absent"
    )
    parts = [
        f"{counted[kind, 'pass']} of {sum(n for (of, _), n in counted.items() if of == kind)} {name}"
        for kind, name in _ABOUT_INPUT.items()
    ]
    number = len({one.system for one in about})
    lines = wrapped(f"{number} system{'s' * (number != 1)}. Input is there for {', '.join(parts)}.")
    click.echo(f"\n{lines}" if any(one.raises or named for one in answers) else lines)


def _write(answers: Iterable[Answer]) -> None:
    import orjson

    option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z
    sys.stdout.buffer.writelines(orjson.dumps(one._asdict(), option=option) for one in answers)


def _rank(
    system: str,
    at: datetime | None,
    end: datetime | None,
    rule: str | None,
    entity: str | None,
    quiet: timedelta,
    show_sql: bool,
    as_json: bool,
) -> None:
    """Print what changed on a system; raises `CounterflowError` where a time has no record, or the rule no alarm."""
    from counterflow.analysis.culprit import changes, recorded_s
    from counterflow.cli._answers import show_changes, wrapped
    from counterflow.schemas.culprit import behind, measures

    with reader() as client:
        require(client, [system])
        compared = _period(client, system, at, end, rule, entity, quiet)
        found = [one.answer(system) for one in changes(client, system, compared)]
        quiet_min = round(recorded_s(client, system, compared.quiet, compared.begin) / 60)
        if not found:
            _require_rows(client, system, compared)
    if as_json:
        _write(found)
        return
    when = f"{compared.begin:%F %T} to {compared.end:%F %T} UTC"
    click.echo(wrapped(f"{system}, {when}, against the {quiet_min} minutes before that were recorded"))
    if not found:
        click.echo("Nothing collected in both times has changed.")
    of = measures()
    statements = {one.subject: behind(one.subject) for one in found} if show_sql else {}
    show_changes(found, {name: f"{measure.title}, {measure.unit}" for name, measure in of.items()}, statements)


def _period(
    client: ClickHouse,
    system: str,
    at: datetime | None,
    end: datetime | None,
    rule: str | None,
    entity: str | None,
    quiet: timedelta,
) -> Period:
    """Return the time in question: as given, or the spell of an alarm at that time, or else the hour from then."""
    from counterflow.analysis.culprit import QUIET, Period, spell
    from counterflow.pipelines.rules import rules

    if rule is not None and rule not in rules():
        raise click.BadParameter(f"there is no rule `{rule}`; there is {', '.join(rules())}", param_hint="--rule")
    found = None if end else spell(client, system, rule, entity, at)
    if found is not None:
        return found._replace(quiet=found.begin - quiet)
    if at is None:
        hint = command_line("sql 'SELECT * FROM counterflow.verdict_spell'")
        raise CounterflowError(f"{rule} never raised its alarm on {system}", hint=hint, exit_code=2)
    return Period(at - quiet, at, end or at + QUIET)


def _require_rows(client: ClickHouse, system: str, compared: Period) -> None:
    """Refuse to compare a time in which nothing was recorded: what is unknown has not changed."""
    from counterflow.analysis.culprit import recorded_s

    for begin, end in ((compared.begin, compared.end), (compared.quiet, compared.begin)):
        if not recorded_s(client, system, begin, end):
            raise nothing_recorded(client, f"of {system} from {stated(begin)} to {stated(end)} UTC")

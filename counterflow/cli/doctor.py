"""`counterflow doctor`: what cannot be judged, which published rules warn, and what changed when a limit was hit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from counterflow.cli._json import write_json
from counterflow.cli._reader import connection, kept, on_option
from counterflow.cli._times import TIME

if TYPE_CHECKING:
    from counterflow.analysis.answer import Answer

_ABOUT_INPUT = {"verdict": "verdicts", "kpi": "KPIs", "alert": "alerts", "board": "boards"}


@click.command()
@click.argument("systems", metavar="[SYSTEM]...", nargs=-1)
@on_option
@click.option("--from", "begin", type=TIME, help="Judge SYSTEM by intervals that end after this time; UTC by default.")
@click.option("--to", "end", type=TIME, help="And by this time; with --at, its end.")
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
    too, over a representative period, and what is full soon. With --at: what changed most on SYSTEM against the quiet
    time before.

    Exit status 0: nothing calls for action; 1: an input is missing or has stopped, or a rule warns or fails; 2: a part
    does not work, or nothing was examined.
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
    from counterflow.analysis.checks.facts import load

    facts = load(facts_file) if facts_file else None
    with connection() as asked:
        answers = asked.doctor(systems, since=begin, until=end, facts=facts)
    if as_json:
        write_json(one._asdict() for one in answers)
    else:
        _print(answers, named=bool(systems))
    broken = any(one.kind == "part" for one in answers)
    ctx.exit(2 if broken else 1 if any(one.raises for one in answers) else 0)


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
    """Print what changed on a system."""
    from counterflow.cli._answers import show_changes, wrapped
    from counterflow.schemas.culprit import behind, measures

    with connection() as asked:
        compared, quiet_min, found = asked.what_changed(system, at, until=end, rule=rule, entity=entity, quiet=quiet)
    if as_json:
        write_json(one._asdict() for one in found)
        return
    when = f"{compared.begin:%F %T} to {compared.end:%F %T} UTC"
    click.echo(wrapped(f"{system}, {when}, against the time before, recorded for {quiet_min or 'less than 1'} min"))
    if not found:
        click.echo("Nothing collected in both times has changed.")
    of = measures()
    statements = {one.subject: behind(one.subject) for one in found} if show_sql else {}
    show_changes(found, {name: f"{measure.title}, {measure.unit}" for name, measure in of.items()}, statements)

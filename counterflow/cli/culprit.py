"""`counterflow culprit`: what changed when a limit was hit."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING

import click

from counterflow.base.errors import CounterflowError
from counterflow.base.inert import inert
from counterflow.cli._reader import command_line, nothing_recorded, on_option, reader, require
from counterflow.cli._times import TIME, stated

if TYPE_CHECKING:
    from counterflow.analysis.culprit import Period
    from counterflow.base.clickhouse import ClickHouse


@click.command()
@on_option
@click.argument("system")
@click.option("--from", "begin", type=TIME, help="Begin of the time in question; UTC by default.")
@click.option("--to", "end", type=TIME, help="Its end.")
@click.option("--rule", help="In place of a time: the newest spell in which this rule raised its alarm.")
@click.option("--entity", help="With --rule: of this link or log.")
@click.option(
    "--before",
    "before_min",
    type=click.IntRange(1),
    default=60,
    show_default=True,
    help="Minutes of quiet time before.",
)
@click.option("--sql", "show_sql", is_flag=True, help="Print the statement that each measure is computed from.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a name, one a line.")
def command(
    system: str,
    begin: datetime | None,
    end: datetime | None,
    rule: str | None,
    entity: str | None,
    before_min: int,
    show_sql: bool,
    as_json: bool,
) -> None:
    """Rank what changed most on SYSTEM against the quiet time before: jobs, users, programs, waits, links, disks.

    A name is ranked by the share of the change that it explains, not by its size.
    """
    from counterflow.analysis.culprit import Period, changes, spell
    from counterflow.cli._table import console, table
    from counterflow.pipelines.rules import rules
    from counterflow.schemas.culprit import behind, measures

    if rule is not None and rule not in rules():
        raise click.BadParameter(f"there is no rule `{rule}`; there is {', '.join(rules())}", param_hint="--rule")
    if (rule is None) == (begin is None or end is None) or (begin is not None and end is not None and end <= begin):
        raise click.UsageError("give either --rule, or --from and a later --to")
    with reader() as client:
        require(client, [system])
        if rule is not None:
            period = spell(client, system, rule, rules()[rule].alarms, entity)
            if period is None:
                hint = command_line("sql 'SELECT * FROM counterflow.verdict_spell'")
                raise CounterflowError(f"{rule} never raised its alarm on {system}", hint=hint, exit_code=2)
            begin, end = period.begin, period.end
        assert begin is not None and end is not None  # noqa: S101, PT018 - as checked above
        period = Period(begin - timedelta(minutes=before_min), begin, end)
        found = list(changes(client, system, period))
        quiet_min = round(_recorded(client, system, period.quiet, begin) / 60)
        if not found:
            _require_rows(client, system, period)
    if as_json:
        import orjson

        sys.stdout.buffer.writelines(orjson.dumps(one._asdict(), option=orjson.OPT_APPEND_NEWLINE) for one in found)
        return
    out = console()
    when = f"{begin:%F %T} to {end:%F %T} UTC, against the {quiet_min} minutes before that were recorded"
    out.print(inert(f"{system}, {when}"), markup=False)
    if not found:
        out.print("Nothing collected in both times has changed.")
    for name, of in groupby(found, key=lambda one: one.measure):
        measure = measures()[name]
        rows = [
            {
                "name": one.name,
                "before": float(f"{one.before:.4g}"),
                "during": float(f"{one.during:.4g}"),
                "change": float(f"{one.change:.4g}"),
                "explains %": round(one.explains_pct, 1),
            }
            for one in of
        ]
        out.print("")
        out.print(table(rows[:5], title=f"{measure.title}, {measure.unit}"))
        if show_sql:
            out.print(behind(name), markup=False)


def _require_rows(client: ClickHouse, system: str, period: Period) -> None:
    """Refuse to compare a time in which nothing was recorded: what is unknown has not changed."""
    for begin, end in ((period.begin, period.end), (period.quiet, period.begin)):
        times = {"param_begin": stated(begin), "param_end": stated(end)}
        if not client.rows(_RECORDED, {"param_system": system, **times}):
            raise nothing_recorded(client, f"of {system} from {times['param_begin']} to {times['param_end']} UTC")


def _recorded(client: ClickHouse, system: str, begin: datetime, end: datetime) -> float:
    """Return the seconds from the first record between two times to the later one; 0 where there is none."""
    rows = client.rows(_RECORDED, {"param_system": system, "param_begin": stated(begin), "param_end": stated(end)})
    firsts = [datetime.fromisoformat(row["first"]).replace(tzinfo=UTC) for row in rows]
    return (end - max(begin, min(firsts))).total_seconds() if firsts else 0.0


_RECORDED = """
SELECT first_ts AS first FROM counterflow.system_day FINAL
WHERE system = {system:String} AND first_ts < {end:DateTime64(3, 'UTC')} AND last_ts > {begin:DateTime64(3, 'UTC')}
"""

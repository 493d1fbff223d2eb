"""What changed when a limit was hit? Rates of jobs, users, programs, links and disks against the quiet time before.

Names are ranked by their share of the measure's change, not by size. The view `culprit` ranks them, for boards too; its
measures are in `schemas/clickhouse/culprit.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from counterflow.analysis.answer import Answer
from counterflow.analysis.known import nothing_recorded
from counterflow.base.clickhouse import ClickHouse
from counterflow.base.errors import CounterflowError
from counterflow.base.spans import literal
from counterflow.dashboards.definition import tables_of
from counterflow.pipelines.rules import rules
from counterflow.schemas.culprit import behind

QUIET = timedelta(hours=1)
"""The time before a spell, with which the spell is compared."""
LEAST_PCT = 5.0
"""A name that explains less of the change than this is not listed."""


class Period(NamedTuple):
    """The time in question, after `begin` up to `end`, and the quiet time, after `quiet` up to `begin`."""

    quiet: datetime
    begin: datetime
    end: datetime


def changes(client: ClickHouse, system: str, period: Period) -> Iterator[Answer]:
    """Yield how rates changed, measure by measure, the name that explains most first; nothing has judged a change.

    `details` have the rates `before`, in the quiet time, and `during`, in the time in question, 0 for a name that was
    absent, their `change`, and what it `explains_pct` of all changes of the measure, up and down.

    A measure that lacks rows in either time yields nothing: what is unknown has not changed.
    """
    names = ("quiet", "begin", "until")
    parameters = {f"param_{name}": literal(ts) for name, ts in zip(names, period, strict=True)}
    for row in client.rows(_RANKED, {**parameters, "param_system": system, "param_least": str(LEAST_PCT)}):
        figure = f"{row['before']:.4g} before, {row['during']:.4g} during, {row['unit']}"
        why = f"explains {row['explains_pct']:.1f} % of the change"
        source = ", ".join(sorted(tables_of(behind(row["measure"]))))
        of = system, row["measure"], row["name"]
        yield Answer("change", *of, "warn", False, figure, why, source, None, details=row)


class Ranking(NamedTuple):
    """What changed on a system: `quiet_min` is how many minutes of the quiet time were recorded."""

    period: Period
    quiet_min: int
    answers: list[Answer]


def rank(
    client: ClickHouse,
    system: str,
    at: datetime | None,
    end: datetime | None = None,
    rule: str | None = None,
    entity: str | None = None,
    quiet: timedelta = QUIET,
) -> Ranking:
    """Return what changed at a time, or when a rule last raised its alarm, the name that explains most first.

    The time in question is from `at` to `end`; without `end` it is the spell of an alarm at that time, else an hour.

    Raises
    ------
    CounterflowError : nothing was recorded in one of the times, or there is no such rule, or no alarm of it.
    """
    if rule is not None and rule not in rules():
        raise CounterflowError(f"there is no rule `{rule}`", hint=f"there is {', '.join(rules())}", exit_code=2)
    period = None if end else spell(client, system, rule, entity, at)
    if period is not None:
        period = period._replace(quiet=period.begin - quiet)
    elif at is not None:
        period = Period(at - quiet, at, end or at + QUIET)
    else:
        about = f"{rule} never raised its alarm on {system}" if rule else f"no rule raised an alarm on {system}"
        raise CounterflowError(about, hint="counterflow sql what_was_wrong lists the alarms", exit_code=2)
    found = list(changes(client, system, period))
    if not found:  # what is unknown has not changed
        for begin, until in ((period.begin, period.end), (period.quiet, period.begin)):
            if not recorded_s(client, system, begin, until):
                raise nothing_recorded(client, f"of {system} from {begin:%F %T} to {until:%F %T} UTC")
    return Ranking(period, round(recorded_s(client, system, period.quiet, period.begin) / 60), found)


_RANKED = """
SELECT measure, unit, name, before, during, change, explains_pct
FROM counterflow.culprit(
  system = {system:String}, quiet = {quiet:DateTime64(3, 'UTC')}, begin = {begin:DateTime64(3, 'UTC')},
  until = {until:DateTime64(3, 'UTC')}
)
WHERE explains_pct >= {least:Float64}
ORDER BY place, explains_pct DESC, name
"""


def spell(
    client: ClickHouse, system: str, rule: str | None, entity: str | None = None, at: datetime | None = None
) -> Period | None:
    """Return the newest spell in which a rule (None: any) raised its alarm, with the hour before it; None without any.

    With `at`, the spell covers that time.

    The time in question begins with the signal that raised the state: what happened while it was counted is not quiet.
    """
    alarms = [f"{name} {state}" for name, of in rules().items() for state in of.alarms if rule in (None, name)]
    about = {"param_system": system, "param_entity": entity or "", "param_alarms": alarms}
    found = client.rows(_SPELL, {**about, "param_at": literal(at) if at else "1970-01-01 00:00:00.000"})
    if not found:
        return None
    begin, end = (
        datetime.fromisoformat(found[0][name].replace("Z", "")).replace(tzinfo=UTC) for name in ("onset_ts", "end_ts")
    )
    return Period(begin - QUIET, begin, end)


_SPELL = """
SELECT onset_ts, end_ts
FROM counterflow.verdict_spell_within(since = '1970-01-01 00:00:00.000', until = '2299-12-31 00:00:00.000')
WHERE system = {system:String} AND has({alarms:Array(String)}, concat(toString(rule), ' ', toString(state)))
  AND (empty({entity:String}) OR entity = {entity:String})
  AND ({at:DateTime64(3, 'UTC')} = toDateTime64(0, 3, 'UTC') OR {at:DateTime64(3, 'UTC')} BETWEEN onset_ts AND end_ts)
ORDER BY end_ts DESC
LIMIT 1
"""


def recorded_s(client: ClickHouse, system: str, begin: datetime, end: datetime) -> float:
    """Return the seconds from the first record of a system between two times to the later one; 0 without any."""
    parameters = {"param_system": system, "param_begin": literal(begin), "param_end": literal(end)}
    firsts = [datetime.fromisoformat(row["first"]).replace(tzinfo=UTC) for row in client.rows(_RECORDED, parameters)]
    return (end - max(begin, min(firsts))).total_seconds() if firsts else 0.0


_RECORDED = """
SELECT first_ts AS first FROM counterflow.system_day FINAL
WHERE system = {system:String} AND first_ts < {end:DateTime64(3, 'UTC')} AND last_ts > {begin:DateTime64(3, 'UTC')}
"""

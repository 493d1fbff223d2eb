"""What changed when a limit was hit? Rates of jobs, users, programs, links and disks against the quiet time before.

`measures.yaml` has the measures and their statements. Names are ranked by their share of the measure's change, not by
size. The view `culprit` is generated from the measures, so that boards rank as the command does.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from counterflow.base.clickhouse import ClickHouse
from counterflow.base.strict import Strict
from counterflow.pipelines.rules import rules
from counterflow.schemas.definition import load_yaml

MEASURES = Path(__file__).with_name("measures.yaml")
VIEWS = Path(__file__).with_name("views.sql")
QUIET = timedelta(hours=1)
"""The time before a spell, with which the spell is compared."""
LEAST_PCT = 5.0
"""A name that explains less of the change than this is not listed."""


class Measure(Strict):
    title: str
    unit: str


class Statement(Strict):
    """A statement, and the measures of its rows.

    `recorder` is the column that names what recorded a row; without one, all rows have the same recorder. The intervals
    of one recorder end together.
    """

    measures: dict[str, Measure]
    recorder: str = "''"
    sql: str

    @property
    def measure(self) -> str:
        """The SQL expression of a row's measure."""
        return "toString(measure)" if len(self.measures) > 1 else _text(next(iter(self.measures)))


class Period(NamedTuple):
    """The time in question, after `begin` up to `end`, and the quiet time, after `quiet` up to `begin`."""

    quiet: datetime
    begin: datetime
    end: datetime


class Change(NamedTuple):
    """How the rate of one name changed.

    Parameters
    ----------
    measure, unit : what is measured.
    before, during : rate in the quiet time and in the time in question, 0 for a name that was absent.
    change : of the rate.
    explains_pct : its share of all changes of the measure, up and down.
    """

    measure: str
    unit: str
    name: str
    before: float
    during: float
    change: float
    explains_pct: float


@cache
def statements() -> list[Statement]:
    return [Statement(**entry) for entry in load_yaml(MEASURES.read_text(encoding="utf-8"))]


def measures() -> dict[str, Measure]:
    """Return the measures by name, in the order of the file."""
    return {name: measure for one in statements() for name, measure in one.measures.items()}


def behind(measure: str) -> str:
    return next(one.sql for one in statements() if measure in one.measures)


def changes(client: ClickHouse, system: str, period: Period) -> Iterator[Change]:
    """Yield the changes, measure by measure, the name that explains most first.

    A measure that lacks rows in either time yields nothing: what is unknown has not changed.
    """
    names = ("quiet", "begin", "until")
    parameters = {f"param_{name}": _wire(ts) for name, ts in zip(names, period, strict=True)}
    rows = client.rows(_RANKED, {**parameters, "param_system": system, "param_least": str(LEAST_PCT)})
    yield from (Change(**row) for row in rows)


_RANKED = """
SELECT measure, unit, name, before, during, change, explains_pct
FROM counterflow.culprit(
  system = {system:String}, quiet = {quiet:DateTime64(3, 'UTC')}, begin = {begin:DateTime64(3, 'UTC')},
  until = {until:DateTime64(3, 'UTC')}
)
WHERE explains_pct >= {least:Float64}
ORDER BY place, explains_pct DESC, name
"""


def views() -> str:
    """Return the file of the baseline with the views that boards read, generated from measures and rules."""
    found = measures()
    measured = "\n  UNION ALL\n".join(
        f"  SELECT indexOf({{measures}}, {one.measure}) AS place, {one.recorder} AS recorder, ts, interval_s, "
        f"toString(name) AS name, assumeNotNull(q.amount) AS amount\n  FROM ({one.sql}) AS q\n"
        "  WHERE q.amount IS NOT NULL"
        for one in statements()
    )
    listed = {
        "measures": list(found),
        "titles": [m.title for m in found.values()],
        "units": [m.unit for m in found.values()],
    }
    alarms = ", ".join(_text(f"{name} {state}") for name, rule in sorted(rules().items()) for state in rule.alarms)
    sql = VIEWS.read_text(encoding="utf-8")
    texts = {name: f"[{', '.join(map(_text, values))}]" for name, values in listed.items()}
    for name, text in {
        "measured": measured,
        "alarms": alarms,
        "quiet_s": f"{QUIET.total_seconds():.0f}",
        **texts,
    }.items():
        sql = sql.replace(f"{{{name}}}", text)
    return sql


def spell(client: ClickHouse, system: str, rule: str, states: tuple[str, ...], entity: str | None) -> Period | None:
    """Return the newest spell in which a rule showed one of `states`, with the hour before it; None without any.

    The time in question begins with the signal that raised the state: what happened while it was counted is not quiet.
    """
    found = client.rows(
        _SPELL, {"param_system": system, "param_rule": rule, "param_entity": entity or "", "param_states": list(states)}
    )
    if not found:
        return None
    begin, end = (
        datetime.fromisoformat(found[0][name].replace("Z", "")).replace(tzinfo=UTC) for name in ("onset_ts", "end_ts")
    )
    return Period(begin - QUIET, begin, end)


_SPELL = """
SELECT onset_ts, end_ts FROM counterflow.verdict_spell
WHERE system = {system:String} AND rule = {rule:String} AND has({states:Array(String)}, state)
  AND (empty({entity:String}) OR entity = {entity:String})
ORDER BY end_ts DESC
LIMIT 1
"""


def _wire(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%F %T}.{moment.microsecond // 1000:03}"


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

"""The views `culprit` and `culprit_period`: measures of `clickhouse/culprit.yaml` in the SQL of `culprit.sql`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from counterflow.base.clickhouse import literal
from counterflow.base.strict import Strict
from counterflow.schemas.definition import load_yaml

_MEASURES = Path(__file__).with_name("clickhouse") / "culprit.yaml"


class Measure(Strict):
    """One measure: its title and its unit."""

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
        return "toString(measure)" if len(self.measures) > 1 else literal(next(iter(self.measures)))


@cache
def statements() -> list[Statement]:
    """Return the statements, in the order of the file."""
    return [Statement(**entry) for entry in load_yaml(_MEASURES.read_text(encoding="utf-8"))]


def measures() -> dict[str, Measure]:
    """Return the measures by name, in the order of the file."""
    return {name: measure for one in statements() for name, measure in one.measures.items()}


def behind(measure: str) -> str:
    """Return the SQL of the rows of a measure."""
    return next(one.sql for one in statements() if measure in one.measures)


def views() -> str:
    """Return the statements that create the views."""
    found = measures()
    measured = "\n  UNION ALL\n".join(
        f"  SELECT indexOf({{measures}}, {one.measure}) AS place, {one.recorder} AS recorder, ts, interval_s, "
        f"toString(name) AS name, assumeNotNull(q.amount) AS amount\n  FROM ({one.sql}) AS q\n"
        "  WHERE q.amount IS NOT NULL"
        for one in statements()
    )
    sql = _MEASURES.with_suffix(".sql").read_text(encoding="utf-8").replace("{measured}", measured)
    listed = {
        "measures": list(found),
        "titles": [measure.title for measure in found.values()],
        "units": [measure.unit for measure in found.values()],
    }
    for name, values in listed.items():
        sql = sql.replace(f"{{{name}}}", f"[{', '.join(map(literal, values))}]")
    return sql

"""Turns inputs, measured and stated, into results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from counterflow.analysis.answer import Answer
from counterflow.analysis.answer import Status as AnswerStatus
from counterflow.analysis.checks import checks
from counterflow.analysis.checks.definition import Check, Outcome, Status, Subject, Value, evaluate
from counterflow.analysis.checks.facts import INSTANCES, Facts, System
from counterflow.base.clickhouse import ClickHouse, Settings

QUERIES = Path(__file__).parent / "queries"
FACTS = "facts file"

Inputs = dict[str, dict[tuple[Subject, str], dict[str, Any]]]
"""Values by name, for each subject of each system; a system itself is the subject `("system", "")`."""


class Stated(NamedTuple):
    """A value that a person stated."""

    value: Any


class Measure(NamedTuple):
    """A query for inputs: one row per subject with `system`, `subject` (not for systems) and the documented columns."""

    subject: Subject
    columns: Mapping[str, str]
    sql: str


class Result(NamedTuple):
    """Result of a check for one subject, with everything that a reader needs to judge it."""

    system: str
    check: str
    subject: str
    status: Status
    value: Value | None
    bound: str
    limit: Value | None
    unit: str
    note: str
    needs: Mapping[str, str]
    inputs: Mapping[str, str]
    """Where each input came from: `facts file`, or the meaning and column of the counter or setting."""
    rule: str
    source: str
    advice: str

    @property
    def answer(self) -> Answer:
        """The result in the shape of every answer."""
        unknown, entity = self.status == "needs input", None if self.subject == "system" else self.subject
        status: AnswerStatus = "unknown" if unknown else "warn" if self.status == "warn" else "pass"
        measured, limit = (f"{_worded(value)} {self.unit}".rstrip() for value in (self.value, self.limit))
        bound = "expected" if self.bound == "is" else self.bound
        figure = None if unknown else f"{measured}, {bound} {limit}" + (f" ({self.note})" if self.note else "")
        remedy = self.advice if status == "warn" else None
        details = {name: getattr(self, name) for name in ("value", "bound", "limit", "unit", "note", "inputs")}
        judged = "rule", self.system, self.check, entity, status, status == "warn"
        return Answer(*judged, figure, self.rule, self.source, remedy, self.needs, details)


def _worded(value: Value | None) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
    return str(value)


def measured(client: ClickHouse, settings: Settings) -> Inputs:
    """Return the measured inputs: the rows of every input query for the systems and the period of `settings`."""
    found: Inputs = {}
    for query in measures():
        for row in client.rows(query.sql, settings):
            subject = (query.subject, row.get("subject", ""))
            values = {name: row[name] for name in query.columns}
            found.setdefault(row["system"], {}).setdefault(subject, {}).update(values)
    return found


@cache
def measures() -> list[Measure]:
    """Return the queries; the first part of a file's name is its subject, its first lines document the columns."""
    found = []
    for path in sorted(QUERIES.glob("*.sql")):
        lines = path.read_text(encoding="utf-8").splitlines()
        documented = [line[3:].split(": ", 1) for line in lines if line.startswith("-- ")]
        statement = "\n".join(line for line in lines if not line.startswith("-- "))
        subject: Any = path.stem.partition("_")[0]
        found.append(Measure(subject, dict(documented), statement))
    return found


def with_facts(measured: Inputs, facts: Facts | None, systems: Collection[str] = ()) -> Inputs:
    """Return the inputs of `systems` (empty: all): stated facts plus measured values, which take precedence.

    Settings that were collected count as measured.
    """
    stated = facts.systems if facts else {}
    wanted = [s for s in sorted({*measured, *stated}) if not systems or s in systems]
    return {s: _merged(measured.get(s, {}), stated.get(s)) for s in wanted}


def _merged(
    measured: Mapping[tuple[Subject, str], Mapping[str, Any]], facts: System | None
) -> dict[tuple[Subject, str], dict[str, Any]]:
    whole: tuple[Subject, str] = ("system", "")
    merged: dict[tuple[Subject, str], dict[str, Any]] = {whole: _known(facts) if facts else {}}
    for kind in INSTANCES if facts else ():
        merged |= {(kind, name): _known(some) for name, some in getattr(facts, f"{kind}s").items()}
    for subject, values in measured.items():
        merged.setdefault(subject, {}).update({n: v for n, v in values.items() if v is not None})
    return merged


def _known(facts: Any) -> dict[str, Any]:
    return {name: Stated(value) for name, value in facts if value is not None}


def results(inputs: Inputs) -> Iterator[Result]:
    """Evaluate every applicable check for every subject; a check without any subject names the inputs it needs."""
    for system, subjects in inputs.items():
        whole = subjects.get(("system", ""), {})
        for check in checks().values():
            named = {name: values for (kind, name), values in subjects.items() if kind == check.subject}
            for name, values in sorted(named.items(), key=lambda of: (len(of[0]), of[0])) or [("", {})]:
                inputs = {**whole, **values}
                plain = {n: value.value if isinstance(value, Stated) else value for n, value in inputs.items()}
                if outcome := evaluate(check, plain):
                    used = [n for n in (*check.only, *check.inputs) if plain.get(n) is not None]
                    origins = {n: FACTS if isinstance(inputs[n], Stated) else collected()[n] for n in used}
                    yield _result(system, check, f"{check.subject} {name}".rstrip(), outcome, origins)


def _result(system: str, check: Check, subject: str, outcome: Outcome, origins: Mapping[str, str]) -> Result:
    figure = outcome.figure
    return Result(
        system=system,
        check=check.name,
        subject=subject,
        status=outcome.status,
        value=figure.value if figure else None,
        bound=check.bound,
        limit=figure.limit if figure else None,
        unit=check.unit,
        note=figure.note if figure else "",
        needs={name: "; ".join(filter(None, (why, known_inputs()[name]))) for name, why in outcome.needs.items()},
        inputs=origins,
        rule=check.rule,
        source=check.source,
        advice=check.advice,
    )


@cache
def known_inputs() -> dict[str, str]:
    """Return the origin of each input, in words, by name."""
    models: dict[str, type[BaseModel]] = {"": System, **{f"{kind}s.NAME.": model for kind, model in INSTANCES.items()}}
    facts = {
        name: f"fact `{place}{name}`: {field.description}"
        for place, model in models.items()
        for name, field in model.model_fields.items()
    }
    either = {name: f"{text} Or {facts[name]}" for name, text in collected().items() if name in facts}
    return {**facts, **collected(), **either}


@cache
def collected() -> dict[str, str]:
    """Return the meaning and column of each input that is collected, by name."""
    return {name: text for measure in measures() for name, text in measure.columns.items()}

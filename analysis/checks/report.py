"""Turns inputs, measured and stated, into answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from counterflow.analysis.answer import Answer, Need
from counterflow.analysis.checks import checks
from counterflow.analysis.checks.definition import Check, CheckFigure, CheckOutcome, Subject, Value, evaluate
from counterflow.analysis.checks.facts import INSTANCES, Facts, System
from counterflow.analysis.queries import read, restricted
from counterflow.base.clickhouse import ClickHouse, Settings

QUERIES = Path(__file__).parent / "queries"
FACTS = "facts file"

Inputs = dict[str, dict[tuple[Subject, str], dict[str, Any]]]
"""Values by name, for each subject of each system; a system itself is the subject `("system", "")`."""


class Stated(NamedTuple):
    """A value that a person stated."""

    value: Any


class InputQuery(NamedTuple):
    """A query for inputs: one row per subject with `system`, `subject` (not for systems) and the documented columns."""

    subject: Subject
    columns: Mapping[str, str]
    sql: str


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
def measures() -> list[InputQuery]:
    """Return the queries; the first part of a file's name is its subject, its first lines document the columns."""
    found = []
    for path in sorted(QUERIES.glob("*.sql")):
        lines = read(path).splitlines()
        documented = [line[3:].split(": ", 1) for line in lines if line.startswith("-- ")]
        statement = "\n".join(line for line in lines if not line.startswith("-- "))
        subject: Any = path.stem.partition("_")[0]
        found.append(InputQuery(subject, dict(documented), statement))
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


def answers(inputs: Inputs) -> Iterator[Answer]:
    """Evaluate every applicable check for every subject; a check without any subject names the inputs it needs.

    `details["inputs"]` states where each input came from: `facts file`, or meaning and column of counter or setting.
    """
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
                    entity = None if check.subject == "system" else f"{check.subject} {name}".rstrip()
                    yield _answer(system, check, entity, outcome, origins)


def _answer(system: str, check: Check, entity: str | None, outcome: CheckOutcome, origins: Mapping[str, str]) -> Answer:
    figure, warns = outcome.figure, outcome.status == "warn"
    details = {
        "value": figure.value if figure else None,
        "bound": check.bound,
        "limit": figure.limit if figure else None,
        "unit": check.unit,
        "note": figure.note if figure else "",
        "inputs": origins,
    }
    needs = {}
    for name, why in outcome.needs.items():
        kind: Literal["fact", "counter"] = "counter" if name in collected() else "fact"
        needs[name] = Need(kind, "; ".join(filter(None, (why, known_inputs()[name]))))
    remedy = check.advice if warns else None
    judged = "rule", system, check.name, entity, outcome.status, warns
    compared = _compared(check, figure) if figure else None
    return Answer(*judged, compared, check.rule, check.source, remedy, needs, details)


def _compared(check: Check, figure: CheckFigure) -> str:
    """Return the value and its limit in words."""
    value, limit = (f"{_worded(number)} {check.unit}".rstrip() for number in figure[:2])
    bound = "expected" if check.bound == "is" else check.bound
    return f"{value}, {bound} {limit}" + (f" ({figure.note})" if figure.note else "")


def _worded(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
    return str(value)


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


def published_rules(
    client: ClickHouse, systems: Collection[str], since: str, until: str, facts: Facts | None = None
) -> Iterator[Answer]:
    """Yield the answer of each rule about each system, one that is unknown where nothing about a system is known.

    Parameters
    ----------
    since, until : the rules judge by intervals that end after the one and by the other.
    facts : what no counter provides.
    """
    if not systems:
        return
    found = list(answers(with_facts(measured(client, restricted(systems, since, until)), facts, systems)))
    yield from found
    why = "no IBM i counters of the system in that period, and no facts about it"
    way_out = "the stored question `systems` lists what was recorded"
    for system in sorted({*systems} - {one.system for one in found}):
        yield Answer("rule", system, "published rules", None, "unknown", False, None, why, None, way_out)

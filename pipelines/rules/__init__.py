"""Verdict rules: state and interval in, state and verdict out. Pure: no clock, no I/O, no Flink.

A rule is a module of this package with a `RULE`; there is no other registration.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from difflib import get_close_matches
from functools import cache, cached_property
from typing import Any, Generic, NamedTuple, TypeVar, get_type_hints

from counterflow.pipelines.rules.columns import Column, text

P = TypeVar("P")
I = TypeVar("I")  # noqa: E741
S = TypeVar("S")


class Evidence(NamedTuple):
    """What led to a verdict; converted to JSON only where it is stored.

    Parameters
    ----------
    parameters, compared : of the rule, and the names of those that were compared.
    interval : with the inputs.
    rule : name or number of the condition that decided; 0 or None where none did.
    figures : derived from the inputs; None where an input is unknown.
    """

    parameters: Any
    compared: tuple[str, ...]
    interval: Any
    rule: int | str | None
    figures: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the deciding `rule`, its `inputs`, the `figures` derived from them and the `thresholds` compared."""
        inputs = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in self.interval._asdict().items()
            if name != "ts"
        }
        thresholds = {name: getattr(self.parameters, name) for name in self.compared}
        return {"rule": self.rule, "inputs": inputs, "figures": self.figures, "thresholds": thresholds}


class Verdict(NamedTuple):
    """A rule's verdict on one interval.

    Parameters
    ----------
    state : of the entity, after raising and clearing.
    signal : of this interval alone; null where the interval allows no verdict.
    stale : whether the interval allows no verdict; the state is then a raised one that is kept, or unknown.
    reason : a sentence with the deciding figures.
    evidence : every deciding input, derived figure and threshold.
    """

    state: str
    signal: str | None
    stale: bool
    reason: str
    evidence: Evidence


@dataclass(frozen=True)
class Rule(Generic[P, I, S]):
    """One rule.

    Parameters
    ----------
    name : of its module.
    question : one line that the rule answers.
    dataset : the one whose rows hold the intervals to judge.
    entity : columns that identify the judged entity; each entity has its own state.
    kind : column that distinguishes entities of the same name, where a row has it; None where names are unique.
    alarms : states in which the limit was hit.
    parameters : a frozen dataclass of numbers, each made by `parameter`.
    made : an interval, a NamedTuple: each field is a column of the dataset or of a replayed file, annotated with the
        reader of the column. Other columns are ignored.
    states : every state that an entity may be shown in, with words for people.
    start : state of an entity before its first interval, a NamedTuple.
    judge : (parameters, state, interval) to (next state, verdict).
    """

    name: str
    question: str
    dataset: str
    entity: tuple[str, ...]
    kind: str | None
    alarms: tuple[str, ...]
    parameters: type[P]
    made: type[I]
    states: Mapping[str, str]
    start: S
    judge: Callable[[P, S, I], tuple[S, Verdict]]

    @cached_property
    def columns(self) -> dict[str, Column]:
        """Columns with the fields of an interval, in order, and the reader of each."""
        return {name: hint.__metadata__[0] for name, hint in get_type_hints(self.made, include_extras=True).items()}

    def interval(self, row: Mapping[str, Any]) -> I:
        """Return the interval of a row by column name; raises `ValueError` that names what was expected."""
        return self.made(*[read(row, name) for name, read in self.columns.items()])

    def entity_of(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the entity of a row; raises `ValueError` that names what was expected."""
        kind = () if self.kind is None or row.get(self.kind) is None else (text(row, self.kind),)
        return (*[text(row, column) for column in self.entity], *kind)


@cache
def rules() -> dict[str, Rule[Any, Any, Any]]:
    modules = (importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__))
    return {m.RULE.name: m.RULE for m in modules if hasattr(m, "RULE")}


@cache
def words() -> Mapping[str, str]:
    """Return the words for each state of any rule."""
    return {state: text for rule in rules().values() for state, text in rule.states.items()}


def parameter(default: float, meaning: str, source: str) -> Any:
    """Return a parameter's field, with its meaning and the source of its default.

    An integer default makes a count of at least 1; any other default makes a number of at least 0.
    """
    return field(default=default, metadata={"meaning": meaning, "source": source})


def with_settings(parameters: P, settings: Mapping[str, str]) -> P:
    """Return `parameters` with some set by name; raises `ValueError` that names what was expected."""
    defaults = {f.name: f.default for f in fields(parameters)}  # type: ignore[arg-type]
    changes = {}
    for name, given in settings.items():
        if name not in defaults:
            near = get_close_matches(name, defaults, n=3) or list(defaults)
            raise ValueError(f"there is no parameter `{name}`; there is {', '.join(near)}")
        count = isinstance(defaults[name], int)
        try:
            value = int(given) if count else float(given)
        except ValueError:
            value = -1
        if not (value >= 1 if count else 0 <= value < float("inf")):
            expected = "a whole number of at least 1" if count else "a number of at least 0"
            raise ValueError(f"`{name}`: expected {expected}, found `{given}`")
        changes[name] = value
    return replace(parameters, **changes)  # type: ignore[type-var]

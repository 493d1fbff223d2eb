"""Defines a check, a published rule over named inputs with its source, and evaluates it for one subject."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from counterflow.schemas.thresholds import with_thresholds

Subject = Literal["system", "pool", "asp", "save", "iop"]
Status = Literal["pass", "warn", "unknown"]
Bound = Literal["at least", "at most", "below", "is"]
Value = float | str | bool

NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Text = Annotated[str, Field(min_length=1)]

_HOLDS: dict[Bound, Callable[[Any, Any], bool]] = {
    "at least": operator.ge,
    "at most": operator.le,
    "below": operator.lt,
    "is": operator.eq,
}


class CheckFigure(NamedTuple):
    """The figure of a rule and its limit, both in the unit of the check."""

    value: Value
    limit: Value
    note: str = ""
    """Remark for the reader: where the worst value occurred, what the reference leaves open."""


class Check(NamedTuple):
    """A rule: `figure` computes a value from named inputs, which must keep the `bound`.

    `only` restricts the rule to subjects with these input values. `inputs` are the parameters of `figure` with their
    types; a value that violates its type counts as missing. Those in `optional` may be missing.
    """

    name: str
    group: str
    subject: Subject
    rule: str
    bound: Bound
    unit: str
    source: str
    advice: str
    only: Mapping[str, Value]
    inputs: Mapping[str, TypeAdapter[Any]]
    optional: frozenset[str]
    figure: Callable[..., CheckFigure]


class CheckOutcome(NamedTuple):
    """Outcome of a check for one subject; `needs` names each missing input, and why a value was unusable."""

    status: Status
    figure: CheckFigure | None = None
    needs: Mapping[str, str] = {}


def check(
    subject: Subject = "system",
    *,
    bound: Bound = "is",
    source: str,
    advice: str,
    unit: str = "",
    only: Mapping[str, Value] | None = None,
) -> Callable[[Callable[..., CheckFigure]], Check]:
    """Turn a function into a check: with its name, its docstring as the rule, its parameters as the inputs."""

    def made(figure: Callable[..., CheckFigure]) -> Check:
        types = get_type_hints(figure, include_extras=True)
        parameters = inspect.signature(figure).parameters
        return Check(
            name=figure.__name__,
            group=figure.__module__.rpartition(".")[2],
            subject=subject,
            rule=with_thresholds(" ".join((inspect.getdoc(figure) or "").split())),
            bound=bound,
            unit=unit,
            source=source,
            advice=advice,
            only=only or {},
            inputs={name: TypeAdapter(types[name]) for name in parameters},
            optional=frozenset(p.name for p in parameters.values() if p.default is not p.empty),
            figure=figure,
        )

    return made


def evaluate(check: Check, inputs: Mapping[str, object]) -> CheckOutcome | None:
    """Evaluate the rule for one subject with any inputs; None where the rule does not apply to it.

    Where it is unknown whether the rule applies, no other input is requested.
    """
    unknown = {name: "" for name in check.only if inputs.get(name) is None}
    if any(inputs[name] != wanted for name, wanted in check.only.items() if name not in unknown):
        return None
    if unknown:
        return CheckOutcome("unknown", needs=unknown)
    values, needs = dict[str, object](), dict[str, str]()
    for name, type_ in check.inputs.items():
        value = inputs.get(name)
        if value is None:
            if name not in check.optional:
                needs[name] = ""
            continue
        try:
            values[name] = type_.validate_python(value, strict=True)
        except ValidationError as error:
            needs[name] = f"{value!r}: {error.errors()[0]['msg']}"
    if needs:
        return CheckOutcome("unknown", needs=needs)
    figure = check.figure(**values)
    if not all(math.isfinite(number) for number in figure[:2] if isinstance(number, float)):
        return CheckOutcome("unknown", needs=dict.fromkeys(values, "too large to compute with"))
    return CheckOutcome("pass" if _HOLDS[check.bound](figure.value, figure.limit) else "warn", figure)

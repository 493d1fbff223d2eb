"""The part `checks` of the page of the doctor: every check, fact and counter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from counterflow.analysis.checks import GROUPS, checks
from counterflow.analysis.checks.definition import Check
from counterflow.analysis.checks.facts import INSTANCES, System
from counterflow.analysis.checks.report import measures
from docs.generators import table


def tables() -> str:
    """Return the checks by group, the facts and the counters, in Markdown."""
    groups = (_group(group, [c for c in checks().values() if c.group == group]) for group in GROUPS)
    return "\n".join(["## The checks\n", *groups, _facts(), _counters()])


def _group(group: str, members: Iterable[Check]) -> str:
    head = ("check", "of each", "rule", "warns unless", "inputs", "source")
    rows = ((f"`{c.name}`", c.subject, c.rule, _limit(c), _names(c), c.source) for c in members)
    return f"### {group}\n\n{table(head, rows)}"


def _limit(check: Check) -> str:
    return f"{check.bound}, {check.unit}" if check.unit else check.bound


def _names(check: Check) -> str:
    only = [
        f"`{name}` = {str(value).lower() if isinstance(value, bool) else value}" for name, value in check.only.items()
    ]
    inputs = [f"`{name}`" + (" (optional)" if name in check.optional else "") for name in check.inputs]
    return ", ".join(inputs) + (f"; only where {', '.join(only)}" if only else "")


def _facts() -> str:
    models: dict[str, type[BaseModel]] = {
        "a system": System,
        **{f"an entry of `{kind}s`": model for kind, model in INSTANCES.items()},
    }
    rows = (
        (f"`{name}`", of, shape["description"] + _values(shape))
        for of, model in models.items()
        for name, shape in model.model_json_schema()["properties"].items()
    )
    return f"## Facts\n\n{table(('fact', 'of', 'meaning'), rows)}"


def _values(shape: Mapping[str, Any]) -> str:
    allowed = [value for one in shape.get("anyOf", ()) for value in one.get("enum", ())]
    return f" One of {', '.join(f'`{value}`' for value in allowed)}." if allowed else ""


def _counters() -> str:
    rows = ((f"`{name}`", m.subject, text) for m in measures() for name, text in m.columns.items())
    return f"## Counters\n\n{table(('input', 'of each', 'meaning and column'), rows)}"

"""Selects what the exporter publishes of a row: `watched` figures of its dataset, evidence of verdicts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from counterflow.schemas.definition import Figure, Watched, datasets

Row = Mapping[str, Any]


@cache
def watched() -> dict[str, Watched]:
    """Return what is published of each dataset whose definition has `watched`."""
    return {name: dataset.watched for name, dataset in datasets().items() if dataset.watched is not None}


def counts(row: Row, of: Watched) -> bool:
    """Return whether the row is published."""
    return all(row.get(column) in allowed for column, allowed in of.where.items())


def value(row: Row, figure: Figure) -> float | None:
    """Return the figure of a row; None where one of its columns is missing."""
    found = [row.get(column) for column in figure.columns]
    return None if None in found else figure.factor * sum(found)  # type: ignore[arg-type]  # a TypeError for no number


VERDICT = "verdict"
OF_VERDICT = ("rule", "system", "entity_type", "entity")
EVIDENCE: Mapping[str, tuple[str, ...]] = {
    "roce_cap": ("share", "util", "capacity_pct", "own_bytes_s", "baseline_own_bytes_s"),
    "log_ceiling": (
        *("rate_mb_s", "ceiling_mb_s", "ratio", "waits_delta", "waiting_share", "gcp_pct", "ziip_pct", "zhl_sync_pct"),
    ),
}
"""Inputs and figures of a rule's evidence that are published, named as on the rule's page below docs/rules."""


def evidence(rule: str, found: Mapping[str, Any]) -> dict[str, float]:
    """Return the published numbers of a verdict's evidence; unknown ones are left out."""
    numbers = {**found.get("inputs", {}), **found.get("figures", {})}
    return {name: float(numbers[name]) for name in EVIDENCE[rule] if numbers.get(name) is not None}

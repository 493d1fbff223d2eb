"""The queries for what is stored of a run; docs/studies/compare.md says which table gives which figure."""

from __future__ import annotations

from functools import cache
from pathlib import Path

QUERIES = Path(__file__).parent / "queries"

OF_A_NAME = frozenset({"labelled", "configured"})
"""Queries for a run by its name; the others are for systems and a time."""


@cache
def queries() -> dict[str, str]:
    """Return the statements by name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(QUERIES.glob("*.sql"))}

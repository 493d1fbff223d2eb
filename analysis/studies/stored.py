"""The queries for the stored records of a run; docs/studies/compare.md maps tables to figures."""

from __future__ import annotations

from functools import cache
from pathlib import Path

QUERIES = Path(__file__).parent / "queries"

OF_A_NAME = frozenset({"labelled", "configured"})
"""Queries that take the name of a run; the others take systems and a period."""


@cache
def queries() -> dict[str, str]:
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(QUERIES.glob("*.sql"))}

"""Reads trees of JSON or XML that may hold anything: a value of an unexpected kind counts as none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

BEYOND_ANY = 2.0**64
"""Beyond what a counter can be."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """Return a number, None where there is none; one that no record can hold is 2**64, which is refused as such."""
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        return None
    return float(max(-BEYOND_ANY, min(value, BEYOND_ANY)))


def encodable(tree: Any, written: str) -> Any:
    """Return a tree of JSON, read from `written`, with a question mark for each half of a surrogate pair.

    JSON can escape such a half, but UTF-8 cannot hold it.
    """
    return _encodable(tree) if _SURROGATE.search(written) else tree


def _encodable(tree: Any) -> Any:
    if isinstance(tree, str):
        return tree.encode(errors="replace").decode()
    if isinstance(tree, dict):
        return {_encodable(name): _encodable(value) for name, value in tree.items()}
    return [_encodable(value) for value in tree] if isinstance(tree, list) else tree

"""Reads trees of JSON or XML that may hold anything: a value of an unexpected kind counts as none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def mapping(value: object) -> Mapping[str, Any]:
    """Return the members of an object."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []

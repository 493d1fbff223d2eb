"""Lines as commands of an HMC write them: name=value each, or values below a header that names them."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Sequence

from counterflow.collectors.records import Reason, Reject

Attributes = dict[str, str]

_NAME = re.compile(r"[a-z][a-z0-9_]*")


def cells(line: str) -> list[str]:
    """Return the values of a line: comma-separated, quoted where one holds a comma."""
    try:
        return [cell.strip() for cell in next(csv.reader([line.strip()], strict=False), [])]
    except csv.Error:
        return [line]


def are_names(found: Collection[str]) -> bool:
    """Return whether the cells of a line are names of attributes alone, as a header has them."""
    return bool(found) and all(map(_NAME.fullmatch, found))


def attributes(found: Sequence[str], header: Sequence[str] | None) -> Attributes | Reject:
    """Return the attributes of a line by name, from its cells."""
    pairs = [cell.partition("=") for cell in found]
    if all(equals and _NAME.fullmatch(name) for name, equals, _ in pairs):
        return {name: value for name, _, value in pairs}
    if not header:
        return Reject(Reason.NO_HEADER, "expected name=value, or a header before it (-F --header)", "none")
    if len(found) != len(header):
        return Reject(Reason.FIELD_COUNT, f"{len(found)} values for {len(header)} attributes", "none")
    return dict(zip(header, found, strict=True))


def those_set(found: Attributes) -> Attributes:
    """Return the attributes that have a value; HMCs write `null` for what is not set."""
    return {name: value for name, value in found.items() if value not in ("", "null")}

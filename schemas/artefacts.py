"""Generates the checked-in files from the definitions of the datasets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from counterflow.schemas.clickhouse_ddl import baseline
from counterflow.schemas.definition import FOLDER, datasets

CHECKOUT = FOLDER.resolve().parent
_BASELINE = "schemas/clickhouse/baseline"


def artefacts() -> dict[str, str]:
    """Return the text of every generated file, by path in the checkout."""
    return {f"{_BASELINE}/{name}": text for name, text in baseline(datasets().values()).items()}


def generate(wanted: Mapping[str, str], checkout: Path = CHECKOUT) -> list[str]:
    """Write every file of `wanted` (text by path) that is stale; return their paths."""
    changed = stale(wanted, checkout)
    for path in changed:
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        (checkout / path).write_text(wanted[path], encoding="utf-8")
    return changed


def stale(wanted: Mapping[str, str], checkout: Path = CHECKOUT) -> list[str]:
    """Return the paths of files that are missing or differ from `wanted` (text by path)."""
    return sorted(path for path, text in wanted.items() if _read(checkout / path) != text)


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None

"""Generates the checked-in files from the definitions of the datasets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from counterflow.schemas.clickhouse_ddl import baseline
from counterflow.schemas.definition import FOLDER, datasets
from counterflow.schemas.dictionary import data_dictionary
from counterflow.schemas.flink_ddl import flink_sql
from counterflow.schemas.json_schema import json_schema

CHECKOUT = FOLDER.resolve().parent
_GENERATED = "schemas/generated"
_BASELINE = "schemas/clickhouse/baseline"


def artefacts() -> dict[str, str]:
    """Return the text of every generated file, by path in the checkout."""
    files = {"docs/data-dictionary.md": data_dictionary(datasets().values())}
    files |= {f"{_BASELINE}/{name}": text for name, text in baseline(datasets().values()).items()}
    for name, dataset in datasets().items():
        schema = json.dumps(json_schema(dataset), indent=2, ensure_ascii=False)
        files[f"{_GENERATED}/json/{name}.schema.json"] = schema + "\n"
        files[f"{_GENERATED}/flink/{name}.sql"] = flink_sql(dataset)
    return files


def generate(wanted: Mapping[str, str], checkout: Path = CHECKOUT) -> list[str]:
    """Write every stale file of `wanted`, remove those without a dataset; return their paths."""
    changed = stale(wanted, checkout)
    for path in changed:
        file = checkout / path
        if path in wanted:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(wanted[path], encoding="utf-8")
        else:
            file.unlink()
    return changed


def stale(wanted: Mapping[str, str], checkout: Path = CHECKOUT) -> list[str]:
    """Return the paths of files that are missing, differ from `wanted` (text by path), or have no dataset."""
    found = {str(p.relative_to(checkout)) for p in (checkout / _GENERATED).rglob("*") if p.is_file()}
    differing = {path for path, text in wanted.items() if _read(checkout / path) != text}
    return sorted(differing | (found - wanted.keys()))


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None

"""Reads which counter fills which column, from the `mapping.yaml` in the folder of each source.

A source is what writes rows: a format, a job, the agent or the lander. Its file lists, for each dataset, the columns
that it fills, each with the counter, formula or text behind it. A format that reads many tables describes each in a
file of its own, below `tables/`: what they fill stands there alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml
from pydantic import TypeAdapter, ValidationError

from counterflow.base.errors import CounterflowError
from counterflow.schemas.definition import FOLDER, load_yaml

_FOLDERS = ("collectors/agent", "collectors/formats/*", "pipelines/jobs/*", "pipelines/landing")
_FILE = TypeAdapter(dict[str, dict[str, str]])

Mappings = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Source, dataset, column: what fills it. A source is named as its folder."""


@cache
def mappings() -> Mappings:
    """Return the mapping of every source.

    Raises
    ------
    CounterflowError : a file is not a mapping; the message names it.
    """
    found = {}
    for path in sorted(path for folder in _FOLDERS for path in FOLDER.parent.glob(f"{folder}/mapping.yaml")):
        try:
            own = _FILE.validate_python(load_yaml(path.read_text(encoding="utf-8")))
        except (ValidationError, yaml.YAMLError) as error:
            raise CounterflowError(f"{path}: {error}", hint="see CONTRIBUTING.md, Add a format", exit_code=2) from None
        found[path.parent.name] = _with_tables(path.parent, own)
    return found


def _with_tables(folder: Path, own: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Return the mapping of a source, completed by what the descriptions of its tables fill."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(folder.glob("tables/*.yaml")):
        table = load_yaml(path.read_text(encoding="utf-8"))
        alone = {field["column"]: name for name, field in table.get("fields", {}).items() if "column" in field}
        for record in table.get("records", ()):
            columns = found.setdefault(record["dataset"], {})
            for column, written in (alone | record.get("columns", {})).items():
                less = " less its preceding sample" if column in record.get("difference", ()) else ""
                columns.setdefault(column, []).append(f"{path.stem} {written}{less}")
            for column in record.get("previous", ()):
                columns[f"prev_{column}"] = [f"{column} of the preceding sample"]
            alone = {}
    texts = {
        dataset: {column: "; ".join(dict.fromkeys(parts)) for column, parts in columns.items()}
        for dataset, columns in found.items()
    }
    return {dataset: {**texts.get(dataset, {}), **own.get(dataset, {})} for dataset in sorted({*texts, *own})}


def counters_by_source(dataset: str, sources: Mappings) -> dict[str, Mapping[str, str]]:
    """Return what fills the columns of a dataset, by source."""
    return {source: datasets[dataset] for source, datasets in sources.items() if dataset in datasets}

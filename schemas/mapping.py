"""Reads which counter fills which column, from the `mapping.yaml` in the folder of each source.

A source is what writes rows: a format, a job, the agent or the lander. Its file lists, for each dataset, the columns
that it fills, each with the counter, formula or text behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import yaml
from pydantic import TypeAdapter, ValidationError

from counterflow.base.errors import CounterflowError
from counterflow.schemas.definition import FOLDER, Dataset, load_yaml

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
            found[path.parent.name] = _FILE.validate_python(load_yaml(path.read_text(encoding="utf-8")))
        except (ValidationError, yaml.YAMLError) as error:
            raise CounterflowError(f"{path}: {error}", hint="see CONTRIBUTING.md, Add a format", exit_code=2) from None
    return found


def counters_by_source(dataset: str, sources: Mappings) -> dict[str, Mapping[str, str]]:
    """Return what fills the columns of a dataset, by source."""
    return {source: datasets[dataset] for source, datasets in sources.items() if dataset in datasets}


def mistakes(sources: Mappings, definitions: Mapping[str, Dataset]) -> Iterator[str]:
    """Yield each dataset and column that a mapping names and no definition has, and each column that no one fills."""
    for source, datasets in sources.items():
        for name, counters in datasets.items():
            if name not in definitions or definitions[name].role == "view":  # the SELECT of a view fills its columns
                yield f"mapping of {source}: no agent and no job writes a dataset `{name}`"
            else:
                unknown = sorted(counters.keys() - definitions[name].all_columns)
                yield from (f"mapping of {source}: {name} has no column `{column}`" for column in unknown)
    for name, dataset in definitions.items():
        filled = {column for counters in counters_by_source(name, sources).values() for column in counters}
        missing = [column for column in dataset.columns if column not in filled and dataset.role != "view"]
        yield from (f"{name}: no mapping fills `{column}`" for column in missing)

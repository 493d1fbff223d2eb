"""Reads which counter fills which column, from the `mapping.yaml` in the folder of each source.

A source is what writes rows: a format, a job, the agent or the lander. Its file lists, for each dataset, the columns
that it fills, each with the counter, formula or text behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

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
            found[path.parent.name] = _FILE.validate_python(load_yaml(path.read_text(encoding="utf-8")))
        except (ValidationError, yaml.YAMLError) as error:
            raise CounterflowError(f"{path}: {error}", hint="see CONTRIBUTING.md, Add a format", exit_code=2) from None
    return found


def counters_by_source(dataset: str, sources: Mappings) -> dict[str, Mapping[str, str]]:
    """Return what fills the columns of a dataset, by source."""
    return {source: datasets[dataset] for source, datasets in sources.items() if dataset in datasets}

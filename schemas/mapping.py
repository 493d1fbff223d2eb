"""Reads which counter fills which column, from the `mapping.yaml` in the folder of each source.

A source is what writes rows: a format, a job, the agent or the lander. Its file lists, for each dataset, the columns
that it fills, each with the counter, formula or text behind it. A format that reads many tables describes each in a
file of its own, below `tables/`, and that of exporters below `exporters/`: what they fill stands there alone.

Parsers take from here the counters that fill a column as they are, or by a factor or the length of the interval.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import TypeAdapter, ValidationError

from counterflow.base.errors import CounterflowError
from counterflow.schemas.definition import FOLDER, datasets, load_yaml

_FOLDERS = ("collectors/agent", "collectors/formats/*", "pipelines/jobs/*", "pipelines/landing")
_FILE = TypeAdapter(dict[str, dict[str, str]])
_FILL = re.compile(
    r"(?P<counter>.+?)(?P<rate> \xd7 interval_s)?(?: (?P<by>[\xd7/]) (?P<number>[\d,]+))?(?: \((?P<remark>[^()]+)\))?"
)

Mappings = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Source, dataset, column: what fills it. A source is named as its folder."""


@cache
def mappings() -> Mappings:
    """Return the mapping of every source.

    Raises
    ------
    CounterflowError : a file is not a mapping; the message names it.
    """
    paths = sorted(path for folder in _FOLDERS for path in FOLDER.parent.glob(f"{folder}/mapping.yaml"))
    return {path.parent.name: _with_tables(path.parent, _stated(path)) for path in paths}


class Fill(NamedTuple):
    """A counter that fills a column: times `factor`, and times the seconds of the interval where it is a `rate`."""

    column: str
    counter: str
    factor: float
    rate: bool
    remark: str | None


@cache
def fills(source: str, dataset: str) -> tuple[Fill, ...]:
    """Return the counters of a format that fill columns of a dataset; semicolons separate those of one column.

    Formulas and texts are among them, as counters with names that no input has.
    """
    stated = _stated(FOLDER.parent / f"collectors/formats/{source}/mapping.yaml")[dataset]
    return tuple(fill(column, part) for column, text in stated.items() for part in text.split("; "))


def fill(column: str, text: str) -> Fill:
    match = _FILL.fullmatch(text)
    assert match is not None  # noqa: S101 - whatever the text, its counter matches
    number = float((match["number"] or "1").replace(",", ""))
    factor = 1 / number if match["by"] == "/" else number
    return Fill(column, match["counter"], factor, match["rate"] is not None, match["remark"])


def amounts(source: str, dataset: str, figures: Mapping[str, float], seconds: float | None) -> dict[str, float]:
    """Return the columns of a dataset that the figures of one row fill; without `seconds`, none by a rate."""
    found = {}
    for column, counter, factor, rate, _ in fills(source, dataset):
        if counter in figures and not (rate and seconds is None):
            found[column] = round(figures[counter] * (seconds or 0.0 if rate else 1.0) * factor, 3)
    return found


@cache
def counters(source: str, dataset: str) -> frozenset[str]:
    """Return the names of the counters in `fills`."""
    return frozenset(fill.counter for fill in fills(source, dataset))


@cache
def _stated(path: Path) -> dict[str, dict[str, str]]:
    try:
        return _FILE.validate_python(load_yaml(path.read_text(encoding="utf-8")))
    except (ValidationError, yaml.YAMLError) as error:
        raise CounterflowError(f"{path}: {error}", hint="see CONTRIBUTING.md, Add a format", exit_code=2) from None


def _with_tables(folder: Path, own: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Return the mapping of a source, completed by what the descriptions of its tables fill, and by earlier values.

    Where a source fills `prev_ts`, it fills `prev_…` of each column that has one.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(folder.glob("tables/*.yaml")):
        table = load_yaml(path.read_text(encoding="utf-8"))
        alone = {field["column"]: name for name, field in table.get("fields", {}).items() if "column" in field}
        for record in table.get("records", ()):
            columns = found.setdefault(record["dataset"], {})
            for column, written in (alone | record.get("columns", {})).items():
                less = " less its preceding sample" if column in record.get("difference", ()) else ""
                columns.setdefault(column, []).append(f"{path.stem} {written}{less}")
            alone = {}
    for path in sorted(folder.glob("exporters/*.yaml")):
        exporter = load_yaml(path.read_text(encoding="utf-8"))
        for dataset, rows in exporter["rows"].items():
            for column, written in rows.get("columns", {}).items():
                found.setdefault(dataset, {}).setdefault(column, []).append(f"{exporter['exporter']}: {written}")
    texts = {
        dataset: {column: "; ".join(dict.fromkeys(parts)) for column, parts in columns.items()}
        for dataset, columns in found.items()
    }
    stated = {dataset: {**texts.get(dataset, {}), **own.get(dataset, {})} for dataset in sorted({*texts, *own})}
    for dataset, filled in stated.items():
        if "prev_ts" in filled:
            previous = {f"prev_{column}": f"{column} at prev_ts" for column in filled}
            filled |= {name: text for name, text in previous.items() if name in datasets()[dataset].columns}
    return dict(stated)


def counters_by_source(dataset: str, sources: Mappings) -> dict[str, Mapping[str, str]]:
    """Return what fills the columns of a dataset, by source."""
    return {source: datasets[dataset] for source, datasets in sources.items() if dataset in datasets}

"""Reads dataset definitions, `schemas/datasets/<dataset>.yaml`, into types.

A definition is the only place that defines a dataset's columns: their meaning, their unit and when they are null. JSON
Schema, Flink DDL, ClickHouse DDL and the data dictionary are generated from it. What fills the columns stands with who
fills them (`mapping`), the SELECT of a view beside its definition, `schemas/datasets/<dataset>.sql`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import Field, ValidationError, model_validator

from counterflow.base.errors import CounterflowError
from counterflow.base.strict import Strict

FOLDER = Path(__file__).parent
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Type = Literal["String", "Float64", "Int64", "UInt64", "Bool", "DateTime64"]
Kind = Literal["delta", "cumulative", "gauge", "rate", "percent"]


class Limit(Strict):
    """The most that a figure can be: `most` times the columns of its row in `per`; no limit where one is null or 0."""

    most: float
    per: tuple[str, ...] = ()


class Column(Strict):
    """One column: ClickHouse type without wrappers, unit, kind, meaning.

    `null_when` describes when the value is missing; a column without it is required in every record.
    `unbounded` marks text that differs in nearly every row (payloads, command lines): it gets no dictionary.
    A figure beyond one of its `limits` cannot be, nor one below 0 unless `signed`. `counts` is how many steps of the
    counters behind it make one unit (sectors or bytes of a KB): what is nearly 2^32 or 2^64 of them is a wrap.
    """

    type: Type
    text: str
    unit: str | None = None
    kind: Kind | None = None
    null_when: str | None = None
    values: tuple[str, ...] | None = None
    unbounded: bool = False
    limits: tuple[Limit, ...] = ()
    signed: bool = False
    counts: float = 1.0

    @property
    def comment(self) -> str:
        """Meaning, unit, kind and null condition in one line: the column's comment in every generated artefact."""
        facts = [*filter(None, (self.unit, self.kind)), *([f"null: {self.null_when}"] if self.null_when else [])]
        return f"{self.text} [{'; '.join(facts)}]" if facts else self.text

    @model_validator(mode="after")
    def _numbers_have_units(self) -> Column:
        if self.type in ("Float64", "Int64", "UInt64") and self.unit is None:
            raise ValueError("a number needs a `unit`")
        return self


class WatchedFigure(Strict):
    """One Prometheus metric of a row: `factor` times the sum of `columns`; unknown where one of them is null.

    `factor` converts the unit of the columns into the base unit at the end of the metric's name.
    """

    columns: tuple[str, ...] = Field(min_length=1)
    factor: float = 1.0
    text: str


class Watched(Strict):
    """What the exporter publishes of the newest row of each entity in a dataset.

    `labels` are the columns that name the entity, `where` the values that a column must have for a row to count, and
    `figures` the metrics by name, without the prefix `counterflow_`. Without figures the exporter publishes only the
    time of the newest row.
    """

    labels: tuple[str, ...] = ()
    where: dict[str, tuple[str, ...]] = {}
    figures: dict[str, WatchedFigure] = {}

    @property
    def columns(self) -> set[str]:
        return {*self.labels, *self.where, *(name for figure in self.figures.values() for name in figure.columns)}


class Counts(Strict):
    """How the input rows of a result are compared with the manifests that count them.

    `manifests` are the datasets whose rows feed the result; with `source`, only those whose source begins so.
    `rows` is the SQL that counts, by system and ts, the input rows behind those of the result's rows that meet `where`.
    """

    manifests: tuple[str, ...] = Field(min_length=1)
    source: str | None = None
    rows: str = "sum(n)"
    where: str | None = None


_OF_ROLE = {"counts": "result", "instance": "counter", "reads": "view", "source": "view"}
"""What only a dataset of one role has."""
_NOT_MEASURED = ("config", "deadletter", "manifest", "quality")
"""Their `ts` is the time of the reading, or that from which a setting holds; a manifest counts rows of the others."""


class Dataset(Strict):
    """One dataset: a Kafka topic, a ClickHouse table, a Flink table; or a view of ClickHouse.

    `role` is `counter` for data that agents publish, `result` for data that a job computes, and `view` for what
    ClickHouse computes from one system and interval of the datasets that it `reads`, and of their rows those of
    `source`, if given; without the first of them it has no row. `key` is the natural key, `ts`
    last. `instance` is the key column that names the measured object in the rollup by hour (none: no
    rollup; a result has none, since a view sees every version of a replaced row). `metric` lists the columns that name
    the metric there if the table is long (a `value` of many counters) instead of wide.
    `shares` are columns that are parts of one whole: together they are at most 100 %.
    `ordered` is for a result that a rule judges: Kafka partitions by the whole key, so the topic has only one
    partition, in which the intervals of an entity stay in order.
    `columns` are the dataset's own; `all_columns` adds the envelope of the role. `watched` lists the metrics that
    alerts may use; None: none. `counts` is how a result is compared with the manifests of its input; None: it is not
    compared.
    """

    dataset: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    row: str
    role: Literal["counter", "result", "view"]
    key: tuple[str, ...]
    reads: tuple[str, ...] = ()
    source: str | None = None
    instance: str | None = None
    metric: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    version: int = 2
    ordered: bool = False
    watched: Watched | None = None
    counts: Counts | None = None
    columns: dict[str, Column]

    @property
    def topic(self) -> str:
        """Name of the Kafka topic; a view has none."""
        return f"counterflow.{self.dataset}.v{self.version}"

    @property
    def measured(self) -> bool:
        """Whether its rows are counters of an interval, and not about settings, lines or other rows."""
        return self.role == "counter" and self.dataset not in _NOT_MEASURED

    @property
    def lists_systems(self) -> bool:
        """Whether its rows state that a system has counters."""
        return self.measured or self.dataset == "manifest"

    @property
    def select(self) -> str:
        """The SELECT of a view, with its comments."""
        return (FOLDER / "datasets" / f"{self.dataset}.sql").read_text(encoding="utf-8")

    @property
    def rolled_up_as(self) -> str | None:
        """Dataset whose tables by hour are computed again when rows of this one arrive: waits are summed by job."""
        if self.instance is not None or self.dataset in ("manifest", "wait"):
            return self.dataset
        return "wait" if self.dataset == "job" else None

    @property
    def all_columns(self) -> dict[str, Column]:
        """Envelope and own columns, in the order of every generated artefact."""
        return {**envelope(self.role), **self.columns}

    @model_validator(mode="after")
    def _names_resolve(self) -> Dataset:
        known = self.all_columns
        named = (*self.key, *((self.instance,) if self.instance else ()), *self.metric)
        watched = self.watched.columns if self.watched else set()
        mistakes = [
            *(f"key column `{name}` is not a column" for name in named if name not in known),
            *(f"share `{name}` is not a column" for name in self.shares if name not in known),
            *(f"watched column `{name}` is not a column" for name in sorted(watched - known.keys())),
            *(f"key column `{name}` may be null" for name in named if name in known and known[name].null_when),
            *(
                f"limit of `{name}` is per `{factor}`, which is not a column"
                for name, column in known.items()
                for limit in column.limits
                for factor in limit.per
                if factor not in known
            ),
            *([] if self.key[-1:] == ("ts",) else ["the key does not end with `ts`"]),
            *(f"a {self.role} has no `{n}`" for n, role in _OF_ROLE.items() if getattr(self, n) and self.role != role),
        ]
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self


def load_yaml(text: str) -> Any:
    """Parse YAML, in C where available: every command begins with the definitions."""
    return yaml.load(text, _LOADER)  # noqa: S506 - a safe one


@cache
def envelope(role: str) -> dict[str, Column]:
    """Return the columns that every record of a role carries, from `schemas/envelope.yaml`."""
    text = (FOLDER / "envelope.yaml").read_text(encoding="utf-8")
    return {name: Column.model_validate(column) for name, column in load_yaml(text)[role].items()}


@cache
def dataset(name: str) -> Dataset | None:
    """Return one definition, None where there is none: who reads a file needs few of them."""
    path = FOLDER / "datasets" / f"{name}.yaml"
    return Dataset.model_validate(load_yaml(path.read_text(encoding="utf-8"))) if path.exists() else None


@cache
def datasets() -> dict[str, Dataset]:
    """Return all definitions by name, sorted.

    Raises
    ------
    CounterflowError : names every invalid file and every mistake in it, not only the first.
    """
    found: dict[str, Dataset] = {}
    mistakes: list[str] = []
    for path in sorted((FOLDER / "datasets").glob("*.yaml")):
        try:
            definition = dataset(path.stem)
            assert definition is not None  # noqa: S101 - its file exists
            if definition.dataset != path.stem:
                mistakes.append(f"{path.name}: dataset is `{definition.dataset}`, the file is `{path.stem}.yaml`")
            found[definition.dataset] = definition
        except (ValidationError, yaml.YAMLError) as error:
            mistakes.append(f"{path.name}: {error}")
    if mistakes:
        raise CounterflowError("\n".join(mistakes), hint="see CONTRIBUTING.md, Add a dataset", exit_code=2)
    return found


def published() -> dict[str, Dataset]:
    """Return the datasets that have a topic and a table, by name: all but the views."""
    return {name: dataset for name, dataset in datasets().items() if dataset.role != "view"}


class Topic(NamedTuple):
    """A Kafka topic that must exist before anything is published."""

    name: str
    partitions: int
    config: dict[str, str]


CHECKPOINTS = "counterflow.checkpoints"


def topics(partitions: int = 4) -> list[Topic]:
    """Return a topic for each published dataset, and one for the checkpoints of agents (compacted)."""
    large = {"max.message.bytes": "4194304"}
    # A configuration of a year ago may still be valid. Its key is the system: compaction would leave one item of each.
    config = {**large, "retention.ms": "-1"}
    of_datasets = [
        Topic(d.topic, 1 if d.ordered else partitions, config if d.dataset == "config" else large)
        for d in published().values()
    ]
    # An agent reads the whole topic when it starts, and the active segment is never compacted: keep it short.
    compacted = {"cleanup.policy": "compact", "segment.bytes": "33554432", "min.cleanable.dirty.ratio": "0.1"}
    return [*of_datasets, Topic(CHECKPOINTS, 1, {**large, **compacted})]

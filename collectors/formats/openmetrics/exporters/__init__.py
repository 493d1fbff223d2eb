"""Known exporters: which of their metrics fill which columns of the datasets. Each is one file beside this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, model_validator

from counterflow.base.strict import Strict
from counterflow.schemas.mapping import fill

_HERE = Path(__file__).parent


class FilledColumn(Strict):
    """What fills a column: a metric times `factor`, or as far as it `grew` since the scrape before.

    With `per_interval`, it is divided by the seconds of the interval. It is written as in a `mapping.yaml`.
    """

    metric: str
    grew: bool
    per_interval: bool
    factor: float

    @model_validator(mode="before")
    @classmethod
    def _read(cls, written: str) -> dict[str, object]:
        _, counter, factor, *_ = fill("", written)
        metric = counter.removeprefix("growth of ").removesuffix(" / interval_s")
        grew, per_interval = counter.startswith("growth of "), counter.endswith(" / interval_s")
        return {"metric": metric, "grew": grew, "per_interval": per_interval, "factor": factor}


class Shares(Strict):
    """Columns that divide the growth of one running count: `columns` names the values of `label` that each adds.

    `set` holds columns of the rows that have shares.
    """

    metric: str
    label: str
    columns: dict[str, tuple[str, ...]]
    set: dict[str, str] = Field(default={})


class Rows(Strict):
    """Rows of one dataset, one for each value of the label `by`, or one row where there is none.

    The label `system` names the system of a row, where a target answers for several; metrics without it fill nothing.
    `column` is filled with the value of the label behind `prefix`; `all_as` adds a row of all values together, and
    `count_as` states in it how many there are. With `devices`, the names are those of disks of that system, from which
    `device_type` and `leaf` follow.
    """

    column: str | None = None
    by: str | None = None
    system: str | None = None
    prefix: str = ""
    all_as: str | None = None
    count_as: str | None = None
    devices: str | None = None
    set: dict[str, str] = Field(default={})
    columns: dict[str, FilledColumn] = Field(default={})
    shares: Shares | None = None


class Exporter(Strict):
    """An exporter, recognised by a metric that no other has, and the rows that its metrics fill, by dataset.

    With `labels`, the metric has to have these. `text` states where the text comes from by which it was verified.
    """

    exporter: str
    recognised_by: str
    labels: dict[str, str] = Field(default={})
    text: str
    rows: dict[str, Rows]

    @property
    def counted(self) -> frozenset[str]:
        """The running counts that fill columns: those kept from one scrape to the next."""
        grown = {filled.metric for rows in self.rows.values() for filled in rows.columns.values() if filled.grew}
        return self.divided | grown

    @property
    def divided(self) -> frozenset[str]:
        """The running counts whose growth is divided into shares: times of processors, in seconds."""
        return frozenset(rows.shares.metric for rows in self.rows.values() if rows.shares)


@cache
def exporters() -> tuple[Exporter, ...]:
    """Return the known exporters, first those that are recognised by labels, too."""

    def read(path: Path) -> Any:
        return yaml.safe_load(path.read_text(encoding="utf-8"))

    found = [Exporter.model_validate(read(path)) for path in sorted(_HERE.glob("*.yaml"))]
    return tuple(sorted(found, key=lambda exporter: not exporter.labels))

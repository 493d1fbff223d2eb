"""Selects what the exporter publishes: `watched` figures, evidence of verdicts, counters of a list. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from counterflow.base.clickhouse import wire
from counterflow.schemas.definition import Watched, WatchedFigure, datasets


@cache
def watched() -> dict[str, Watched]:
    """Return what is published of each dataset whose definition has `watched`."""
    return {name: dataset.watched for name, dataset in datasets().items() if dataset.watched is not None}


VERDICT = "verdict"
OF_VERDICT = ("rule", "system", "entity_type", "entity")
EVIDENCE: Mapping[str, tuple[str, ...]] = {
    "roce_cap": ("share", "util", "capacity_pct", "own_bytes_s", "baseline_own_bytes_s"),
    "log_ceiling": (
        *("rate_mb_s", "ceiling_mb_s", "ratio", "waits_delta", "waiting_share", "gcp_pct", "ziip_pct", "zhl_sync_pct"),
    ),
}
"""Inputs and figures of a rule's evidence that are published, named as on the page of its job, README.md."""


def evidence(rule: str, found: Mapping[str, Any]) -> dict[str, float]:
    """Return the published numbers of a verdict's evidence; unknown ones are left out."""
    numbers = {**found.get("inputs", {}), **found.get("figures", {})}
    return {name: float(numbers[name]) for name in EVIDENCE[rule] if numbers.get(name) is not None}


COUNTER = "counter"
OF_COUNTER = ("system", "section", "instance", "counter", "unit", "kind")

Listed = tuple[str, str]
"""A raw counter that the user chose: its section and its name."""


def listed(text: str) -> tuple[Listed, ...]:
    """Return the counters of a list: `SECTION/COUNTER`, one a line; lines that begin with # are for people.

    Raises
    ------
    ValueError : a line is none; the message names it.
    """
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.strip()
        if entry and not entry.startswith("#"):
            section, slash, counter = entry.partition("/")
            if not (slash and section and counter):
                raise ValueError(f"line {number}: expected SECTION/COUNTER, found {entry:.100}")
            found.append((section, counter))
    return tuple(found)


def newest_counters(chosen: Sequence[Listed]) -> str:
    """Return the SELECT of the newest value of each instance of these counters; else as `newest_figures`."""
    return _newest(COUNTER, ["unit", "kind", "value"], f"(section, counter) IN {wire(COUNTER, list(chosen))}")


def newest_verdicts() -> str:
    """Return the SELECT of the newest verdict of each entity; parameters and further columns as `newest_figures`."""
    return _newest(VERDICT, ["state", "stale", "evidence"])


def newest_figures(dataset: str, of: Watched) -> str:
    """Return the SELECT of the newest row of each entity of a dataset.

    Its columns are the key and the labels, `ts_ms` (end of the interval, ms since 1970), the figures by name, and
    `entities`, the number of all entities. A figure is null where one of its columns is null or the row does not meet
    `where`. The parameter `since_ms` is the time after which an interval counts, `most` the limit of rows.
    """
    labels = [_name(label) for label in of.labels if label not in datasets()[dataset].key]
    return _newest(dataset, [*labels, *(f"{_figure(figure, of)} AS {_name(n)}" for n, figure in of.figures.items())])


def _newest(dataset: str, expressions: list[str], where: str = "true") -> str:
    key = ", ".join(_name(column) for column in datasets()[dataset].key if column != "ts")
    return f"""\
SELECT *, count() OVER () AS entities
FROM
(
  SELECT {", ".join([key, "toUnixTimestamp64Milli(ts) AS ts_ms", *expressions])}
  FROM counterflow.{dataset} FINAL
  WHERE ts > fromUnixTimestamp64Milli({{since_ms:Int64}}, 'UTC') AND {where}
  ORDER BY ts DESC
  LIMIT 1 BY {key}
)
ORDER BY {key}
LIMIT {{most:UInt64}}"""


def _figure(figure: WatchedFigure, of: Watched) -> str:
    number = f"{figure.factor} * ({' + '.join(map(_name, figure.columns))})"
    allowed = [f"{_name(column)} IN {wire(column, list(values))}" for column, values in of.where.items()]
    return f"if({' AND '.join(allowed)}, {number}, NULL)" if allowed else number


def _name(column: str) -> str:
    return f"`{column}`"

"""Rows of the datasets from the metrics of a known exporter: pure functions of two scrapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from counterflow.collectors.formats.openmetrics.exporters import Exporter, FilledColumn, Rows, Shares, exporters
from counterflow.collectors.formats.openmetrics.exposition import Metric
from counterflow.collectors.records import Fields
from counterflow.collectors.text.device_names import devices

Counts = Mapping[str, float]
"""Values of running counts by series."""


class Scrape(NamedTuple):
    """Metrics of one scrape, and how much each running count grew since the one before; empty where that is unknown.

    `interval_s` is the time between the two, None where it is unknown.
    """

    metrics: Sequence[Metric]
    grown: Counts
    interval_s: float | None


def known(metrics: Sequence[Metric]) -> Exporter | None:
    """Return the exporter that these metrics are of, None where it is not known."""
    for exporter in exporters():
        named = (metric for metric in metrics if metric.name == exporter.recognised_by)
        if any(exporter.labels.items() <= metric.labels.items() for metric in named):
            return exporter
    return None


def filled(exporter: Exporter, scrape: Scrape) -> Iterator[tuple[str, Fields]]:
    """Yield the rows that a scrape fills, with their dataset; without envelope, but with the `system` of a label."""
    for dataset, rows in exporter.rows.items():
        if rows.system is None:
            yield from ((dataset, fields) for fields in _rows(rows, scrape))
            continue
        for system, metrics in _grouped(scrape.metrics, rows.system).items():
            for fields in _rows(rows, scrape._replace(metrics=metrics)):
                yield dataset, {"system": system, **fields}


def _grouped(metrics: Sequence[Metric], label: str) -> dict[str, list[Metric]]:
    """Return the metrics that have a label, by its value."""
    found: dict[str, list[Metric]] = {}
    for metric in metrics:
        if value := metric.labels.get(label):
            found.setdefault(value, []).append(metric)
    return found


def _rows(rows: Rows, scrape: Scrape) -> Iterator[Fields]:
    wanted = {filled.metric for filled in rows.columns.values()}
    if rows.shares:
        wanted.add(rows.shares.metric)
    metrics_of_rows = [metric for metric in scrape.metrics if metric.name in wanted]
    by_value = _grouped(metrics_of_rows, rows.by) if rows.by else {"": metrics_of_rows}
    kinds = devices(by_value, rows.devices) if rows.devices else {}
    if rows.all_as and by_value:
        together = [metric for metrics in by_value.values() for metric in metrics]
        figures = _figures(rows, together, scrape)
        if rows.count_as:
            figures[rows.count_as] = float(len(by_value))
        yield {str(rows.column): rows.all_as, **rows.set, **figures}
    for value, metrics in by_value.items():
        if not (figures := _figures(rows, metrics, scrape)):
            continue
        fields = {**rows.set, **figures}
        if rows.column:
            fields[rows.column] = rows.prefix + value
        if value in kinds:
            fields |= {"device_type": kinds[value].device_type, "leaf": kinds[value].leaf}
        yield fields


def _figures(rows: Rows, metrics: Sequence[Metric], scrape: Scrape) -> Fields:
    found: Fields = {column: _figure(filled, metrics, scrape) for column, filled in rows.columns.items()}
    if rows.shares and (shares := _shares(rows.shares, metrics, scrape.grown)):
        found |= shares | rows.shares.set
    return {column: value for column, value in found.items() if value is not None}


def _figure(filled: FilledColumn, metrics: Sequence[Metric], scrape: Scrape) -> float | None:
    """Return a figure, None where its metric is missing, of an unknown growth, or negative: an unknown speed is -1."""
    values = scrape.grown if filled.grew else {metric.series: metric.value for metric in metrics}
    parts = [values[metric.series] for metric in metrics if metric.name == filled.metric and metric.series in values]
    if not parts or min(parts) < 0:
        return None
    amount = sum(parts) * filled.factor
    if filled.per_interval:
        return round(amount / scrape.interval_s, 6) if scrape.interval_s else None
    return round(amount, 6)


def _shares(shares: Shares, metrics: Sequence[Metric], grown: Counts) -> dict[str, float]:
    """Return the shares in percent; nothing where a count is unknown or none grew, as of a processor off line."""
    parts = [(m.labels.get(shares.label, ""), grown.get(m.series)) for m in metrics if m.name == shares.metric]
    total = sum(part for _, part in parts if part is not None)
    if not total or any(part is None for _, part in parts):
        return {}
    return {
        column: round(100 * sum(part or 0.0 for value, part in parts if value in values) / total, 3)
        for column, values in shares.columns.items()
        if any(value in values for value, _ in parts)
    }

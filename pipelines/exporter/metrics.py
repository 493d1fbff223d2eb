"""The current state as metrics (Prometheus naming conventions); defines every name that alerts may use."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import orjson
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from counterflow.base import health
from counterflow.base.errors import CounterflowError
from counterflow.pipelines.exporter.newest import Newest
from counterflow.pipelines.exporter.watched import EVIDENCE, OF_VERDICT, VERDICT, counts, evidence, value, watched
from counterflow.pipelines.rules import rules
from counterflow.schemas.definition import datasets
from counterflow.schemas.frame import contract, rows

_PREFIX = "counterflow_"


class Verdict(NamedTuple):
    """The published part of a verdict."""

    state: str
    stale: bool
    evidence: Mapping[str, float]


class Figures(NamedTuple):
    """The published part of another row: its labels, which may change while its key does not, and its figures."""

    labels: tuple[str, ...]
    values: tuple[float | None, ...]


class ResultMetrics(Collector):
    """Metrics of the records read so far; safe to collect while another thread reads.

    Parameters
    ----------
    stale_s : seconds for which an interval counts after its end.
    most : entities published per dataset.
    """

    def __init__(self, stale_s: float, most: int) -> None:
        """Start empty."""
        self.kafka_up = False
        self._lock = threading.Lock()
        self._verdicts: Newest[Verdict] = Newest(stale_s, most)
        self._intervals: Newest[None] = Newest(stale_s, most)
        self._figures: dict[str, Newest[Figures]] = {name: Newest(stale_s, most) for name in watched()}
        self._unreadable: Counter[str] = Counter()

    def observe(self, dataset: str, record: bytes | None) -> None:
        """Take a record of a dataset; count it if it is unreadable (the lander keeps it)."""
        if record is None:  # a retracted result
            return
        try:
            found = orjson.loads(record)
            if datasets()[dataset].role != "counter":
                self._keep(dataset, found, int(found["n"]))
                return
            contract(dataset).rows(found)
            for row in rows(found, contract(dataset).columns):
                self._keep(dataset, row, 1)
        except (KeyError, TypeError, ValueError, AttributeError):
            with self._lock:
                self._unreadable[dataset] += 1

    def _keep(self, dataset: str, row: dict[str, Any], n: int) -> None:
        ts_s = _seconds(row["ts"])
        with self._lock:
            if dataset == VERDICT:
                self._verdicts.keep(tuple(map(_text, map(row.get, OF_VERDICT))), ts_s, n, _verdict(row))
            elif counts(row, of := watched()[dataset]):
                entity, labels = (
                    tuple([_text(row.get(column, "")) for column in columns if column != "ts"])
                    for columns in (datasets()[dataset].key, of.labels)
                )
                values = tuple([value(row, figure) for figure in of.figures.values()])
                self._figures[dataset].keep(entity, ts_s, n, Figures(labels, values))
            if datasets()[dataset].role != "counter":
                self._intervals.keep((dataset, _text(row["system"])), ts_s, n, None)

    def problems(self) -> list[str]:
        """Return the reasons why the metrics are not up to date."""
        return [] if self.kafka_up else ["Kafka does not answer: these metrics are as old as its last answer"]

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Return every metric as of now: a scrape gives the samples its own time."""
        found = [*self.families()]
        for family in found:
            family.samples = [sample._replace(timestamp=None) for sample in family.samples]
        return iter(found)

    def families(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Return every metric; those of intervals have the end of the interval as their time."""
        with self._lock:
            return iter([*self._of_verdicts(), *self._of_results(), *self._of_itself()])

    def _of_verdicts(self) -> Iterator[GaugeMetricFamily]:
        state = _gauge("verdict_state", "1 for the state the entity is in, 0 for each other.", *OF_VERDICT, "state")
        ts = _gauge("verdict_timestamp_seconds", "End of the newest interval judged.", *OF_VERDICT)
        stale = _gauge("verdict_stale", "1 where the newest interval allowed no verdict.", *OF_VERDICT)
        figure = _gauge("verdict_figure", "Inputs and figures behind it, see docs/rules.", *OF_VERDICT, "figure")
        for entity, kept in self._verdicts.items():
            for possible in rules()[entity[0]].states:
                state.add_metric([*entity, possible], possible == kept.value.state, kept.ts_s)
            ts.add_metric(entity, kept.ts_s, kept.ts_s)
            stale.add_metric(entity, kept.value.stale, kept.ts_s)
            for name, number in kept.value.evidence.items():
                figure.add_metric([*entity, name], number, kept.ts_s)
        yield from (state, ts, stale, figure)

    def _of_results(self) -> Iterator[GaugeMetricFamily]:
        ts = _gauge("result_timestamp_seconds", "End of the newest interval with a result.", "dataset", "system")
        for entity, kept in self._intervals.items():
            ts.add_metric(entity, kept.ts_s, kept.ts_s)
        yield ts
        for dataset, of in watched().items():
            families = [_gauge(name, figure.text, *of.labels) for name, figure in of.figures.items()]
            for _, found in self._figures[dataset].items():
                for family, number in zip(families, found.value.values, strict=True):
                    if number is not None:
                        family.add_metric(found.value.labels, number, found.ts_s)
            yield from families

    def _of_itself(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        yield _gauge("exporter_kafka_up", "1 where Kafka answered the last request.", value=self.kafka_up)
        unreadable = _counter("exporter_unreadable_records", "Records that could not be read.", "dataset")
        refused = _counter("exporter_refused_records", "Records of entities beyond the limit.", "dataset")
        kept: dict[str, Newest[Any]] = {VERDICT: self._verdicts, **self._figures}
        for dataset, newest in kept.items():
            unreadable.add_metric([dataset], self._unreadable[dataset])
            refused.add_metric([dataset], newest.refused)
        yield from (unreadable, refused)


def serve(registry: CollectorRegistry, port: int, problems: health.Problems) -> None:
    """Answer `/metrics` and `/healthz` on 127.0.0.1.

    Raises
    ------
    CounterflowError : the port is taken.
    """
    try:
        health.serve(port, registry, problems)
    except OSError as error:
        raise CounterflowError(
            f"cannot listen on 127.0.0.1:{port}: {error.strerror}", hint="choose another --metrics-port", exit_code=2
        ) from None


def _verdict(row: Mapping[str, Any]) -> Verdict:
    """Read a verdict; raises where it is malformed, or its rule or state is unknown."""
    rule, state = row["rule"], row["state"]
    if rule not in EVIDENCE or state not in rules()[rule].states:
        raise ValueError(f"{rule} {state}")
    return Verdict(state, bool(row["stale"]), evidence(rule, orjson.loads(row["evidence"])))


def _seconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return value


def _gauge(name: str, text: str, *labels: str, value: float | None = None) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, text, value=value, labels=None if value is not None else labels)


def _counter(name: str, text: str, *labels: str) -> CounterMetricFamily:
    return CounterMetricFamily(_PREFIX + name, text, labels=labels)

"""The current state as metrics (Prometheus naming conventions); defines every name that alerts may use."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx
import orjson
import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from counterflow.base.clickhouse import ClickHouse, ClickHouseError
from counterflow.pipelines.exporter.watched import (
    COUNTER,
    EVIDENCE,
    OF_COUNTER,
    OF_VERDICT,
    VERDICT,
    Listed,
    evidence,
    newest_counters,
    newest_figures,
    newest_verdicts,
    watched,
)
from counterflow.pipelines.rules import rules
from counterflow.schemas.definition import datasets

log = structlog.get_logger()

EVERY_S = 15.0
"""Seconds between two queries: the default interval of a scrape is as long."""
_FRESH_S = 60.0
"""Age of an answer at which ClickHouse counts as not answering."""
_PREFIX = "counterflow_"

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows by dataset, as the statements of `watched` return them."""


class Results(Collector):
    """Metrics of ClickHouse's newest answer; safe to collect while another thread refreshes it.

    Parameters
    ----------
    stale_s : seconds for which an interval counts after its end.
    most : entities published per dataset.
    counters : raw counters that are published, too.
    """

    def __init__(self, stale_s: float, most: int, counters: Sequence[Listed] = ()) -> None:
        self._stale_s = stale_s
        self._most = most
        self._counters = counters
        self._families = families_of({})
        self._answered: float | None = None
        self._problem = "no query yet"

    def refresh(self, clickhouse: ClickHouse) -> None:
        """Query every dataset once; where one query fails, keep the last answer and report the failure."""
        limits = {"param_since_ms": round((time.time() - self._stale_s) * 1000), "param_most": self._most}
        statements = {VERDICT: newest_verdicts(), **{name: newest_figures(name, of) for name, of in watched().items()}}
        if self._counters:
            statements[COUNTER] = newest_counters(self._counters)
        try:
            self._families = families_of({name: clickhouse.rows(sql, limits) for name, sql in statements.items()})
        except (ClickHouseError, httpx.TransportError) as error:
            self._answered, self._problem = None, str(error)[:300] or type(error).__name__
            log.warning("ClickHouse does not answer", error=self._problem)
        else:
            self._answered, self._problem = time.monotonic(), "its answer takes too long"

    @property
    def up(self) -> bool:
        """Whether ClickHouse answered the last queries, within a minute."""
        return self._answered is not None and time.monotonic() - self._answered < _FRESH_S

    def problems(self) -> list[str]:
        """Return the reasons why the metrics are not up to date."""
        if self.up:
            return []
        return [f"ClickHouse does not answer ({self._problem}): these metrics are as old as its last answer"]

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield every metric as of now: a scrape gives the samples its own time."""
        for family in self.families():
            family.samples = [sample._replace(timestamp=None) for sample in family.samples]
            yield family

    def families(self) -> Iterator[GaugeMetricFamily]:
        """Yield every metric that is not stale; those of intervals have the end of the interval as their time."""
        oldest = time.time() - self._stale_s
        for family in self._families:
            fresh = copy.copy(family)
            fresh.samples = [one for one in family.samples if one.timestamp is None or float(one.timestamp) > oldest]
            yield fresh
        yield _gauge("exporter_clickhouse_up", "1 where ClickHouse answered the last queries.", value=self.up)


def families_of(found: Rows) -> list[GaugeMetricFamily]:
    """Return the metrics of rows; the time of each sample is the end of its interval. A dataset may be missing."""
    refused = _gauge("exporter_refused_entities", "Entities that are not published, see docs/alerts.", "dataset")
    verdicts, unknown = _of_verdicts(found.get(VERDICT, ()))
    for dataset, rows in found.items():
        beyond = rows[0]["entities"] - len(rows) if rows else 0
        refused.add_metric([dataset], beyond + (unknown if dataset == VERDICT else 0))
    return [*verdicts, _of_intervals(found), *_of_figures(found), _of_counters(found), refused]


def _of_verdicts(rows: Sequence[Mapping[str, Any]]) -> tuple[list[GaugeMetricFamily], int]:
    """Return the metrics of verdicts, and the number of those whose rule, state or evidence is unknown here."""
    state = _gauge("verdict_state", "1 for the state the entity is in, 0 for each other.", *OF_VERDICT, "state")
    ts = _gauge("verdict_timestamp_seconds", "End of the newest interval judged.", *OF_VERDICT)
    stale = _gauge("verdict_stale", "1 where the newest interval allowed no verdict.", *OF_VERDICT)
    figure = _gauge("verdict_figure", "Inputs and figures behind it, see the page of the rule.", *OF_VERDICT, "figure")
    unknown = 0
    for row in rows:
        entity, ts_s, rule = [row[name] for name in OF_VERDICT], row["ts_ms"] / 1000, row["rule"]
        try:
            if rule not in EVIDENCE or row["state"] not in rules()[rule].states:
                raise ValueError(f"{rule} {row['state']} is of another version")
            numbers = evidence(rule, orjson.loads(row["evidence"]))
        except (TypeError, ValueError, AttributeError) as error:
            unknown += 1
            log.warning("verdict not published", entity=entity, error=str(error))
            continue
        for possible in rules()[rule].states:
            state.add_metric([*entity, possible], possible == row["state"], ts_s)
        ts.add_metric(entity, ts_s, ts_s)
        stale.add_metric(entity, row["stale"], ts_s)
        for name, number in numbers.items():
            figure.add_metric([*entity, name], number, ts_s)
    return [state, ts, stale, figure], unknown


def _of_intervals(found: Rows) -> GaugeMetricFamily:
    ts = _gauge("result_timestamp_seconds", "End of the newest interval with a result.", "dataset", "system")
    for dataset, rows in found.items():
        newest: dict[str, float] = {}
        if datasets()[dataset].role != "counter":
            for row in rows:
                newest[row["system"]] = max(newest.get(row["system"], 0), row["ts_ms"] / 1000)
        for system, ts_s in newest.items():
            ts.add_metric([dataset, system], ts_s, ts_s)
    return ts


def _of_figures(found: Rows) -> Iterator[GaugeMetricFamily]:
    for dataset, of in watched().items():
        for name, figure in of.figures.items():
            family = _gauge(name, figure.text, *of.labels)
            for row in found.get(dataset, ()):
                if row[name] is not None:
                    family.add_metric([row[label] or "" for label in of.labels], row[name], row["ts_ms"] / 1000)
            yield family


def _of_counters(found: Rows) -> GaugeMetricFamily:
    value = _gauge("counter_value", "Newest value of a counter of the list, as its source wrote it.", *OF_COUNTER)
    for row in found.get(COUNTER, ()):
        value.add_metric([row[label] or "" for label in OF_COUNTER], row["value"], row["ts_ms"] / 1000)
    return value


def _gauge(name: str, text: str, *labels: str, value: float | None = None) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, text, value=value, labels=None if value is not None else labels)

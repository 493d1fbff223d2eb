"""The agent's own metrics, each name once (Prometheus naming conventions)."""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

_ANSWER_S = (0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_COMMIT_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """Records, rejects and bytes are counted when they are committed: a rewound transaction leaves no trace in them.

    Errors of files, events of systems and rewinds are counted when they happen.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        of: dict[str, Any] = {"namespace": "counterflow_agent", "registry": self.registry}
        self.records = Counter("records_total", "Records committed to Kafka.", ["source", "dataset"], **of)
        self.rejects = Counter("rejects_total", "Anomalies met, by reason.", ["source", "reason"], **of)
        self.read_bytes = Counter("read_bytes_total", "Bytes of files read and committed.", ["source"], **of)
        self.lag_bytes = Gauge("source_lag_bytes", "Bytes of files not yet committed.", ["source"], **of)
        text = "When the source was last read without an error and all of it committed."
        self.last_success = Gauge("last_success_timestamp_seconds", text, ["source"], **of)
        self.file_errors = Counter("file_errors_total", "Files and folders that could not be read.", ["source"], **of)
        text = "Whether the system of the source is connected."
        self.system_connected = Gauge("system_connected", text, ["source"], **of)
        text = "Connections made, lost or refused, and failed queries, by event."
        self.system_events = Counter("system_events_total", text, ["source", "event"], **of)
        text = "Time from a query to the end of its answer."
        self.answer_seconds = Histogram("answer_duration_seconds", text, ["source", "table"], buckets=_ANSWER_S, **of)
        text = "Time to commit a transaction."
        self.commit_seconds = Histogram("commit_duration_seconds", text, buckets=_COMMIT_S, **of)
        text = "Transactions lost and published again from the last commit."
        self.rewinds = Counter("rewinds_total", text, **of)
        self.committed_seq = Gauge("committed_seq", "Number of the last committed record.", **of)

    def unconnected(self) -> list[str]:
        """Return the sources whose system is not connected."""
        [family] = self.system_connected.collect()
        return [sample.labels["source"] for sample in family.samples if not sample.value]

"""The agent's own metrics, each name once (Prometheus naming conventions)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from counterflow.base import health
from counterflow.base.errors import CounterflowError

_PREFIX = "counterflow_agent"


class Metrics:
    """Records, rejects and bytes are counted when they are committed: a rewound transaction leaves no trace in them.

    Errors of files, events of systems and rewinds are counted when they happen.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self.records = Counter(
            f"{_PREFIX}_records_total", "Records committed to Kafka.", ["source", "dataset"], registry=registry
        )
        self.rejects = Counter(
            f"{_PREFIX}_rejects_total", "Anomalies met, by reason.", ["source", "reason"], registry=registry
        )
        self.read_bytes = Counter(
            f"{_PREFIX}_read_bytes_total", "Bytes of files read and committed.", ["source"], registry=registry
        )
        self.lag_bytes = Gauge(
            f"{_PREFIX}_source_lag_bytes", "Bytes of files not yet committed.", ["source"], registry=registry
        )
        self.last_success = Gauge(
            f"{_PREFIX}_last_success_timestamp_seconds",
            "When the source was last read without an error and all of it committed.",
            ["source"],
            registry=registry,
        )
        self.file_errors = Counter(
            f"{_PREFIX}_file_errors_total", "Files and folders that could not be read.", ["source"], registry=registry
        )
        self.system_connected = Gauge(
            f"{_PREFIX}_system_connected",
            "Whether the system of the source is connected.",
            ["source"],
            registry=registry,
        )
        self.system_events = Counter(
            f"{_PREFIX}_system_events_total",
            "Connections made, lost or refused, and failed queries, by event.",
            ["source", "event"],
            registry=registry,
        )
        self.answer_seconds = Histogram(
            f"{_PREFIX}_answer_duration_seconds",
            "Time from a query to the end of its answer.",
            ["source"],
            buckets=(0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
            registry=registry,
        )
        self.commit_seconds = Histogram(
            f"{_PREFIX}_commit_duration_seconds",
            "Time to commit a transaction.",
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
            registry=registry,
        )
        self.rewinds = Counter(
            f"{_PREFIX}_rewinds_total", "Transactions lost and published again from the last commit.", registry=registry
        )
        self.committed_seq = Gauge(
            f"{_PREFIX}_committed_seq", "Number of the last committed record.", registry=registry
        )

    def unconnected(self) -> list[str]:
        """Return the sources whose system is not connected."""
        [family] = self.system_connected.collect()
        return [sample.labels["source"] for sample in family.samples if not sample.value]

    def serve(self, port: int, problems: health.Problems) -> None:
        """Serve `/metrics` and `/healthz` on 127.0.0.1.

        Raises
        ------
        CounterflowError : the port is taken.
        """
        try:
            health.serve(port, self.registry, problems)
        except OSError as error:
            raise CounterflowError(
                f"127.0.0.1:{port} cannot be listened on: {error.strerror}",
                hint="set another metrics_port",
                exit_code=2,
            ) from None

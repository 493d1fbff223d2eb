"""The lander's own metrics (Prometheus naming conventions)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

REGISTRY = CollectorRegistry()


def _counter(name: str, text: str, *labels: str) -> Counter:
    return Counter(f"counterflow_lander_{name}", text, labels, registry=REGISTRY)


def _gauge(name: str, text: str, *labels: str) -> Gauge:
    return Gauge(f"counterflow_lander_{name}", text, labels, registry=REGISTRY)


ROWS = _counter("rows", "Rows inserted.", "dataset")
BYTES = _counter("bytes", "Bytes of the rows inserted, as JSON.", "dataset")
BATCHES = _counter("batches", "Batches inserted and committed.", "dataset")
RETRIES = _counter("retries", "Batches to retry, by exception code, or `transport`.", "dataset", "code")
DEADLETTERS = _counter("deadletters", "Messages rejected and kept in the table deadletter.", "dataset", "reason")
EXPIRED = _counter("expired_offsets", "Offsets that Kafka deleted before they were landed.", "dataset")
LAG = _gauge("lag", "Offsets between the landed one and the end of the partition.", "topic", "partition")
LAST_SUCCESS = _gauge("last_success_timestamp_seconds", "When a batch was last committed.", "dataset")

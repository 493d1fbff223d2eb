"""Exposes what alerts need as Prometheus metrics: newest verdicts and figures in ClickHouse, jobs of Flink.

The exporter stores nothing. A verdict carries its state, so the newest verdict of each entity suffices.
"""

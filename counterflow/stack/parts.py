"""The list of the stack's parts: a new part is a module that describes it and a line here."""

from __future__ import annotations

from counterflow.stack import clickhouse, exporter, flink, grafana, health, jobs, kafka, lander
from counterflow.stack.part import Part
from counterflow.stack.settings import StackSettings


def all_parts(settings: StackSettings) -> list[Part]:
    """Describe every part, each after those it depends on; they are stopped in reverse order."""
    return [
        kafka.broker(settings),
        clickhouse.engine(settings),
        flink.jobmanager(settings),
        flink.taskmanager(settings),
        lander.lander(settings),
        exporter.exporter(settings),
        jobs.watcher(settings),
        health.server(settings),
        *([grafana.server(settings, settings.grafana)] if settings.grafana else []),
    ]

"""Overhead of Q Replication for a Db2 OLTP workload on AIX: with and without, source and target.

docs/studies/q-replication.md has what is from the document and what is assumed.
"""

from __future__ import annotations

from counterflow.simulate.monitor_tables import Applied, Component, Node, QrepRun
from counterflow.simulate.published import Row, table
from counterflow.simulate.qrep import QrepCase

SYSTEMS = {"source": "QSRC", "target": "QTGT"}
PROCESSES = {"db2sysc": 1, "db2fmp": 4, "asnqcap": 1, "asnqapp": 1, "amqzlaa": 1}
CHANNEL_MB = 10
"""Memory of amqzlaa."""


def _node(row: Row) -> Node:
    components = tuple(
        Component(
            command,
            count,
            float(row[f"{command}_pct"]),
            float(row.get(f"{command}_mb", CHANNEL_MB)),
        )
        for command, count in PROCESSES.items()
        if f"{command}_pct" in row
    )
    return Node(
        SYSTEMS[row["node"]],
        float(row["cpu_avg_pct"]),
        float(row["cpu_max_pct"]),
        components,
        int(row["read_mb"]),
        int(row["written_mb"]),
    )


def _applied(row: Row) -> Applied:
    capture_ms, queue_ms, apply_ms = (round(1000 * float(row[f"{part}_s"])) for part in ("capture", "queue", "apply"))
    return Applied(int(row["rows"]), int(row["trans"]), capture_ms, queue_ms, apply_ms)


def _run(name: str, source: Row, target: Row | None = None) -> QrepRun:
    return QrepRun(
        name=name,
        intervals=61,
        nodes=tuple(_node(row) for row in (source, target) if row),
        tps_min=int(source["tps_min"]),
        tps_avg=int(source["tps_avg"]),
        tps_max=int(source["tps_max"]),
        applied=_applied(target) if target else None,
        published={
            f"{row['node']} {figure}": printed
            for row in (source, target)
            if row
            for figure, printed in row.items()
            if figure not in ("run", "node")
        },
    )


WITHOUT, SOURCE, TARGET = table("q_replication")

CASE = QrepCase(
    title="Q Replication of a Db2 OLTP workload on AIX, with and without (Q Replication overhead page)",
    interval_s=60,
    runs=(_run("without", WITHOUT), _run("with", SOURCE, TARGET)),
    pause=5,
)

"""Overhead of Q Replication for a Db2 OLTP workload on AIX: with and without, source and target.

The files are nmon of both systems, monitor tables, and the driver's output. docs/studies/q-replication.md has what is
from the document and what is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from counterflow.simulate import monitor_tables, nmon_aix, site, workload
from counterflow.simulate.case import Case, Placed, SimulatedFile
from counterflow.simulate.monitor_tables import Applied, QrepRun
from counterflow.simulate.nmon import Disk, Host, Process, Snapshot
from counterflow.simulate.published import Row, table
from counterflow.simulate.spread import apportion, between, profile

SYSTEMS = {"source": "QSRC", "target": "QTGT"}
DRIVER = SYSTEMS["source"]
PROCESSES = {"db2sysc": 1, "db2fmp": 4, "asnqcap": 1, "asnqapp": 1, "amqzlaa": 1}
"""Processes of each command, whose printed % are of all cores, and MB of all its processes together."""
CHANNEL_MB = 10
"""Memory of amqzlaa."""
WORKLOAD, UNITS, USERS = "order_entry", "transactions", 64
CORES, THREADS, MEMORY_MB = 4, 8, 65_536
DISKS = tuple(f"hdisk{n}" for n in range(8))
READ_KB, WRITE_KB, SERVICE_MS = 16, 64, 3.0
TEXT_KB = 96
"""Program text of a command."""


class QrepCase(Case[QrepRun]):
    """Runs with and without replication; the files are a folder per system, and `SITE`."""

    document = "docs/studies/q-replication.md"

    def files(self, placed: Sequence[Placed[QrepRun]], seed: str) -> Iterator[SimulatedFile]:
        executions = []
        for one in placed:
            run = one.run
            random = Random(f"{seed}/{run.name}")  # noqa: S311 - noise
            busy = profile(run.intervals, random)
            for system, printed in run.nodes.items():
                host = Host(system, CORES, MEMORY_MB, DISKS, THREADS)
                recording = _recording(host, self.interval_s, one, printed, busy)
                yield SimulatedFile(system, f"{system}_{run.name}.nmon", recording)
            driver = run.nodes[DRIVER]
            low, mean, high = (int(driver[f"tps_{of}"]) * self.interval_s for of in ("min", "avg", "max"))
            executions.append(_execution(one, between(low, mean, high, busy)))
            if run.applied:
                source, target = run.systems
                yield SimulatedFile(source, f"capmon_{run.name}.csv", monitor_tables.capture(one, run.applied, busy))
                yield SimulatedFile(
                    source, f"capqmon_{run.name}.csv", monitor_tables.send_queue(one, run.applied, busy)
                )
                applied = monitor_tables.receive_queue(one, run.applied, busy, random)
                yield SimulatedFile(target, f"applymon_{run.name}.csv", applied)
        yield SimulatedFile(DRIVER, "workload.csv", workload.lines(executions))
        runs = (site.run(one, WORKLOAD, UNITS, {"core": CORES}) for one in placed)
        yield SimulatedFile(None, "site.yaml", site.lines(runs))


def _execution(one: Placed[QrepRun], done: Sequence[int]) -> workload.Execution:
    ends = [interval.end for interval in one.intervals]
    return workload.Execution(WORKLOAD, one.run.name, UNITS, USERS, one.begin, ends, done)


def _recording(host: Host, interval_s: int, one: Placed[QrepRun], printed: Row, busy: Sequence[float]) -> Iterator[str]:
    """Yield a system's recording of nmon: an interval before the run, without processes, and the run."""
    mean_pct, most_pct, share = float(printed["cpu_avg_pct"]), float(printed["cpu_max_pct"]), _mean(busy)
    low = max(1.0, mean_pct - (most_pct - mean_pct) * share / (1 - share))
    cpu = between(round(low * 10), mean_pct * 10, round(most_pct * 10), busy)
    processes = _processes(printed, cpu)
    reads, writes = (_spread(int(printed[mb]) * 1024 * 10 / interval_s, cpu) for mb in ("read_mb", "written_mb"))
    idle = Snapshot(one.begin, 1.0, [Disk(0.0, 0.0, READ_KB, WRITE_KB, SERVICE_MS)] * len(DISKS))
    snapshots = [idle]
    for at, interval in enumerate(one.intervals):
        disks = [
            Disk(r / 10, w / 10, READ_KB, WRITE_KB, SERVICE_MS) for r, w in zip(reads[at], writes[at], strict=True)
        ]
        snapshots.append(Snapshot(interval.end, cpu[at] / 10, disks, processes=processes[at]))
    return nmon_aix.recording(host, interval_s, snapshots)


def _spread(tenths: float, weights: Sequence[float]) -> list[list[int]]:
    """Return tenths of a KB/s per disk and interval that add up to `tenths`."""
    parts = apportion(round(tenths), [weight for weight in weights for _ in DISKS])
    return [parts[at : at + len(DISKS)] for at in range(0, len(parts), len(DISKS))]


def _processes(printed: Row, weights: Sequence[float]) -> list[list[Process]]:
    """Return the processes per interval: hundredths of a percent of one core that average to the command's."""
    found: list[list[Process]] = [[] for _ in weights]
    pid = 100_000
    for command, count in PROCESSES.items():
        if f"{command}_pct" not in printed:
            continue
        hundredths = round(float(printed[f"{command}_pct"]) * CORES * 100 * len(weights))
        used = apportion(hundredths, [weight for weight in weights for _ in range(count)])
        memory_mb = float(printed.get(f"{command}_mb", CHANNEL_MB))
        data_kb = apportion(round(memory_mb * 1024) - TEXT_KB, [1.0] * count)
        for at in range(len(weights)):
            for n in range(count):
                pct = used[at * count + n] / 100
                process = Process(pid + n * 4, command, 8, pct, TEXT_KB, data_kb[n])
                found[at].append(process)
        pid += 10_000
    return found


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures)


def _applied(row: Row) -> Applied:
    capture_ms, queue_ms, apply_ms = (round(1000 * float(row[f"{part}_s"])) for part in ("capture", "queue", "apply"))
    return Applied(int(row["rows"]), int(row["trans"]), capture_ms, queue_ms, apply_ms)


def _run(name: str, *rows: Row) -> QrepRun:
    nodes = {SYSTEMS[row["node"]]: row for row in rows}
    return QrepRun(
        name=name,
        intervals=61,
        system=DRIVER,
        nodes=nodes,
        applied=_applied(rows[1]) if len(rows) > 1 else None,
        published={
            f"{row['node']} {figure}": printed
            for row in rows
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

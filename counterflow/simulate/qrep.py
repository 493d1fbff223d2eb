"""Q Replication between two AIX systems: nmon on both, its monitor tables, and the driver's output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from counterflow.simulate import monitor_tables, nmon_aix, site, workload
from counterflow.simulate.case import Case, File, Placed
from counterflow.simulate.monitor_tables import Node, QrepRun
from counterflow.simulate.nmon import Disk, Host, Process, Snapshot
from counterflow.simulate.spread import apportion, between, profile

WORKLOAD, UNITS, USERS = "order_entry", "transactions", 64
CORES, THREADS, MEMORY_MB = 4, 8, 65_536
DISKS = tuple(f"hdisk{n}" for n in range(8))
READ_KB, WRITE_KB, SERVICE_MS = 16, 64, 3.0
TEXT_KB = 96
"""Program text of a command."""


class QrepCase(Case[QrepRun]):
    """Runs with and without replication; the files are a folder per system, and `SITE`."""

    document = "docs/studies/q-replication.md"

    def files(self, placed: Sequence[Placed[QrepRun]], seed: str) -> Iterator[File]:
        executions = []
        for one in placed:
            run = one.run
            random = Random(f"{seed}/{run.name}")  # noqa: S311 - noise
            busy = profile(run.intervals, random)
            for node in run.nodes:
                host = Host(node.system, CORES, MEMORY_MB, DISKS, THREADS)
                recording = _recording(host, self.interval_s, one, node, busy)
                yield File(node.system, f"{node.system}_{run.name}.nmon", recording)
            low, mean, high = (tps * self.interval_s for tps in (run.tps_min, run.tps_avg, run.tps_max))
            executions.append((run.systems[0], _execution(one, between(low, mean, high, busy))))
            if run.applied:
                source, target = run.systems
                yield File(source, f"capmon_{run.name}.csv", monitor_tables.capture(one, run.applied, busy))
                yield File(source, f"capqmon_{run.name}.csv", monitor_tables.send_queue(one, run.applied, busy))
                applied = monitor_tables.receive_queue(one, run.applied, busy, random)
                yield File(target, f"applymon_{run.name}.csv", applied)
        for system in dict.fromkeys(system for system, _ in executions):
            yield File(system, "workload.csv", workload.lines(e for of, e in executions if of == system))
        runs = (site.run(one, WORKLOAD, UNITS, {"core": CORES}) for one in placed)
        yield File(None, "site.yaml", site.lines(runs))


def _execution(one: Placed[QrepRun], done: Sequence[int]) -> workload.Execution:
    ends = [interval.end for interval in one.intervals]
    return workload.Execution(WORKLOAD, one.run.name, UNITS, USERS, one.begin, ends, done)


def _recording(host: Host, interval_s: int, one: Placed[QrepRun], node: Node, busy: Sequence[float]) -> Iterator[str]:
    """Yield a node's recording of nmon: an interval before the run, without processes, and the run."""
    low = max(1.0, node.cpu_avg_pct - (node.cpu_max_pct - node.cpu_avg_pct) * _mean(busy) / (1 - _mean(busy)))
    cpu = between(round(low * 10), node.cpu_avg_pct * 10, round(node.cpu_max_pct * 10), busy)
    processes = _processes(node, cpu)
    reads, writes = (_spread(mb * 1024 * 10 / interval_s, cpu) for mb in (node.read_mb, node.written_mb))
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


def _processes(node: Node, weights: Sequence[float]) -> list[list[Process]]:
    """Return the processes per interval: hundredths of a percent of one core that average to the component's."""
    found: list[list[Process]] = [[] for _ in weights]
    pid = 100_000
    for component in node.components:
        count = component.processes
        hundredths = round(component.cpu_pct * CORES * 100 * len(weights))
        used = apportion(hundredths, [weight for weight in weights for _ in range(count)])
        data_kb = apportion(round(component.memory_mb * 1024) - TEXT_KB, [1.0] * count)
        for at in range(len(weights)):
            for n in range(count):
                pct = used[at * count + n] / 100
                process = Process(pid + n * 4, component.command, 8, pct, TEXT_KB, data_kb[n])
                found[at].append(process)
        pid += 10_000
    return found


def _mean(figures: Sequence[float]) -> float:
    return sum(figures) / len(figures)

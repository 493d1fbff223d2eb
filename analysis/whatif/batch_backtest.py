"""Predicts simulated nights on another machine from the night as it was, and plays them: the error of the model.

On these nights queues arise from what runs at the same time, which the model does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import NamedTuple

from counterflow.analysis.whatif.batch import BatchJob, Levers, nights
from counterflow.simulate import START
from counterflow.simulate import night as simulated
from counterflow.simulate.cases.batch_night import NIGHT
from counterflow.simulate.night import BatchMachine, SimulatedJob, Step, play

STEPS = NIGHT.steps[1:]
"""Without the server."""
SEED = "backtest"
MACHINES = {"one processor, one disk": NIGHT.machine, "room for all": BatchMachine(processors=16, disks=16)}
"""Machines of the night before the change: on the second no queue arises."""

LEVERS = {
    "processors 1.5 times as fast": Levers(cpu_speed=1.5),
    "disks at 0.5 ms": Levers(disk_ms=0.5),
    "POSTING as two": Levers(job_name="POSTING", split=2),
    "all three": Levers(1.5, 0.5, "POSTING", 2),
}


class NightError(NamedTuple):
    """How long a night takes from its first begin to its last end: measured, predicted, and played."""

    machine: str
    levers: str
    measured_s: float
    predicted_s: float
    played_s: float

    @property
    def error_pct(self) -> float:
        return 100 * (self.predicted_s / self.played_s - 1)


@cache
def errors() -> tuple[NightError, ...]:
    """Return the error of each lever on each machine."""
    return tuple(_error(machine, levers) for machine in MACHINES for levers in LEVERS)


def _error(machine_name: str, levers_name: str) -> NightError:
    machine, levers = MACHINES[machine_name], LEVERS[levers_name]
    before = play(STEPS, machine, SEED)
    [night] = nights(measured(before, STEPS), levers)
    steps = [step._replace(jobs=levers.split) if step.name == levers.job_name else step for step in STEPS]
    better = machine._replace(speed=levers.cpu_speed, operation_ms=levers.disk_ms or machine.operation_ms)
    begin_s = min(job.begin_s for job in before)
    predicted_s = ((night.end_after_ts or START) - START).total_seconds()
    ends_s = [max(job.end_s for job in jobs) for jobs in (before, play(steps, better, SEED))]
    return NightError(machine_name, levers_name, ends_s[0] - begin_s, predicted_s - begin_s, ends_s[1] - begin_s)


def measured(jobs: Sequence[SimulatedJob], steps: Sequence[Step]) -> list[BatchJob]:
    """Return the jobs of a simulated night with their exact parts, as `batch_job_within` would have them."""
    number = {step.name: at for at, step in enumerate(steps)}
    after = {step.name: step.after for step in steps}
    return [_measured(job, str(number.get(after[job.name] or "", ""))) for job in jobs]


def _measured(job: SimulatedJob, follows: str) -> BatchJob:
    queued_s = sum(spell.queued_s for spell in job.spells if spell.bucket == simulated.READS)
    return BatchJob(
        system=NIGHT.system,
        job=str(job.number),
        job_name=job.name,
        begin_ts=START + timedelta(seconds=job.begin_s),
        end_ts=START + timedelta(seconds=job.end_s),
        elapsed_s=job.end_s - job.begin_s,
        explained_s=job.end_s - job.begin_s,
        cpu_s=job.spent_s(simulated.DISPATCHED),
        cpu_queueing_s=job.spent_s(simulated.QUEUEING),
        disk_s=job.spent_s(simulated.READS) - queued_s,
        disk_queueing_s=queued_s,
        faults_s=job.spent_s(simulated.FAULTS),
        locks_s=job.spent_s(simulated.RECORD_LOCKS),
        journal_s=job.spent_s(simulated.JOURNAL),
        other_s=job.spent_s(simulated.IDLE),
        disk_waits=sum(spell.waits for spell in job.spells if spell.bucket in (simulated.READS, simulated.FAULTS)),
        follows=follows or None,
    )

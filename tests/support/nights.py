"""Simulated nights of batch jobs with their exact parts, which no view has to find."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from counterflow.analysis.whatif.batch import BatchJob
from counterflow.simulate import START
from counterflow.simulate import night as simulated
from counterflow.simulate.cases.batch_night import SYSTEM
from counterflow.simulate.night import SimulatedJob, Step


def measured(jobs: Sequence[SimulatedJob], steps: Sequence[Step]) -> list[BatchJob]:
    """Return the jobs of a simulated night with their exact parts, as `batch_job_within` would have them."""
    number = {step.name: at for at, step in enumerate(steps)}
    after = {step.name: step.after for step in steps}
    return [_measured(job, str(number.get(after[job.name] or "", ""))) for job in jobs]


def _measured(job: SimulatedJob, follows: str) -> BatchJob:
    queued_s = sum(spell.queued_s for spell in job.spells if spell.bucket == simulated.READS)
    return BatchJob(
        system=SYSTEM,
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

"""A night of batch jobs that share processors and disks: queues arise by themselves, and the end of the night is known.

A queue is first come, first served. Each job draws its work from a seed of its own, so the same night on another
machine does the same work.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

DISPATCHED, QUEUEING, FAULTS, READS, JOURNAL, RECORD_LOCKS, IDLE = 1, 2, 5, 6, 11, 16, 31
"""Wait buckets of the default set."""

ROUND_NOISE = 0.5
"""Greatest deviation of a round's processor time from the mean, as a ratio."""


class Step(NamedTuple):
    """A job of the night, which repeats one round of work.

    Parameters
    ----------
    cpu_s, operations, faults : of a round: time on a processor, disk operations, and page faults, which are as many
        operations more. The operations of a round follow each other on one disk.
    journal_s, lock_s, idle_s : of a round: waits that neither processors nor disks shorten.
    after, at_s : begins `at_s` after the end of this step, or of the night's begin.
    jobs : jobs that share the rounds, no more of them than rounds; the step ends with the last.
    """

    name: str
    rounds: int
    cpu_s: float
    operations: int
    faults: int = 0
    journal_s: float = 0.0
    lock_s: float = 0.0
    idle_s: float = 0.0
    after: str | None = None
    at_s: float = 0.0
    jobs: int = 1


class BatchMachine(NamedTuple):
    """What the jobs share: processors of a relative speed, and disks with the time of an operation."""

    processors: int = 1
    speed: float = 1.0
    disks: int = 1
    operation_ms: float = 2.0


class Spell(NamedTuple):
    """Time of a job in one wait bucket, seconds since the night's begin; `queued_s` of it before a disk served it."""

    bucket: int
    begin_s: float
    end_s: float
    waits: int = 1
    queued_s: float = 0.0


@dataclass
class SimulatedJob:
    """One job: what it did from its begin to its end, without a gap."""

    name: str
    number: int
    rounds: int
    begin_s: float = 0.0
    spells: list[Spell] = field(default_factory=list)

    @property
    def end_s(self) -> float:
        return self.spells[-1].end_s

    def spent_s(self, *buckets: int) -> float:
        return sum(spell.end_s - spell.begin_s for spell in self.spells if spell.bucket in buckets)


def play(steps: Sequence[Step], machine: BatchMachine, seed: str) -> list[SimulatedJob]:
    """Return the jobs of the night, in order of their numbers."""
    processors, disks = [0.0] * machine.processors, [0.0] * machine.disks
    of_step = {step.name: _jobs(step) for step in steps}
    numbered = [(step, job) for step in steps for job in of_step[step.name]]
    noise = [
        Random(f"{seed}/{step.name}/{at}")  # noqa: S311 - noise
        for step in steps
        for at in range(step.jobs)
    ]
    running = {step.name: step.jobs for step in steps}
    # an event: when, which job, and whether it begins a round or comes to the disks within it
    events = []
    for at, (step, job) in enumerate(numbered):
        job.number = at
        if step.after is None:
            events.append((step.at_s, at, True))
    heapq.heapify(events)
    while events:
        now, at, begins = heapq.heappop(events)
        step, job = numbered[at]
        if not job.spells:
            job.begin_s = now
        if begins:
            length = step.cpu_s / machine.speed * noise[at].uniform(1 - ROUND_NOISE, 1 + ROUND_NOISE)
            begin, end = _served(processors, now, length)
            if begin > now:
                job.spells.append(Spell(QUEUEING, now, begin))
            job.spells.append(Spell(DISPATCHED, begin, end))
            heapq.heappush(events, (end, at, False))
            continue
        end = _rest_of_round(step, job, now, disks, machine.operation_ms)
        job.rounds -= 1
        if job.rounds:
            heapq.heappush(events, (end, at, True))
            continue
        running[step.name] -= 1
        if not running[step.name]:
            for then, (other, _) in enumerate(numbered):
                if other.after == step.name:
                    heapq.heappush(events, (end + other.at_s, then, True))
    return [job for _, job in numbered]


def _jobs(step: Step) -> list[SimulatedJob]:
    shares = [step.rounds // step.jobs + (at < step.rounds % step.jobs) for at in range(step.jobs)]
    return [SimulatedJob(step.name, 0, share) for share in shares]


def _served(servers: list[float], now: float, length: float) -> tuple[float, float]:
    """Return begin and end of service by the server that is free first."""
    begin = max(now, servers[0])
    heapq.heapreplace(servers, begin + length)
    return begin, begin + length


def _rest_of_round(step: Step, job: SimulatedJob, now: float, disks: list[float], operation_ms: float) -> float:
    """Add what follows the processor in a round; return when it ends."""
    for bucket, operations in ((READS, step.operations), (FAULTS, step.faults)):
        if operations:
            begin, end = _served(disks, now, operations * operation_ms / 1000)
            job.spells.append(Spell(bucket, now, end, operations, begin - now))
            now = end
    for bucket, length in ((JOURNAL, step.journal_s), (RECORD_LOCKS, step.lock_s), (IDLE, step.idle_s)):
        if length:
            job.spells.append(Spell(bucket, now, now + length))
            now += length
    return now

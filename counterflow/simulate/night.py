"""A night of batch jobs that share processors and disks: queues arise by themselves, and the end of the night is known.

A queue is first come, first served. Each job draws its work from a seed of its own, so the same night on another
machine does the same work.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
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
    jobs: list[SimulatedJob] = []
    work: list[Iterator[float]] = []
    step_of: list[Step] = []
    for step in steps:
        for at in range(step.jobs):
            rounds = step.rounds // step.jobs + (at < step.rounds % step.jobs)
            random = Random(f"{seed}/{step.name}/{at}")  # noqa: S311 - noise
            jobs.append(SimulatedJob(step.name, len(jobs)))
            work.append(_work(jobs[-1], step, rounds, machine, processors, disks, random))
            step_of.append(step)
    # when each job goes on, and its number: in this order they come to processors and disks
    events = [(step.at_s, number) for number, step in enumerate(step_of) if step.after is None]
    heapq.heapify(events)
    running = {step.name: step.jobs for step in steps}
    while events:
        now, number = heapq.heappop(events)
        if not jobs[number].spells:
            jobs[number].begin_s = now
        until = next(work[number], None)
        if until is not None:
            heapq.heappush(events, (until, number))
            continue
        ended = step_of[number].name
        running[ended] -= 1
        for then, step in enumerate(step_of):
            if step.after == ended and not running[ended]:
                heapq.heappush(events, (now + step.at_s, then))
    return jobs


def _work(
    job: SimulatedJob,
    step: Step,
    rounds: int,
    machine: BatchMachine,
    processors: list[float],
    disks: list[float],
    random: Random,
) -> Iterator[float]:
    """Do the rounds of a job; yield the time before it comes to the disks, and before its next round."""
    now = job.begin_s
    for _ in range(rounds):
        length = step.cpu_s / machine.speed * random.uniform(1 - ROUND_NOISE, 1 + ROUND_NOISE)
        begin, end = _served(processors, now, length)
        if begin > now:
            job.spells.append(Spell(QUEUEING, now, begin))
        job.spells.append(Spell(DISPATCHED, begin, end))
        yield end
        now = end
        for bucket, operations in ((READS, step.operations), (FAULTS, step.faults)):
            if operations:
                begin, end = _served(disks, now, operations * machine.operation_ms / 1000)
                job.spells.append(Spell(bucket, now, end, operations, begin - now))
                now = end
        for bucket, length in ((JOURNAL, step.journal_s), (RECORD_LOCKS, step.lock_s), (IDLE, step.idle_s)):
            if length:
                job.spells.append(Spell(bucket, now, now + length))
                now += length
        yield now


def _served(servers: list[float], now: float, length: float) -> tuple[float, float]:
    """Return begin and end of service by the server that is free first."""
    begin = max(now, servers[0])
    heapq.heapreplace(servers, begin + length)
    return begin, begin + length

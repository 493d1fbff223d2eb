"""A night of seven batch jobs, in which two chains run beside each other, and a server that does not belong to it.

The document prints no run of a night: everything is assumed. Day-end close, then posting and interest, then statements,
are the chain that decides; extract, load and archive run beside it. The files are tables of Collection Services:
QAPMJOBMI, QAPMJOBWT and QAPMDISK. The row of a job that ended has the time of its end in whole seconds, and so much of
the interval as it lasted. A job that runs from its first second on is taken to have run before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import timedelta
from decimal import Decimal

from counterflow.simulate import layout
from counterflow.simulate.case import Case, Placed, SimulatedFile, SimulatedInterval, SimulatedRun
from counterflow.simulate.layout import Row, interval_fields
from counterflow.simulate.machine import BUCKETS
from counterflow.simulate.night import DISPATCHED, FAULTS, READS, BatchMachine, SimulatedJob, Spell, Step, play

SYSTEM, MACHINE = "NIGHTA", BatchMachine()
STEPS = (
    Step("SERVER", 20_000, 0.004, 1, idle_s=1.0),
    Step("DAYCLOSE", 900, 0.3, 100, 20, journal_s=0.1, at_s=605),
    Step("POSTING", 2400, 0.6, 150, 40, journal_s=0.2, lock_s=0.1, after="DAYCLOSE", at_s=8),
    Step("INTEREST", 1600, 0.9, 40, journal_s=0.1, after="POSTING", at_s=5),
    Step("STATEMNT", 1000, 0.5, 200, idle_s=0.2, after="INTEREST", at_s=12),
    Step("EXTRACT", 1500, 0.7, 100, at_s=900),
    Step("LOADDWH", 1800, 0.5, 250, 30, lock_s=0.1, after="EXTRACT", at_s=20),
    Step("ARCHIVE", 1200, 0.2, 300, at_s=4000),
)
STARTED, ENDED = 1, 2
"""Values of JBSTSF, which are added where a job did both in an interval; 0 is a job that only ran."""


class NightCase(Case[SimulatedRun]):
    """The night."""

    document = "docs/studies/batch.md"

    def files(self, placed: Sequence[Placed[SimulatedRun]], seed: str) -> Iterator[SimulatedFile]:
        tables: dict[str, list[Row]] = defaultdict(list)
        for table, row in _rows(placed[0].intervals, play(STEPS, MACHINE, seed)):
            tables[table].append(row)
        for table, rows in tables.items():
            yield SimulatedFile(SYSTEM, f"{table}.csv", layout.lines(table, rows))


def _rows(intervals: Sequence[SimulatedInterval], jobs: Sequence[SimulatedJob]) -> Iterator[tuple[str, Row]]:
    begin_s = 0.0
    for interval in intervals:
        end_s = begin_s + interval.seconds
        in_interval = []
        for job in jobs:
            if spells := _within(job.spells, begin_s, end_s):
                in_interval += spells
                starts, ends = 0 < job.begin_s >= begin_s, job.end_s <= end_s
                at = _until(interval, job.end_s - begin_s) if ends else interval_fields(interval)
                yield "QAPMJOBMI", at | _identity(job) | _work(spells, ENDED * ends + STARTED * starts)
                yield "QAPMJOBWT", interval_fields(interval) | {"JWTDE": _task(job), "JWDSEQ": 1} | _waits(spells)
        yield "QAPMDISK", interval_fields(interval) | _disk(in_interval)
        begin_s = end_s


def _within(spells: Sequence[Spell], begin_s: float, end_s: float) -> list[Spell]:
    """Return the parts of the spells that lie between two times; waits count where they end."""
    return [
        spell._replace(
            begin_s=max(begin_s, spell.begin_s),
            end_s=min(end_s, spell.end_s),
            waits=spell.waits if spell.end_s <= end_s else 0,
            queued_s=spell.queued_s if spell.end_s <= end_s else 0.0,
        )
        for spell in spells
        if spell.begin_s < end_s and spell.end_s > begin_s
    ]


def _until(interval: SimulatedInterval, seconds: float) -> Row:
    """Return the time fields of a job that ended `seconds` after the begin of the interval."""
    lasted = int(seconds)
    ended = interval.end - timedelta(seconds=interval.seconds - lasted)
    return interval_fields(SimulatedInterval(interval.number, ended, lasted))


def _identity(job: SimulatedJob) -> Row:
    return {
        "JBNAME": job.name,
        "JBUSER": "NIGHT",
        "JBNBR": f"{200_000 + job.number:06d}",
        "JBTYPE": "B",
        "JBSTYP": " ",
        "JBTDE": _task(job),
    }


def _task(job: SimulatedJob) -> str:
    return f"{0x2000 + job.number:016X}"


def _work(spells: Sequence[Spell], event: int) -> Row:
    cpu_ms = round(Decimal(1000 * sum(s.end_s - s.begin_s for s in spells if s.bucket == DISPATCHED)), 3)
    faults = sum(spell.waits for spell in spells if spell.bucket == FAULTS)
    reads = sum(spell.waits for spell in spells if spell.bucket in (READS, FAULTS))
    return {"JBSTSF": event, "JBTHDF": 0, "JBSLTCNT": 0, "JBCPU": cpu_ms, "JBTFLT": faults, "JBDBR": reads}


def _waits(spells: Sequence[Spell]) -> Row:
    row: Row = {}
    for n in BUCKETS:
        of = [spell for spell in spells if spell.bucket == n]
        row[f"JWCT{n:02d}"] = sum(spell.waits for spell in of)
        row[f"JWTM{n:02d}"] = round(1e6 * sum(spell.end_s - spell.begin_s for spell in of))
    return row


def _disk(spells: Sequence[Spell]) -> Row:
    """Return all disks as one unit; the service of a batch of operations follows its time in the queue."""
    of = [spell for spell in spells if spell.bucket in (READS, FAULTS)]
    spent_s, queued_s = sum(s.end_s - s.begin_s for s in of), sum(s.queued_s for s in of)
    return {
        "DSDRN": "DMP001",
        "DSRDS": sum(spell.waits for spell in of),
        "DSWRTS": 0,
        "DSSRVT": round(1000 * (spent_s - queued_s)),
        "DSWT": round(1000 * queued_s),
    }


CASE = NightCase(
    title="A night of batch jobs with a chain that decides its end (Appendix B; all figures assumed)",
    interval_s=300,
    runs=(SimulatedRun(name="night", intervals=30, system=SYSTEM),),
    noise=0.0,
)

"""A night of seven batch jobs, in which two chains run beside each other, and a server that does not belong to it.

The document prints no run of a night: everything is assumed. Day-end close, then posting and interest, then statements,
are the chain that decides; extract, load and archive run beside it.
"""

from __future__ import annotations

from counterflow.simulate.night import BatchMachine, Step
from counterflow.simulate.night_run import NightCase, NightRun

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

NIGHT = NightRun(name="night", intervals=30, system="NIGHTA", steps=STEPS, machine=BatchMachine())

CASE = NightCase(
    title="A night of batch jobs with a chain that decides its end (Appendix B; all figures assumed)",
    interval_s=300,
    runs=(NIGHT,),
    noise=0.0,
)

"""A log-bound Db2 subsystem on z/OS, as RMF, Db2, a batch and the site's file would show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random

from counterflow.simulate import db2_log, rmf, site, workload
from counterflow.simulate.case import Case, Placed, SimulatedFile
from counterflow.simulate.db2_log import LogRun
from counterflow.simulate.spread import apportion

BATCH_ACCOUNTS = 100_000_000
WORKLOAD, UNITS = "account_settlement", "accounts"


class LogCase(Case[LogRun]):
    """Runs of a batch; the files are a folder per LPAR, and `SITE`."""

    document = "docs/studies/zhyperlink.md"

    def files(self, placed: Sequence[Placed[LogRun]], seed: str) -> Iterator[SimulatedFile]:
        for system in dict.fromkeys(one.run.system for one in placed):
            own = [one for one in placed if one.run.system == system]
            yield SimulatedFile(system, "rmf_sysinfo.json", rmf.sysinfo(own))
            yield SimulatedFile(system, "rmf_procu.json", rmf.procu(own))
            yield SimulatedFile(system, "db2_log.csv", db2_log.lines(own, Random(f"{seed}/{system}")))  # noqa: S311 - noise
            yield SimulatedFile(system, "accounts.csv", workload.lines(_batches(own)))
        yield SimulatedFile(None, "site.yaml", site.lines(_site(placed)))


def _batches(placed: Sequence[Placed[LogRun]]) -> Iterator[workload.Execution]:
    """Yield each execution of the batch, which may span several runs."""
    for run_id, runs in groupby(placed, key=lambda one: one.run.run_id):
        found = list(runs)
        ends = [interval.end for one in found for interval in one.intervals]
        counts = [n for one in found for n in apportion(round(one.run.accounts_h / 3600 * one.seconds), one.weights)]
        yield workload.Execution(WORKLOAD, run_id, UNITS, db2_log.JOBS, found[0].begin, ends, counts)


def _site(placed: Sequence[Placed[LogRun]]) -> Iterator[site.Entry]:
    """Yield the site's entries: machine and storage with their start, ceilings, runs, the batch."""
    begin = placed[0].begin
    used: dict[str, tuple[str, str]] = {}
    known: set[tuple[str, ...]] = set()
    for one in placed:
        run, of = one.run, (one.run.cec, one.run.storage)
        place: site.Fields = {"cec": run.cec, "storage": run.storage}
        if used.get(run.system) != of:
            yield "systems", {"from": one.begin, "system": run.system, "subsystems": [db2_log.SUBSYSTEM], **place}
            used[run.system] = of
        if (run.path, *of) not in known:
            log: site.Fields = {"subsystem": db2_log.SUBSYSTEM, "path": run.path, **place}
            yield "log_ceilings", {"from": begin, **log, "ceiling_mb_s": run.ceiling_mb_s}
            known.add((run.path, *of))
        yield site.run(one, WORKLOAD, UNITS, {"gcp": db2_log.GCPS, "ziip": db2_log.ZIIPS})
    yield "batches", {"from": begin, "workload": WORKLOAD, "systems": list(used), "units_total": BATCH_ACCOUNTS}

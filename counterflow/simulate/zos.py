"""A Db2 subsystem on z/OS that is bound by its log: what RMF, Db2, a batch and the site's file would say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from random import Random

from counterflow.simulate import db2_log, rmf, site, workload
from counterflow.simulate.case import Case
from counterflow.simulate.files import Output, Written
from counterflow.simulate.spread import apportion
from counterflow.simulate.timeline import Placed

DOCUMENT = "docs/studies/zhyperlink.md"
BATCH_ACCOUNTS = 100_000_000
WORKLOAD, UNITS = "account_settlement", "accounts"


@dataclass(frozen=True)
class LogRun:
    """One measurement of the batch; rates are means of the run.

    Parameters
    ----------
    name : how it is told from the others of the case.
    system, subsystem : LPAR and Db2.
    cec, storage : machine, and where the log is.
    path : zhpf or zhl.
    log_mb_s : written to one log copy, 10^6 bytes a second.
    ceiling_mb_s : what the site's file says of this path, machine and storage.
    accounts_h : accounts settled an hour.
    gcp_pct, ziip_pct : utilisation of the LPAR's engines.
    waiting_share : part of the jobs that wait for the log.
    sync_pct : zHyperLink writes done synchronously.
    buffer_waits : waits for a log output buffer in an interval.
    intervals : its length.
    run_id : execution of the batch; runs of one follow each other without a pause.
    gcps, ziips, jobs : engines of the LPAR; batch jobs.
    published : what the document prints of it.
    implied : figures that it does not print, computed from those it does.
    """

    name: str
    system: str
    subsystem: str
    cec: str
    storage: str
    path: str
    log_mb_s: float
    ceiling_mb_s: float
    accounts_h: float
    gcp_pct: float
    ziip_pct: float
    waiting_share: float
    sync_pct: float
    buffer_waits: int
    intervals: int
    run_id: str
    gcps: int = 6
    ziips: int = 10
    jobs: int = 256
    published: Mapping[str, str] = field(default_factory=dict)
    implied: Mapping[str, str] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the LPAR."""
        return (self.system,)


class LogCase(Case[LogRun]):
    """Runs of a batch; the files are a folder an LPAR, and `SITE`."""

    def write(self, out: Path, placed: Sequence[Placed[LogRun]], seed: str) -> list[Written]:  # noqa: D102
        to = Output(out)
        for system in dict.fromkeys(one.run.system for one in placed):
            own = [one for one in placed if one.run.system == system]
            random = Random(f"{seed}/{system}")  # noqa: S311 - noise
            for name, lines in (
                ("rmf_sysinfo.json", rmf.sysinfo(own)),
                ("rmf_procu.json", rmf.procu(own)),
                ("db2_log.csv", db2_log.lines(own, random)),
                ("accounts.csv", workload.lines(_batches(own))),
            ):
                to.add(system, name, lines)
        to.add(None, "site.yaml", site.lines(_site(placed)))
        return to.files


def _batches(placed: Sequence[Placed[LogRun]]) -> Iterator[workload.Execution]:
    """Yield each execution of the batch, which may go on through several runs."""
    for run_id, runs in groupby(placed, key=lambda one: one.run.run_id):
        found = list(runs)
        ends = [interval.end for one in found for interval in one.intervals]
        counts = [n for one in found for n in apportion(round(one.run.accounts_h / 3600 * one.seconds), one.weights)]
        yield workload.Execution(WORKLOAD, run_id, UNITS, found[0].run.jobs, found[0].begin, ends, counts)


def _site(placed: Sequence[Placed[LogRun]]) -> Iterator[site.Entry]:
    """Yield what the site writes down: which machine and storage is used from when on, ceilings, runs, the batch."""
    begin = placed[0].begin
    used: dict[str, tuple[str, str]] = {}
    known: set[tuple[str, ...]] = set()
    for one in placed:
        run, of = one.run, (one.run.cec, one.run.storage)
        if used.get(run.system) != of:
            place: site.Fields = {
                "system": run.system,
                "subsystems": [run.subsystem],
                "cec": run.cec,
                "storage": run.storage,
            }
            yield "systems", {"from": one.begin, **place}
            used[run.system] = of
        if (run.subsystem, run.path, *of) not in known:
            log: site.Fields = {"subsystem": run.subsystem, "path": run.path, "cec": run.cec, "storage": run.storage}
            yield "log_ceilings", {"from": begin, **log, "ceiling_mb_s": run.ceiling_mb_s}
            known.add((run.subsystem, run.path, *of))
        engines = {"gcp": run.gcps, "ziip": run.ziips}
        what: site.Fields = {"workload": WORKLOAD, "units": UNITS, "engines": engines}
        yield "runs", {"name": run.name, "systems": [run.system], "begin": one.begin, "end": one.end, **what}
    yield "batches", {"from": begin, "workload": WORKLOAD, "systems": list(used), "units_total": BATCH_ACCOUNTS}

"""One measured run of a batch that is bound by the log of Db2 on z/OS."""

from __future__ import annotations

from dataclasses import dataclass

from counterflow.simulate.timeline import Run


@dataclass(frozen=True, kw_only=True)
class LogRun(Run):
    """One measurement of the batch; rates are means of the run.

    Parameters
    ----------
    system, subsystem : LPAR and Db2.
    cec, storage : machine, and storage of the log.
    path : zhpf or zhl.
    log_mb_s : written to one log copy, 10^6 bytes a second.
    ceiling_mb_s : of this path, machine and storage, in the site's file.
    accounts_h : accounts settled an hour.
    gcp_pct, ziip_pct : utilisation of the LPAR's engines.
    waiting_share : part of the jobs that wait for the log.
    sync_pct : zHyperLink writes done synchronously.
    buffer_waits : waits for a log output buffer in an interval.
    run_id : execution of the batch; runs of one follow each other without a pause.
    gcps, ziips, jobs : engines of the LPAR; batch jobs.
    """

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
    run_id: str
    gcps: int = 6
    ziips: int = 10
    jobs: int = 256

    @property
    def systems(self) -> tuple[str, ...]:
        return (self.system,)

"""One measured run of a batch that is bound by the log of Db2 on z/OS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class LogRun:
    """One measurement of the batch; rates are means of the run.

    Parameters
    ----------
    name : unique within the case.
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
    intervals : its length.
    run_id : execution of the batch; runs of one follow each other without a pause.
    gcps, ziips, jobs : engines of the LPAR; batch jobs.
    published : figures that the document prints.
    implied : figures that it does not print, computed from those it prints.
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
        return (self.system,)

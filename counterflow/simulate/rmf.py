"""RMF Monitor III reports as the Distributed Data Server returns them in JSON (format `rmf_dds`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from counterflow.simulate.case import Placed, SimulatedInterval
from counterflow.simulate.db2_log import GCPS, SUBSYSTEM, ZIIPS, LogRun
from counterflow.simulate.spread import apportion


class AddressSpace(NamedTuple):
    """An address space of Db2; shares are of the captured time of all address spaces."""

    suffix: str
    asid: int
    service_class: str
    gcp_share: float
    ziip_share: float


CAPTURED = 0.92
"""Part of the LPAR's processor time that RMF attributes to address spaces."""
ADDRESS_SPACES = (
    AddressSpace("DIST", 71, "DDFHI", 0.82, 0.88),
    AddressSpace("DBM1", 69, "STCHI", 0.10, 0.08),
    AddressSpace("MSTR", 68, "STCHI", 0.08, 0.04),
)
PROCU = (("PRUPJOB", "T"), ("PRUPASI", "N"), ("PRUPSVCL", "T"), ("PRUTCPE", "N"), ("PRUTIIPE", "N"), ("PRUTIICT", "N"))


def sysinfo(placed: Sequence[Placed[LogRun]]) -> Iterator[str]:
    """Yield a SYSINFO report per interval: utilisation of the LPAR, tenths of a percent that average to the run's."""
    for one in placed:
        gcp, ziip = (_tenths(one, pct) for pct in (one.run.gcp_pct, one.run.ziip_pct))
        for interval, gcp_pct, ziip_pct in zip(one.intervals, gcp, ziip, strict=True):
            variables = {
                "SYSCUVVC": gcp_pct,
                "SYSPRVVC": f"{GCPS}.0",
                "SYSCUIVC": ziip_pct,
                "SYSPRTVC": f"{ZIIPS}.0",
            }
            caption = {"var": [{"name": name, "value": value} for name, value in variables.items()]}
            report = {"caption": caption, "columnHeaders": {"col": []}, "row": []}
            yield _response("SYSINFO", "System Information", one.run.system, interval, report)


def procu(placed: Sequence[Placed[LogRun]]) -> Iterator[str]:
    """Yield a PROCU report per interval: ms of each address space of Db2; no zIIP work is on general processors."""
    columns = {"col": [{"value": name, "type": kind} for name, kind in PROCU]}
    for one in placed:
        run = one.run
        gcp, ziip = (
            apportion(round(CAPTURED * pct / 100 * engines * 1000 * one.seconds), one.weights)
            for pct, engines in ((run.gcp_pct, GCPS), (run.ziip_pct, ZIIPS))
        )
        for interval, gcp_ms, ziip_ms in zip(one.intervals, gcp, ziip, strict=True):
            on_gcp = apportion(gcp_ms, [space.gcp_share for space in ADDRESS_SPACES])
            on_ziip = apportion(ziip_ms, [space.ziip_share for space in ADDRESS_SPACES])
            rows = []
            for number, space in enumerate(ADDRESS_SPACES):
                name = f"{SUBSYSTEM}{space.suffix}"
                values = (name, space.asid, space.service_class, on_gcp[number], on_ziip[number], 0)
                rows.append({"refno": str(number + 1), "col": [str(value) for value in values]})
            report = {"columnHeaders": columns, "row": rows}
            yield _response("PROCU", "Processor Usage", run.system, interval, report)


def _response(report: str, title: str, system: str, interval: SimulatedInterval, content: dict[str, Any]) -> str:
    """Return the server's response for one interval; its local time is UTC."""
    begin, end = (f"{at:%Y%m%d%H%M%S}" for at in (interval.end - timedelta(seconds=interval.seconds), interval.end))
    length = {"unit": "seconds", "value": interval.seconds}
    answer = {
        "metric": {
            "id": report,
            "description": f"{title} (generated)",
            "format": "report",
            "numcols": len(content["columnHeaders"]["col"]),
        },
        "resource": {"reslabel": f",{system},MVS_IMAGE", "restype": "MVS_IMAGE"},
        "timeData": {
            "localStart": begin,
            "localEnd": end,
            "utcStart": begin,
            "utcEnd": end,
            "numSamples": interval.seconds,
            "gathererInterval": length,
            "dataRange": length,
        },
        **content,
    }
    return json.dumps({"report": [answer]}, separators=(",", ":"))


def _tenths(one: Placed[LogRun], pct: float) -> list[str]:
    return [f"{t / 10:.1f}" for t in apportion(round(pct * 10 * len(one.intervals)), one.weights)]

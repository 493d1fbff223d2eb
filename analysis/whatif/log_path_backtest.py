"""Predicts each step of the chain of the zHyperLink report from the run before it, without the run that it predicts."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import NamedTuple

from counterflow.analysis.whatif.log_path import COARSEST_S, LogRow, PrintedRun, printed_runs, windows
from counterflow.simulate.db2_log import GCPS, JOBS, ZIIPS
from counterflow.simulate.zos import BATCH_ACCOUNTS

STEPS = (
    ("zHyperLink", "z16-zhpf-ds8950", "z16-zhl-ds8950"),
    ("faster box", "z16-zhl-ds8950", "z16-zhl-ds8a50"),
    ("newer processor", "z16-zhl-ds8a50", "z17-zhl-ds8a50"),
    ("zHyperLink", "z17-zhpf-ds8a50", "z17-zhl-ds8a50"),
)
"""The chain of section 6.0 and the step of 5.1: change, run before, run after.

Nothing but the last run bounds the whole chain, so it is not tested.
"""

_PRINTED = {
    "elapsed_h": "elapsed_h",
    "ceiling_mb_s": "log_mb_s",
    "gcp_ms": "gcp_ms",
    "ziip_ms": "ziip_ms",
    "gcp_pct": "gcp_pct",
    "ziip_pct": "ziip_pct",
}
"""Predicted figures with the column of the printed run."""


class StepFigure(NamedTuple):
    """A printed figure of the run after a step, and its prediction."""

    change: str
    before: str
    after: str
    name: str
    unit: str
    published: float
    low: float
    likely: float
    high: float

    @property
    def error_pct(self) -> float:
        return 100 * (self.likely / self.published - 1)

    @property
    def is_within(self) -> bool:
        """Whether the printed figure lies between the limits, give or take 1 %: a half of its last digits."""
        return 0.99 * self.low <= self.published <= 1.01 * self.high


@cache
def steps() -> tuple[StepFigure, ...]:
    by_name = {run.name: run for run in printed_runs()}
    found = []
    for change, before, after in STEPS:
        others = [run for run in printed_runs() if run.name != after]
        [window] = windows(_intervals(by_name[before]), others)
        for figure in window.figures:
            published = getattr(by_name[after], _PRINTED.get(figure.name, ""), None)
            if figure.change != change or published is None or figure.likely is None:
                continue
            limits = (figure.low or 0.0, figure.likely, figure.high or 0.0)
            found.append(StepFigure(change, before, after, figure.name, figure.unit, published, *limits))
    return tuple(found)


def _intervals(run: PrintedRun) -> list[LogRow]:
    """Return the run as equal intervals in which all jobs wait for the log, at the rate that is its ceiling."""
    accounts_s = BATCH_ACCOUNTS / run.elapsed_h / 3600
    # the first run's utilisation is not printed; the time of an account implies it
    gcp_pct = run.gcp_pct or 100 * run.gcp_ms / 1000 * accounts_s / GCPS
    ziip_pct = run.ziip_pct or 100 * run.ziip_ms / 1000 * accounts_s / ZIIPS
    count = math.ceil(3600 * run.elapsed_h / COARSEST_S)
    seconds = 3600 * run.elapsed_h / count
    begin = datetime(2025, 1, 1, tzinfo=UTC)
    return [
        LogRow(
            ts=begin + timedelta(seconds=seconds * (number + 1)),
            interval_s=seconds,
            system=run.cec,
            subsystem=run.name,
            path=run.path,
            rate_mb_s=run.log_mb_s,
            ceiling_mb_s=run.log_mb_s,
            waiting_threads=JOBS,
            active_threads=JOBS,
            gcp_pct=gcp_pct,
            ziip_pct=ziip_pct,
            accounts=BATCH_ACCOUNTS / count,
            gcp_ms_per_account=run.gcp_ms,
            ziip_ms_per_account=run.ziip_ms,
        )
        for number in range(count)
    ]


def errors_pct(path: str | None, change: str, name: str) -> list[float]:
    """Return the errors of a figure in all steps of a change from a path; none where no run tests it."""
    of_path = {run.name for run in printed_runs() if run.path == path}
    return [s.error_pct for s in steps() if (s.change, s.name) == (change, name) and s.before in of_path]

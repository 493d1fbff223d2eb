"""Jobs in the system, with those that only their spooled files keep there."""

from __future__ import annotations

from counterflow.analysis.checks import CAPABILITIES
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Positive, check

FULL_PCT = 80.0


@check(
    bound="at most",
    unit="%",
    source=f"{CAPABILITIES} 8.11 prints no number; the limit is our own",
    advice="Remove spooled files that nobody needs: an ended job stays for as long as it has any. DSPJOBTBL shows the "
    "job tables, CHGIPLA compresses them at the next IPL, which takes longer for it.",
)
def job_tables(
    jobs_in_system: NonNegative, jobs_allowed: Positive, active_jobs: NonNegative | None = None
) -> CheckFigure:
    """Job tables are at most 80 % full: jobs queued, active and ended with spooled files, of those that are allowed."""
    note = f"{jobs_in_system:,.0f} of {jobs_allowed:,.0f} jobs"
    if active_jobs is not None:
        note += f"; {max(0.0, jobs_in_system - active_jobs):,.0f} of them queued or ended with spooled files"
    return CheckFigure(100 * jobs_in_system / jobs_allowed, FULL_PCT, note)

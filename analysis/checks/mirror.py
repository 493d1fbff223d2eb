"""Db2 Mirror: jobs, links, journals and hardware of the nodes."""

from __future__ import annotations

from functools import partial
from typing import Literal

from counterflow.analysis.checks import MIRROR
from counterflow.analysis.checks.definition import CheckFigure, NonNegative, Text, check

check_of_node = partial(check, only={"mirrored": True})
"""A check of a node of Db2 Mirror."""
_PRESTART = (
    "CHGPJE SBSD(QUSRWRK) PGM(QDBMSRVR) STRJOBS(*YES) INLJOBS(50) THRESHOLD(20) ADLJOBS(40) "
    "MAXJOBS(*NOMAX) MAXUSE(*NOMAX)"
)
MANY_CHANGES_PCT = 50
"""Share of row operations from which changes are many; the document prints none."""


@check_of_node(bound="at least", unit="jobs", source=f"{MIRROR} 4.2", advice=_PRESTART)
def qdbmsrvr_inljobs(qdbmsrvr_inljobs: NonNegative) -> CheckFigure:
    """QDBMSRVR prestart jobs begin with INLJOBS(50)."""
    return CheckFigure(qdbmsrvr_inljobs, 50.0)


@check_of_node(bound="at least", unit="jobs", source=f"{MIRROR} 4.2", advice=_PRESTART)
def qdbmsrvr_threshold(qdbmsrvr_threshold: NonNegative) -> CheckFigure:
    """QDBMSRVR prestart jobs are replenished at THRESHOLD(20)."""
    return CheckFigure(qdbmsrvr_threshold, 20.0)


@check_of_node(bound="at least", unit="jobs", source=f"{MIRROR} 4.2", advice=_PRESTART)
def qdbmsrvr_adljobs(qdbmsrvr_adljobs: NonNegative) -> CheckFigure:
    """QDBMSRVR prestart jobs are replenished by ADLJOBS(40)."""
    return CheckFigure(qdbmsrvr_adljobs, 40.0)


@check_of_node(source=f"{MIRROR} 4.2", advice=_PRESTART)
def qdbmsrvr_maxuse(qdbmsrvr_maxuse: Text) -> CheckFigure:
    """QDBMSRVR prestart jobs are used without limit: MAXUSE(*NOMAX)."""
    return CheckFigure(qdbmsrvr_maxuse, "*NOMAX")


@check(
    only={"mirrored": True, "runs_applications": True},
    source=f"{MIRROR} 7.3.6",
    advice="Let QDBMSRVR share the pool of the application and give that pool the memory: 4.3 ms against 5.6 ms "
    "(584 GB), 5.2 against 7.2 ms (487 GB) in case study 3. On a node that only receives, a pool apart isolates it "
    "(4.2).",
)
def qdbmsrvr_pool(qdbmsrvr_pools: Text, application_pool: Text) -> CheckFigure:
    """Where both nodes run the application, the replication jobs share its memory pool."""
    return CheckFigure(qdbmsrvr_pools, application_pool)


@check(
    bound="at most",
    unit="opens/s",
    source=f"{MIRROR} 6.2 prints no number; the limit is the site's own",
    advice="Keep files open between calls; a file opened for update that is only read costs most when mirrored (6.3).",
)
def full_opens(full_opens_per_s: NonNegative, full_opens_goal_per_s: NonNegative) -> CheckFigure:
    """Full opens of database files stay within the site's goal."""
    return CheckFigure(full_opens_per_s, full_opens_goal_per_s, "busiest interval")


@check_of_node(
    bound="at most",
    unit="links",
    source=f"{MIRROR} 5.4.2",
    advice="Give the group MIRROR_RESYNC a link that MIRROR_DATABASE does not use.",
)
def resync_link(resync_links_shared: NonNegative) -> CheckFigure:
    """Resynchronization has a link separate from those of normal database traffic."""
    return CheckFigure(resync_links_shared, 0.0, "links of MIRROR_RESYNC that MIRROR_DATABASE also uses")


@check_of_node(
    source=f"{MIRROR} 4.3",
    advice="Omit the open and close entries (OMTJRNE(*OPNCLO)): both nodes journal every transaction.",
)
def journal_open_close(
    journals_open_close: bool,
    files_with_open_close: NonNegative | None = None,
    journaled_files: NonNegative | None = None,
) -> CheckFigure:
    """Journals of mirrored files contain no open and close entries."""
    return CheckFigure(not journals_open_close, True, _of_journaled(files_with_open_close, journaled_files))


@check_of_node(
    source=f"{MIRROR} 4.3",
    advice="Omit the before images (IMAGES(*AFTER)): both nodes journal every transaction.",
)
def journal_before_images(
    journals_before_images: bool,
    files_with_before_images: NonNegative | None = None,
    journaled_files: NonNegative | None = None,
) -> CheckFigure:
    """Journals of mirrored files contain no before images."""
    return CheckFigure(not journals_before_images, True, _of_journaled(files_with_before_images, journaled_files))


@check_of_node(
    source=f"{MIRROR} 7.6.4",
    advice="CHGJRN JRNCACHE(*YES), where losing the newest entries in a failure is acceptable: with it and other good "
    "practice a night that took 62 % longer took 25 % longer. See `counterflow whatif mirror`.",
)
def journal_cache(journal_cache: bool, modify_pct: NonNegative) -> CheckFigure:
    """Journal cache is on where half of the row operations or more are changes."""
    note = f"journal cache is {'on' if journal_cache else 'off'}, {modify_pct:.0f} % are changes; half is our own line"
    return CheckFigure(journal_cache or modify_pct < MANY_CHANGES_PCT, True, note)


@check_of_node(
    bound="at most",
    unit="km",
    source=f"{MIRROR} 3.4",
    advice="10 km is the longest line; each km adds 10 µs a round trip: see `counterflow whatif mirror --km`.",
)
def mirror_distance(mirror_distance_km: NonNegative) -> CheckFigure:
    """The line between the nodes is no longer than 10 km."""
    return CheckFigure(mirror_distance_km, 10.0)


@check_of_node(
    source=f"{MIRROR} 3.2",
    advice="Give the partition dedicated processors.",
)
def mirror_processors(dedicated_processors: bool) -> CheckFigure:
    """The processors of a mirrored partition are dedicated."""
    return CheckFigure(dedicated_processors, True)


@check_of_node(
    source=f"{MIRROR} 3.3, 7.1",
    advice="Put mirrored data on flash: response went from 4 to 11 ms there, from 12 to 452 ms on hard disks.",
)
def mirror_storage(storage: Literal["nvme", "ssd", "hdd"]) -> CheckFigure:
    """Mirrored data is on flash storage: the source waits for the target's writes."""
    return CheckFigure(storage != "hdd", True, f"on {storage}")


def _of_journaled(files: float | None, journaled: float | None) -> str:
    if files is None or journaled is None:
        return ""
    return f"{files:,.0f} of {journaled:,.0f} journaled files, mirrored or not"

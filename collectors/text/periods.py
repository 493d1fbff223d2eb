"""What the distance between two samples is: an interval, or a gap in which samples are missing.

An interval that is many times the usual one is a gap and no long measurement. A row that counts what happened since the
row before counts one interval. Divided by the time since a row before a missing one, its counts would give too low a
rate, so the length of its interval is then not known.
"""

from __future__ import annotations

from collections.abc import Sequence

MISSING = 1.5
"""Rows that are further apart than this many usual intervals have one missing between them."""
_GAP = 5.0
_GAP_S = 30.0
"""What is longer than this many usual intervals, and this much longer than one, is a gap."""
LONGEST_S = 7 * 86_400.0
"""No interval is longer where its source states none."""
_USUAL_OF = 2


def is_gap(apart_s: float, usual_s: float) -> bool:
    """Return whether samples are missing between two that are `apart_s` apart."""
    return 0 < _GAP * usual_s < apart_s and apart_s > usual_s + _GAP_S


def gap(apart_s: float, usual_s: float) -> str:
    """Return the words for a gap: its length, and how many intervals of the usual length it has."""
    return f"{apart_s:.0f} s, {int(apart_s / usual_s):,} intervals"


def missing_between(apart_s: float, before_s: Sequence[float]) -> str | None:
    """Return why a row counts as missing, None where none does; `before_s` are the distances before, newest last.

    The usual interval is the shorter of the last two, so that a changed interval is usual after two rows.
    """
    if apart_s > LONGEST_S:
        return f"{apart_s:.0f} s since the one before: longer than any interval, none is known"
    if not before_s or apart_s <= MISSING * min(before_s):
        return None
    return f"{apart_s:g} s since the one before, usually {min(before_s):g} s: one is missing, no interval is known"


def remembered(apart_s: float, before_s: Sequence[float]) -> list[float]:
    return [*before_s, apart_s][-_USUAL_OF:]

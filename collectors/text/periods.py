"""Whether a row is missing between two rows that each count what happened since the row before.

Such a row counts one interval. The length of its interval is then not known: the time since the row before the
missing one is too long for its counts, and the rate would be too low.
"""

from __future__ import annotations

from collections.abc import Sequence

MISSING = 1.5
"""Rows that are further apart than this many usual intervals have one missing between them."""
LONGEST_S = 7 * 86_400.0
"""No interval is longer where its source states none."""
_USUAL_OF = 2


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

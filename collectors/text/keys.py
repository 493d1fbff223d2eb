"""Which rows of an input were read already: of two rows with one key and time a table keeps one."""

from __future__ import annotations

Times = dict[str, list[str]]
"""JSON values: the newest times of the rows of each key, the key used last at the end."""

_MOST_KEYS = 10_000


def is_new(times: Times, key: str, ts: str, most: int = 8) -> bool:
    """Return whether no row of a key and time was read; it counts as read then.

    The `most` newest times of a key are remembered, and the keys that were used last.
    """
    known = times.pop(key, [])
    times[key] = known if ts in known else [*known, ts][-most:]
    if len(times) > _MOST_KEYS:
        del times[next(iter(times))]
    return ts not in known

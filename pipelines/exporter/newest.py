"""The newest value of each entity, for a bounded number of entities, until it is stale. No I/O."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, TypeVar

V = TypeVar("V")
Entity = tuple[str, ...]


class Kept(NamedTuple, Generic[V]):
    """A value with the end of its interval, seconds since 1970, and the number of its input rows."""

    ts_s: float
    n: int
    value: V


class Newest(Generic[V]):
    """The newest value of each entity.

    A value older than `stale_s` is no state: a vanished entity is forgotten, and last year's recording read today never
    enters. Age counts from the end of the interval, so a restart keeps the same values.

    Parameters
    ----------
    stale_s : seconds for which a value counts after the end of its interval.
    most : maximum number of entities; further ones are refused and counted in `refused`.
    clock : seconds since 1970.
    """

    def __init__(self, stale_s: float, most: int, clock: Callable[[], float] = time.time) -> None:
        """Start empty."""
        self.refused = 0
        self._stale_s = stale_s
        self._most = most
        self._clock = clock
        self._kept: dict[Entity, Kept[V]] = {}

    def keep(self, entity: Entity, ts_s: float, n: int, value: V) -> None:
        """Keep a value, unless a newer one or one of the same interval with more rows is kept."""
        if ts_s <= self._clock() - self._stale_s:
            return
        kept = self._kept.get(entity)
        if kept is None and len(self._kept) >= self._most:
            self._forget()
            if len(self._kept) >= self._most:
                self.refused += 1
                return
        if kept is None or (ts_s, n) >= (kept.ts_s, kept.n):
            self._kept[entity] = Kept(ts_s, n, value)

    def items(self) -> Iterator[tuple[Entity, Kept[V]]]:
        """Yield the values that are not stale, by entity."""
        self._forget()
        yield from sorted(self._kept.items(), key=lambda item: item[0])

    def _forget(self) -> None:
        oldest = self._clock() - self._stale_s
        self._kept = {entity: kept for entity, kept in self._kept.items() if kept.ts_s > oldest}

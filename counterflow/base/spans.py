"""Queries over a long time, span by span, each as long as the server's limits allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from counterflow.base.clickhouse import ClickHouseError

_TOO_MUCH = frozenset({159, 241, 396})
"""Exception codes: the query exceeded its limit of time, of memory, or of rows in its answer."""
_LONGEST = timedelta(days=1)
_SHORTEST = timedelta(minutes=1)

Answer = TypeVar("Answer")


def by_span(begin: datetime, end: datetime, query: Callable[[datetime, datetime], Answer]) -> Iterator[Answer]:
    """Yield what `query` returns for each span from `begin` up to `end`, the end of a span excluded.

    A span is a day long; one that exceeds the server's limits is queried again in halves.

    Raises
    ------
    ClickHouseError : a minute exceeds the limits, or the server refuses for another reason.
    """
    span = _LONGEST
    while begin < end:
        last = min(end, begin + span)
        try:
            answer = query(begin, last)
        except ClickHouseError as error:
            if error.code not in _TOO_MUCH or span <= _SHORTEST:
                raise
            span /= 2
        else:
            yield answer
            begin = last


def literal(moment: datetime) -> str:
    """Return a moment as the value of a parameter of type `DateTime64(3, 'UTC')`."""
    return f"{moment.astimezone(UTC):%F %T}.{moment.microsecond // 1000:03}"

"""A query sent at every interval: its rows are the state of the system at that moment."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from counterflow.collectors.sources.polling.batch import ABSENT_S, Batch, Cursor, Stream
from counterflow.collectors.sources.polling.session import ErrorKind, SessionError
from counterflow.collectors.sources.sql.packs import PackQuery
from counterflow.collectors.sources.sql.session import Answer, SqlSession


class RepeatedQuery:
    def __init__(
        self,
        query: PackQuery,
        interval_s: float,
        system: str,
        committed: Cursor | None,
        when: Callable[[], bool] | None = None,
    ) -> None:
        """Go on behind the committed position; no query is sent while `when` returns false."""
        self._when = when
        self._query = query
        self._interval_s = interval_s
        self._timeout_s = query.timeout_s
        self._next_s = interval_s
        self._stream = Stream(query.table, query.table, f"{system}:{query.table}", committed)
        self._statement = 0
        self._baseline_of = 0

    @property
    def interval_s(self) -> float:
        """The interval, or the long one while the release lacks an optional table.

        It doubles with each time-out in a row, up to the long one, so that a query that is too much for the system is
        not sent again and again.
        """
        if self._stream.is_absent and not self._query.required:
            return ABSENT_S
        return self._next_s

    def read(self, session: SqlSession) -> Iterator[Batch]:
        """Send the query; where figures are relative to a baseline, the first answer of a connection only sets it."""
        if self._when is not None and not self._when():
            return
        began = time.monotonic()
        try:
            with session.limited(self._timeout_s):
                columns, found = self._answer(session)
                rows = [tuple(row) for row in found]
            self._next_s = self._interval_s
        except SessionError as error:
            if error.kind is ErrorKind.SLOW:
                self._next_s = min(2 * self._next_s, max(self._interval_s, ABSENT_S))
            yield from self._stream.troubled(error)
            return
        if self._query.baseline and session.number != self._baseline_of:
            self._baseline_of = session.number
            return
        yield self._stream.reached(began, columns, rows)

    def _answer(self, session: SqlSession) -> Answer:
        """Return the answer to the first statement that this release knows."""
        while True:
            try:
                return session.query(self._query.sql[self._statement])
            except SessionError as error:
                if error.kind is not ErrorKind.ABSENT:
                    raise
                self._statement += 1
                if self._statement == len(self._query.sql):
                    self._statement = 0
                    raise

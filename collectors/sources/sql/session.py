"""One connection to one system, held as long as it lives, with every error told apart and free of secrets."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from counterflow.collectors.sources.sql.drivers import REFUSED_STATE, Connection, Driver, Target
from counterflow.errors import CounterflowError

FETCH_ROWS = 1000
_ALIVE = "SELECT 1 FROM SYSIBM.SYSDUMMY1"
# SQLSTATE messages and codes: undefined object, undefined column, no such function (42883 as others say it), no such
# parameter, no authority to the object or the operation.
_ABSENT_STATES = ("42704", "42703", "42884", "42883", "4274K", "42501", "42502")
_LONGEST_TEXT = 500


class Kind(StrEnum):
    """What an error means for what is asked next."""

    LOST = "lost"  # connect again
    REFUSED = "refused"  # another user or password is needed
    ABSENT = "absent"  # this release, or this user, does not have it
    FAILED = "failed"  # this statement failed; others may not


class SqlError(Exception):
    """The system, or the way to it, said no; the text does not hold the password."""

    def __init__(self, kind: Kind, text: str) -> None:
        """Keep what it means and what was said."""
        super().__init__(text)
        self.kind = kind


class Answer(NamedTuple):
    """Names of the columns, and the rows as they are fetched."""

    columns: tuple[str, ...]
    rows: Iterator[Sequence[Any]]


class Session:
    """The connection. `number` counts those made: what is elapsed on the system is relative to one of them."""

    def __init__(self, driver: Driver, target: Target, password: Callable[[], str]) -> None:
        """Keep the parts; nothing is connected yet. `password` is asked at each connect, so it may be changed."""
        self.number = 0
        self._driver = driver
        self._target = target
        self._password = password
        self._secret = ""
        self._connection: Connection | None = None
        self._refused: str | None = None

    def open(self) -> None:
        """Connect, unless connected. A password that was refused is not tried again: it would disable the profile.

        Raises
        ------
        SqlError : LOST or REFUSED.
        """
        self._opened()

    def close(self) -> None:
        """Let go of the connection, whatever state it is in."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):  # it is gone either way
                connection.close()

    def run(self, sql: str) -> None:
        """Run a statement that has no rows.

        Raises
        ------
        SqlError : of every kind.
        """
        for _ in self.ask(sql).rows:
            pass

    def ask(self, sql: str, parameters: Sequence[Any] = ()) -> Answer:
        """Run a query; its rows are fetched as they are taken, and another may be asked meanwhile.

        Raises
        ------
        SqlError : of every kind, here and while rows are taken.
        """
        connection = self._opened()
        try:
            cursor = connection.cursor()
            cursor.execute(sql, *([list(parameters)] if parameters else []))
            columns = tuple(str(column[0]).strip().upper() for column in cursor.description or ())
        except Exception as error:
            raise self._error(error) from None
        return Answer(columns, self._fetched(cursor) if columns else iter(()))

    def text(self, error: BaseException) -> str:
        """Return what an error says, without the password."""
        text = " ".join(str(error).split()) or type(error).__name__
        for secret in (self._secret, repr(self._secret)[1:-1]):
            text = text.replace(secret, "***") if secret else text
        return text[:_LONGEST_TEXT]

    def _opened(self) -> Connection:
        if self._connection is not None:
            return self._connection
        try:
            self._secret = self._password()
            if self._secret == self._refused:
                raise SqlError(Kind.REFUSED, "waiting for another password; the last one was refused")
            connection = self._driver.connect(self._target, self._secret)
        except CounterflowError as error:
            raise SqlError(Kind.LOST, error.message) from None
        except SqlError:
            raise
        except Exception as error:
            if self._driver.sqlstate(error) == REFUSED_STATE:
                self._refused = self._secret
                raise SqlError(Kind.REFUSED, self.text(error)) from None
            raise SqlError(Kind.LOST, self.text(error)) from None
        self._refused = None
        self._connection = connection
        self.number += 1
        return connection

    def _fetched(self, cursor: Any) -> Iterator[Sequence[Any]]:
        while True:
            try:
                rows = cursor.fetchmany(FETCH_ROWS)
                if not rows:
                    cursor.close()
                    return
            except Exception as error:
                raise self._error(error) from None
            yield from rows

    def _error(self, error: Exception) -> SqlError:
        """Tell a statement that failed from a connection that is gone: only the first leaves it usable."""
        state, text = self._driver.sqlstate(error), self.text(error)
        if not self._alive():
            self.close()
            return SqlError(Kind.LOST, text)
        return SqlError(Kind.ABSENT if state in _ABSENT_STATES else Kind.FAILED, f"{text} ({state or 'no SQLSTATE'})")

    def _alive(self) -> bool:
        if self._connection is None:
            return False
        try:
            cursor = self._connection.cursor()
            cursor.execute(_ALIVE)
            alive = bool(list(cursor.fetchmany(1)))
            cursor.close()
        except Exception:
            return False
        return alive

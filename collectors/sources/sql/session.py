"""One connection to one system, held as long as it lives, with every error classified and free of secrets."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from threading import Lock, Timer
from types import ModuleType
from typing import Any, NamedTuple

from counterflow.base.errors import CounterflowError
from counterflow.collectors.sources.polling.session import ErrorKind, Password, SessionError
from counterflow.collectors.sources.sql.drivers import REFUSED_STATE, SqlTarget

FETCH_ROWS = 1000
_ALIVE = "SELECT 1 FROM SYSIBM.SYSDUMMY1"
# SQLSTATE messages and codes: undefined object, undefined column, no such function (42883 elsewhere), no such
# parameter, no authority to the object or the operation.
_ABSENT_STATES = ("42704", "42703", "42884", "42883", "4274K", "42501", "42502")


class Answer(NamedTuple):
    """Names of the columns, and the rows as they are fetched."""

    columns: tuple[str, ...]
    rows: Iterator[Sequence[Any]]


class SqlSession:
    """The connection; what fails on it is raised as `SessionError`.

    `number` counts the connections made: elapsed figures of the system are relative to one.
    """

    def __init__(self, driver: ModuleType, target: SqlTarget, password: Callable[[], str]) -> None:
        """`password` is called at each connect, so it may be changed."""
        self.number = 0
        self._driver = driver
        self._target = target
        self._password = Password(password)
        self._connection: Any = None
        self._cursor: Any = None
        self._limit: _Limit | None = None

    def open(self) -> None:
        """Connect, unless connected. A password that was refused is not tried again: it would disable the profile."""
        self._opened()

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):  # it is gone either way
                connection.close()

    def run(self, sql: str) -> None:
        """Run a statement that has no rows."""
        for _ in self.query(sql).rows:
            pass

    @contextlib.contextmanager
    def limited(self, timeout_s: float | None) -> Iterator[None]:
        """Cancel what the connection runs once the time is over: it then fails as SLOW. None is no limit."""
        if timeout_s is None:
            yield
            return
        self._opened()
        self._limit = _Limit(timeout_s, self._cancel)
        try:
            yield
        finally:
            self._limit.end()
            self._limit = None

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> Answer:
        """Run a query. Its rows are fetched as they are taken, which may fail; another query may run meanwhile."""
        connection = self._opened()
        try:
            self._cursor = cursor = connection.cursor()
            cursor.execute(sql, *([list(parameters)] if parameters else []))
            columns = tuple(str(column[0]).strip().upper() for column in cursor.description or ())
        except Exception as error:
            raise self._error(error) from None
        return Answer(columns, self._fetched(cursor) if columns else iter(()))

    def text(self, error: BaseException) -> str:
        return self._password.text(error)

    def _opened(self) -> Any:
        if self._connection is not None:
            return self._connection
        secret = self._password.offer()
        try:
            connection = self._driver.connect(self._target, secret)
        except CounterflowError as error:
            raise SessionError(ErrorKind.LOST, error.message) from None
        except Exception as error:
            if self._driver.sqlstate(error) == REFUSED_STATE:
                self._password.refused()
                raise SessionError(ErrorKind.REFUSED, self.text(error)) from None
            raise SessionError(ErrorKind.LOST, self.text(error)) from None
        self._password.accepted()
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

    def _error(self, error: Exception) -> SessionError:
        """Return the error of a failed statement, or LOST where the connection is gone."""
        state, text = self._driver.sqlstate(error), self.text(error)
        is_alive = self._alive()
        if not is_alive:
            self.close()
        if self._limit and self._limit.is_over:
            return SessionError(ErrorKind.SLOW, f"cancelled, since it took longer than {self._limit.timeout_s:g} s")
        if not is_alive:
            return SessionError(ErrorKind.LOST, text)
        return SessionError(
            ErrorKind.ABSENT if state in _ABSENT_STATES else ErrorKind.FAILED, f"{text} ({state or 'no SQLSTATE'})"
        )

    def _cancel(self) -> None:
        with contextlib.suppress(Exception):  # it ended by itself meanwhile
            self._driver.cancel(self._connection, self._cursor)

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


class _Limit:
    """Calls `cancel` once, in a thread of its own, unless `end` was called before; never after it."""

    def __init__(self, timeout_s: float, cancel: Callable[[], None]) -> None:
        self.timeout_s, self.is_over = timeout_s, False
        self._cancel, self._has_ended, self._lock = cancel, False, Lock()
        self._timer = Timer(timeout_s, self._pass)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._has_ended = True

    def _pass(self) -> None:
        with self._lock:
            if not self._has_ended:
                self.is_over = True
                self._cancel()

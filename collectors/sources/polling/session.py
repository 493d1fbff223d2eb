"""A reader's interface to a connection, its kinds of errors, and passwords that are neither shown nor tried twice."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from counterflow.base.errors import CounterflowError

_LONGEST_TEXT = 500


class ErrorKind(StrEnum):
    """What an error means for the next query."""

    LOST = "lost"  # connect again
    REFUSED = "refused"  # another user or password is needed
    ABSENT = "absent"  # this release, or this user, does not have it
    FAILED = "failed"  # this query failed; others may not
    SLOW = "slow"  # this query took longer than it may, and was cancelled


class SessionError(Exception):
    """The system, or the way to it, failed or refused; the text does not hold the password."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Session(Protocol):
    """A connection to one system. `number` counts the connections made."""

    number: int

    def open(self) -> None:
        """Connect, unless connected.

        Raises
        ------
        SessionError : LOST or REFUSED.
        """
        ...

    def close(self) -> None:
        """Close the connection, whatever state it is in."""
        ...

    def text(self, error: BaseException) -> str:
        """Return the content of an error, without the password."""
        ...


class Password:
    """A password, read at each connect, so it may be changed; one that was refused is not tried again."""

    def __init__(self, read: Callable[[], str]) -> None:
        self._read = read
        self._last = ""
        self._refused: str | None = None

    def offer(self) -> str:
        """Return the password, unless it is the one that was refused: a few wrong tries disable a user.

        Raises
        ------
        SessionError : REFUSED; LOST where it cannot be read.
        """
        try:
            self._last = self._read()
        except CounterflowError as error:
            raise SessionError(ErrorKind.LOST, error.message) from None
        if self._last == self._refused:
            raise SessionError(ErrorKind.REFUSED, "waiting for another password; the last one was refused")
        return self._last

    def refused(self) -> None:
        self._refused = self._last

    def accepted(self) -> None:
        self._refused = None

    def text(self, error: BaseException) -> str:
        text = " ".join(str(error).split()) or type(error).__name__
        for secret in (self._last, repr(self._last)[1:-1]):
            text = text.replace(secret, "***") if secret else text
        return text[:_LONGEST_TEXT]

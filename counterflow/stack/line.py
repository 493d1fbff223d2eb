"""The connection to the running line, as a user that only reads, within limits of time, memory and rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from counterflow.base.clickhouse import ClickHouseError
from counterflow.base.errors import UNREACHED, CounterflowError
from counterflow.connection import Connection
from counterflow.stack.settings import StackSettings

if TYPE_CHECKING:
    from counterflow.analysis.answer import Answer

_LIMITS = (159, 241, 396)
"""Codes of exceptions: the time, the memory or the rows that a user may have are exceeded."""


class Line(Connection):
    """The connection to a line; see `connect`."""

    def __init__(self, settings: StackSettings) -> None:
        super().__init__(lambda: settings.clickhouse("reader"), grows=True)
        self.settings = settings

    @contextmanager
    def refusals(self) -> Iterator[None]:
        with refusals(self.settings):
            yield

    def _broken_parts(self) -> list[Answer]:
        from counterflow.stack.examination import parts

        return list(parts(self.settings))


def connect() -> Line:
    """Connect to the running line: that of `COUNTERFLOW_HOME`, or the servers that the environment names.

    Raises
    ------
    CounterflowError : no line is running.
    """
    return Line(StackSettings.running())


@contextmanager
def refusals(settings: StackSettings, exit_code: int = 2) -> Iterator[None]:
    """Raise what ClickHouse refuses, and its silence, as `CounterflowError`."""
    import httpx

    try:
        yield
    except httpx.TransportError:
        raise CounterflowError(
            f"no answer from {settings.clickhouse_url}", hint=UNREACHED, exit_code=exit_code
        ) from None
    except ClickHouseError as error:
        hint = "choose a shorter period, or fewer systems" if error.code in _LIMITS else "counterflow dev migrate"
        raise CounterflowError(str(error), hint=hint, exit_code=exit_code) from None

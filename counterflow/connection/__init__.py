"""What a connection to figures answers: those of files in this process, or of a running line.

The command line, a notebook and an assistant use the same functions, and so get the same figures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from counterflow.analysis.queries import BEGINNING, END, StoredQuery, queries, restricted, stored_query
from counterflow.base.clickhouse import ClickHouse, ClickHouseError, Settings
from counterflow.base.errors import CounterflowError
from counterflow.base.spans import literal

if TYPE_CHECKING:
    import polars

    from counterflow.analysis.answer import Answer
    from counterflow.analysis.checks.facts import Facts
    from counterflow.analysis.culprit import Ranking
    from counterflow.analysis.findings import Finding
    from counterflow.connection.report import WrittenReport

_ARROW = "ArrowStream"


class Connection:
    """A connection that reads; use it as a context manager, or `close` it.

    Times without a zone are UTC. Each method raises `CounterflowError` where ClickHouse refuses or does not answer.

    Parameters
    ----------
    opened : returns the client; it is called when the first answer needs it.
    grows : whether rows still arrive, as on a running line.
    """

    def __init__(self, opened: Callable[[], ClickHouse], *, grows: bool) -> None:
        self._opened = opened
        self.grows = grows

    @cached_property
    def client(self) -> ClickHouse:
        """The client of ClickHouse, for other statements."""
        return self._opened()

    def close(self) -> None:
        if "client" in self.__dict__:
            self.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Raise what ClickHouse refuses as `CounterflowError`."""
        try:
            yield
        except ClickHouseError as error:
            raise CounterflowError(str(error), exit_code=2) from None

    def sql(self, statement: str) -> polars.DataFrame:
        """Return the rows of a statement as a frame, by way of Arrow."""
        return self._frame(statement, {})

    @property
    def questions(self) -> Mapping[str, StoredQuery]:
        """The stored questions by name, each with its words, its statement and its parameters."""
        return queries()

    def question(
        self,
        name: str,
        *,
        systems: Collection[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> polars.DataFrame:
        """Return the answer to a stored question as a frame.

        Parameters
        ----------
        systems : names of the systems that it is about; none means all.
        since, until : only intervals that end after the one, and by the other.
        """
        return self._frame(*self.stored(name, systems, since, until))

    def stored(
        self, name: str, systems: Collection[str], since: datetime | None, until: datetime | None
    ) -> tuple[str, Settings]:
        """Return the statement of a stored question and its parameters; see `question`."""
        from counterflow.analysis.known import require

        query = stored_query(name)
        with self.refusals():
            require(self.client, systems)
        return query.sql, restricted(systems, *period(since, until))

    @contextmanager
    def stream(self, statement: str, settings: Settings) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Run a statement; yield the format of the answer, by name, and its bytes as they arrive."""
        with self.refusals():
            try:
                with self.client.stream(statement, settings) as found:
                    yield found
            except ClickHouseError as error:
                from counterflow.connection.explained import explained

                raise explained(self.client, statement, error) from None

    def _frame(self, statement: str, settings: Settings) -> polars.DataFrame:
        try:
            import polars
        except ModuleNotFoundError:
            hint = "pip install 'counterflow[notebook]'"
            raise CounterflowError("a frame needs polars, which is not installed", hint=hint, exit_code=2) from None
        with self.stream(statement, {"default_format": _ARROW, **settings}) as (form, pieces):
            if form != _ARROW:
                hint = "leave FORMAT out: the frame has the rows"
                raise CounterflowError(f"the statement has FORMAT {form}", hint=hint, exit_code=2)
            rows = b"".join(pieces)
        return polars.read_ipc_stream(rows) if rows else polars.DataFrame()

    @property
    def findings(self) -> list[Finding]:
        """What limited the systems: grouped by system, the worst findings of each first."""
        from counterflow.analysis.findings import findings

        with self.refusals():
            return findings(self.client)

    def doctor(
        self,
        systems: Collection[str] = (),
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        facts: Facts | None = None,
    ) -> list[Answer]:
        """Return which parts of a line do not work and, if ClickHouse does, whether the input of each verdict, KPI,
        alert and board arrives and, of `systems`, published rules and what is full soon.

        Parameters
        ----------
        since, until : published rules judge by intervals that end after the one and by the other; a trend by all days
            up to the latter.
        facts : what no counter provides.
        """
        from counterflow.analysis.checks.report import published_rules
        from counterflow.analysis.checks.trend import trends
        from counterflow.analysis.doctor import examine
        from counterflow.analysis.known import require

        broken = self._broken_parts()
        if any(one.subject == "clickhouse" for one in broken):
            return broken
        with self.refusals():
            require(self.client, [system for system in systems if facts is None or system not in facts.systems])
            # nothing arrives in a database of files, so nothing is late there
            now = utc(until) or (None if self.grows else datetime(2000, 1, 1, tzinfo=UTC))
            answers = broken + examine(self.client, systems, now)
            begin, end = period(since, until)
            answers += published_rules(self.client, systems, begin, end, facts)
            return answers + list(trends(self.client, systems, end))

    def _broken_parts(self) -> list[Answer]:
        """Return the parts that do not work; files have none."""
        return []

    def what_changed(
        self,
        system: str,
        at: datetime | None = None,
        *,
        until: datetime | None = None,
        rule: str | None = None,
        entity: str | None = None,
        quiet: timedelta = timedelta(hours=1),
    ) -> Ranking:
        """Return what changed most on a system at a time, or when a rule last raised its alarm.

        Parameters
        ----------
        until : end of the time in question; without it, the spell of an alarm at that time, else an hour.
        entity : the link or the log that the rule judged.
        quiet : length of the time before, with which it is compared.
        """
        from counterflow.analysis.culprit import rank
        from counterflow.analysis.known import require

        with self.refusals():
            require(self.client, [system])
            return rank(self.client, system, utc(at), utc(until), rule, entity, quiet)

    def report(
        self,
        folder: str | Path,
        *,
        systems: Collection[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> WrittenReport:
        """Write the measurements of a period, by default all, as one HTML file into a folder."""
        from counterflow.connection.report import of_period

        with self.refusals():
            if not (systems or since or until):
                return self._report_of_all(Path(folder))
            return of_period(self.client, Path(folder), tuple(systems), utc(since), utc(until))

    def _report_of_all(self, folder: Path) -> WrittenReport:
        from counterflow.connection.report import of_period

        return of_period(self.client, folder)


def period(since: datetime | None, until: datetime | None) -> tuple[str, str]:
    """Return two times as parameters of a statement; what is missing is unbounded; the one is before the other."""
    begin, end = utc(since), utc(until)
    if begin and end and begin >= end:
        message = f"no interval ends after {literal(begin)} and by {literal(end)} UTC"
        raise CounterflowError(message, hint="give a period that begins before it ends", exit_code=2)
    return literal(begin) if begin else BEGINNING, literal(end) if end else END


def utc(moment: datetime | None) -> datetime | None:
    """Return a time with its zone: UTC where it has none."""
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment

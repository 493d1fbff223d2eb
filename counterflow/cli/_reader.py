"""Shared by commands that query ClickHouse: the options for systems and period, and the connection."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from counterflow.base.errors import UNREACHED, CounterflowError
from counterflow.cli._times import TIME, stated

if TYPE_CHECKING:
    from counterflow.base.clickhouse import ClickHouse, Settings

F = TypeVar("F", bound=Callable[..., Any])

_ON = "counterflow.on"
_NAMED = 5
"""Maximum number of systems that a hint names."""
FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


def period_options(command: F) -> F:
    """Give a command --system, --from and --to."""
    for option in (
        click.option("--to", "end", type=TIME, help="Up to, but excluding, this interval end."),
        click.option("--from", "begin", type=TIME, help="First interval end; UTC by default."),
        click.option("--system", "systems", multiple=True, help="Only this system; may be repeated."),
    ):
        command = option(command)
    return command


def period(systems: Collection[str], begin: datetime | None, end: datetime | None) -> Settings:
    """Return the parameters `systems`, `from` and `to` of a statement; a missing time is unbounded."""
    return {
        "param_systems": sorted(systems),
        "param_from": stated(begin or FIRST),
        "param_to": stated(end or LAST),
    }


def on_option(command: F) -> F:
    """Give a command --on: `connected` then opens the folder that `look --keep` made."""
    return click.option(
        "--on",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        expose_value=False,
        callback=_remember,
        help="Query the folder that `look --keep` made, not the stack.",
    )(command)


def _remember(ctx: click.Context, param: click.Parameter, folder: Path | None) -> None:
    ctx.meta[_ON] = folder


def kept() -> Path | None:
    """Return the folder of --on; None where the stack is queried."""
    context = click.get_current_context(silent=True)
    return context.meta.get(_ON) if context else None


def command_line(words: str) -> str:
    """Return the command to type next: `counterflow` and the words, with --on where this command has it."""
    folder = kept()
    return f"counterflow {words}" + (f" --on {quote(str(folder))}" if folder else "")


@contextmanager
def connected(user: str, *, exit_code: int, home: Path | None = None) -> Iterator[ClickHouse]:
    """Connect to the running stack's ClickHouse as one of its users; an error ends the command with `exit_code`."""
    folder = kept()
    if folder is not None:
        with _kept(folder, exit_code) as client:
            yield client
        return
    import httpx

    from counterflow.base.clickhouse import ClickHouseError
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.running(home=home)
    try:
        client = settings.clickhouse(user)
    except CounterflowError as error:
        raise CounterflowError(error.message, hint=error.hint, exit_code=exit_code) from None
    try:
        with client:
            yield client
    except httpx.TransportError:
        raise CounterflowError(
            f"no answer from {settings.clickhouse_url}", hint=UNREACHED, exit_code=exit_code
        ) from None
    except ClickHouseError as error:
        raise CounterflowError(str(error), hint="counterflow dev migrate", exit_code=exit_code) from None


@contextmanager
def _kept(folder: Path, exit_code: int) -> Iterator[ClickHouse]:
    from counterflow.base.clickhouse import ClickHouseError
    from counterflow.recordings.database import reading

    try:
        with reading(folder) as client:
            yield client
    except ClickHouseError as error:
        raise CounterflowError(str(error), exit_code=exit_code) from None


def require(client: ClickHouse, systems: Collection[str]) -> None:
    """Raise `CounterflowError` where one of `systems` has no data; its hint suggests the nearest name."""
    known: list[str] = []
    for table in ("system_day", "config", "metric_1h"):  # a table is queried only where those before it lack a system
        if set(systems) <= set(known):
            return
        known += [row["system"] for row in client.rows(f"SELECT DISTINCT system FROM counterflow.{table}")]
    for system in systems:
        if system not in known:
            near = {name.casefold(): name for name in known}
            found = get_close_matches(system.casefold(), near, 1)
            hint = f"did you mean {near[found[0]]}?" if found else f"{command_line('sql systems')} lists them"
            raise CounterflowError(f"no system is called {system}", hint=hint, exit_code=2)


def nothing_recorded(client: ClickHouse, where: str) -> CounterflowError:
    """Return the error that nothing was recorded `where`; its hint states what there is."""
    from counterflow.analysis.queries import queries, run_stored

    there = [
        f"{row['system']} from {row['first_interval_begin']:.19} to {row['last_interval_end']:.19}"
        for row in run_stored(client, queries()["systems"])
    ]
    more = f" and {len(there) - _NAMED} more" if len(there) > _NAMED else ""
    known = f"there is {'; '.join(there[:_NAMED])}{more}" if there else "nothing was published yet"
    return CounterflowError(f"nothing was recorded {where}", hint=known, exit_code=2)


def reader() -> AbstractContextManager[ClickHouse]:
    """Connect as the read-only user."""
    return connected("reader", exit_code=2)

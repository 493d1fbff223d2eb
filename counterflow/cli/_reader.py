"""Shared by commands that query ClickHouse: options for numbers, systems and period, and the connection."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from counterflow.cli._times import TIME

if TYPE_CHECKING:
    from counterflow.base.clickhouse import ClickHouse, Settings
    from counterflow.connection import Connection

F = TypeVar("F", bound=Callable[..., Any])

_ON = "counterflow.on"


class Number(click.FloatRange):
    """A number between limits."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number, or fail: `nan` passes a range check, since every comparison with it is false."""
        number = float(super().convert(value, param, ctx))
        return self.fail(f"{value} is not a number", param, ctx) if math.isnan(number) else number


def period_options(command: F) -> F:
    """Give a command --system, --from and --to."""
    for option in (
        click.option("--to", "end", type=TIME, help="Only intervals that end by this time."),
        click.option("--from", "begin", type=TIME, help="Only intervals that end after this time; UTC by default."),
        click.option("--system", "systems", multiple=True, help="Only this system; may be repeated."),
    ):
        command = option(command)
    return command


def period(systems: Collection[str], begin: datetime | None, end: datetime | None) -> Settings:
    """Return the parameters `systems`, `since` and `until` of a statement; a missing time is unbounded."""
    from counterflow.analysis.queries import restricted
    from counterflow.connection import period as bounds

    return restricted(systems, *bounds(begin, end))


def on_option(command: F) -> F:
    """Give a command --on: `connection` then opens the folder that `look --keep` made."""
    return click.option(
        "--on",
        type=click.Path(path_type=Path),
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


def refuse_both(file: object) -> None:
    """Refuse --input, where it was given, beside --on."""
    if file is not None and kept() is not None:
        raise click.UsageError("give --input or --on, not both")


def command_line(words: str) -> str:
    """Return the command to type next: `counterflow` and the words, with --on where this command has it."""
    folder = kept()
    return f"counterflow {words}" + (f" --on {quote(str(folder))}" if folder else "")


@contextmanager
def lander() -> Iterator[ClickHouse]:
    """Connect to the running stack's ClickHouse as the user who inserts; an error ends the command with status 1."""
    from counterflow.stack.line import refusals
    from counterflow.stack.settings import StackSettings

    settings = StackSettings.running()
    with refusals(settings, exit_code=1), settings.clickhouse("lander") as client:
        yield client


def connection(limits: Settings | None = None) -> Connection:
    """Return the connection that this command queries: the folder of --on, within `limits`, else the running stack."""
    folder = kept()
    if folder is not None:
        from counterflow.recordings.database import reading

        return reading(folder, limits)
    from counterflow.stack.line import connect

    return connect()


@contextmanager
def reader() -> Iterator[ClickHouse]:
    """Connect as the read-only user; an error ends the command with status 2."""
    with connection() as connected, connected.refusals():
        yield connected.client
